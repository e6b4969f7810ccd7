import { sha256 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt, textsAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { timedCondition } from './rule.ts'
import type { WorkloadPhase, WorkloadRule } from './rule.ts'

/** Kinds that stand for themselves: pods, jobs, addresses and claims. */

/** An address that follows from the object's name, in a range for examples. */
function addressOf({ kind, metadata }: UnknownObject, prefix: string): string {
  const [last = 0] = sha256(`${kind}/${metadata.namespace}/${metadata.name}`)
  return `${prefix}${1 + (last % 254)}`
}

function containerStatuses(pod: UnknownObject, { phase, broken, now }: WorkloadPhase, ends: boolean): object[] {
  return itemsAt(pod, 'spec.containers').map((container) => {
    const image = textAt(container, 'image')
    const before = itemsAt(pod, 'status.containerStatuses').find((it) => it['name'] === container['name'])
    const startedAt = textAt(before, 'state.running.startedAt') || textAt(before, 'state.terminated.startedAt', now)
    const isUp = phase === 'Done' && image !== broken
    const reason = image === broken ? 'ImagePullBackOff' : 'ContainerCreating'
    const finishedAt = textAt(before, 'state.terminated.finishedAt', now)
    return {
      name: container['name'],
      image,
      imageID: '',
      ready: isUp && !ends,
      started: isUp && !ends,
      restartCount: 0,
      state: !isUp
        ? { waiting: compact({ reason, message: image === broken ? `Back-off pulling image "${image}"` : undefined }) }
        : ends
          ? { terminated: { exitCode: 0, reason: 'Completed', startedAt, finishedAt } }
          : { running: { startedAt } },
      lastState: {},
    }
  })
}

const POD_CONDITIONS: ReadonlySet<string> = new Set(['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'])

const pod: WorkloadRule = {
  kind: builtinKind('v1', 'Pod'),
  podSpec: 'spec',
  statusOf(object, moment) {
    const { phase, now } = moment
    const isDone = phase === 'Done'
    // A pod that is not restarted completes.
    const ends = isDone && textAt(object, 'spec.restartPolicy') !== 'Always'
    const ip = addressOf(object, '10.244.0.')
    const condition = (type: string, isTrue: boolean, reason = 'Unknown') => ({
      lastProbeTime: null,
      ...timedCondition(object, isTrue ? { type, status: 'True' } : { type, status: 'False', reason }, now),
    })
    return {
      phase: ends ? 'Succeeded' : isDone ? 'Running' : 'Pending',
      qosClass: textAt(object, 'status.qosClass', 'BestEffort'),
      startTime: textAt(object, 'status.startTime', now),
      ...(isDone ? { podIP: ip, podIPs: [{ ip }] } : {}),
      conditions: [
        // Other controllers may set conditions here; a kubelet keeps them.
        ...itemsAt(object, 'status.conditions').filter((it) => !POD_CONDITIONS.has(textAt(it, 'type'))),
        condition('PodScheduled', true),
        condition('Initialized', true),
        condition('ContainersReady', isDone && !ends, ends ? 'PodCompleted' : 'ContainersNotReady'),
        condition('Ready', isDone && !ends, ends ? 'PodCompleted' : 'ContainersNotReady'),
      ],
      containerStatuses: containerStatuses(object, moment, ends),
    }
  },
}

const job: WorkloadRule = {
  kind: builtinKind('batch/v1', 'Job'),
  podSpec: 'spec.template.spec',
  statusOf(object, { phase, now }) {
    const started = textAt(object, 'status.startTime', now)
    const condition = (type: string, reason: string, message: string) =>
      timedCondition(object, { type, status: 'True', reason, message }, now, ['lastProbeTime'])
    if (readPath(object, 'spec.suspend') === true) {
      return { conditions: [condition('Suspended', 'JobSuspended', 'Job suspended')] }
    }
    const completions = numberAt(object, 'spec.completions') || 1
    const base = { startTime: started, ready: 0, terminating: 0, uncountedTerminatedPods: {} }
    if (phase === 'Progressing') {
      return { ...base, active: Math.min(numberAt(object, 'spec.parallelism') || 1, completions) }
    }
    if (phase === 'Done') {
      const message = 'Reached expected number of succeeded pods'
      return {
        ...base,
        succeeded: completions,
        completionTime: textAt(object, 'status.completionTime', now),
        conditions: [
          condition('SuccessCriteriaMet', 'CompletionsReached', message),
          condition('Complete', 'CompletionsReached', message),
        ],
      }
    }
    const message = 'Job has reached the specified backoff limit'
    return {
      ...base,
      failed: numberAt(object, 'spec.backoffLimit') + 1,
      conditions: [
        condition('FailureTarget', 'BackoffLimitExceeded', message),
        condition('Failed', 'BackoffLimitExceeded', message),
      ],
    }
  },
}

const service: WorkloadRule = {
  kind: builtinKind('v1', 'Service'),
  lives: (object) => textAt(object, 'spec.type') === 'LoadBalancer',
  statusOf: (object, { phase }) => ({
    loadBalancer: phase === 'Done' ? { ingress: [{ ip: addressOf(object, '192.0.2.'), ipMode: 'VIP' }] } : {},
  }),
}

const ingress: WorkloadRule = {
  kind: builtinKind('networking.k8s.io/v1', 'Ingress'),
  statusOf: (object, { phase }) => ({
    loadBalancer: phase === 'Done' ? { ingress: [{ ip: addressOf(object, '192.0.2.') }] } : {},
  }),
}

const claim: WorkloadRule = {
  kind: builtinKind('v1', 'PersistentVolumeClaim'),
  statusOf(object, { phase }) {
    if (phase !== 'Done') return { phase: 'Pending' }
    const storage = mapAt(object, 'spec.resources.requests')['storage']
    return compact({
      phase: 'Bound',
      accessModes: textsAt(object, 'spec.accessModes'),
      capacity: storage === undefined ? undefined : { storage },
    })
  },
}

/** What happens to pods, jobs, addresses and claims. */
export const SINGLE_RULES: readonly WorkloadRule[] = [pod, job, service, ingress, claim]
