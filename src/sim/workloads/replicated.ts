import type { UnknownObject } from '../../kinds/meta.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { readPath, itemsAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import { rollingLimits, rollingPods } from './rolling.ts'
import { shortHash, timedCondition } from './rule.ts'
import type { WorkloadPhase, WorkloadRule } from './rule.ts'

/** Kinds that keep a number of pods. */

const POD_SPEC = 'spec.template.spec'

function wantedOf(object: UnknownObject): number {
  return typeof readPath(object, 'spec.replicas') === 'number' ? numberAt(object, 'spec.replicas') : 1
}

/** What was available stays so while more replicas come, or fail to. */
function availableOf(object: UnknownObject, { phase }: WorkloadPhase, field = 'availableReplicas'): number {
  const wanted = wantedOf(object)
  return phase === 'Done' ? wanted : Math.min(numberAt(object, `status.${field}`), wanted)
}

/** Go leaves out what is 0. */
function counts(fields: Readonly<Record<string, number>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, count]) => count > 0))
}

function backOff(broken: string | undefined): string {
  return `ImagePullBackOff: back-off pulling image "${broken}"`
}

const deployment: WorkloadRule = {
  kind: builtinKind('apps/v1', 'Deployment'),
  podSpec: POD_SPEC,
  statusOf(object, { phase, broken, now }) {
    const wanted = wantedOf(object)
    const limits = rollingLimits(object, wanted)
    const set = `ReplicaSet "${object.metadata.name}-${shortHash(readPath(object, 'spec.template'))}"`
    const before = itemsAt(object, 'status.conditions').find((it) => it['type'] === 'Progressing')
    const isSameSet = textAt(before, 'message').startsWith(set)
    const pods =
      phase === 'Done'
        ? { old: 0, updated: wanted, available: wanted }
        : rollingPods(object['status'], wanted, limits, isSameSet)
    // Scaling what has come to its end is no new rollout.
    const isDone = phase === 'Done' || (isSameSet && pods.old === 0 && before?.['reason'] === 'NewReplicaSetAvailable')
    const condition = (type: string, isTrue: boolean, reason: string, message: string) =>
      timedCondition(object, { type, status: isTrue ? 'True' : 'False', reason, message }, now, ['lastUpdateTime'])
    return {
      observedGeneration: object.metadata.generation ?? 1,
      ...counts({
        replicas: pods.old + pods.updated,
        updatedReplicas: pods.updated,
        readyReplicas: pods.available,
        availableReplicas: pods.available,
        unavailableReplicas: pods.old + pods.updated - pods.available,
      }),
      conditions: [
        pods.available >= wanted - limits.unavailable
          ? condition('Available', true, 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
          : condition(
              'Available',
              false,
              'MinimumReplicasUnavailable',
              'Deployment does not have minimum availability.',
            ),
        phase === 'Failed'
          ? condition(
              'Progressing',
              false,
              'ProgressDeadlineExceeded',
              `${set} has timed out progressing: ${backOff(broken)}.`,
            )
          : isDone
            ? condition('Progressing', true, 'NewReplicaSetAvailable', `${set} has successfully progressed.`)
            : condition('Progressing', true, 'ReplicaSetUpdated', `${set} is progressing.`),
      ],
    }
  },
}

const statefulSet: WorkloadRule = {
  kind: builtinKind('apps/v1', 'StatefulSet'),
  podSpec: POD_SPEC,
  statusOf(object, moment) {
    const wanted = wantedOf(object)
    const revision = `${object.metadata.name}-${shortHash(readPath(object, 'spec.template'))}`
    const isDone = moment.phase === 'Done'
    const isNew = !isDone && textAt(object, 'status.currentRevision', revision) !== revision
    // An update takes the last pod away before the new one comes in its place.
    const available = Math.min(availableOf(object, moment), isNew ? Math.max(0, wanted - 1) : wanted)
    return {
      observedGeneration: object.metadata.generation ?? 1,
      replicas: wanted,
      ...counts({
        readyReplicas: available,
        currentReplicas: isDone ? wanted : numberAt(object, 'status.currentReplicas'),
        updatedReplicas: isDone ? wanted : Math.min(1, wanted),
      }),
      availableReplicas: available,
      currentRevision: isDone ? revision : textAt(object, 'status.currentRevision', revision),
      updateRevision: revision,
      collisionCount: 0,
    }
  },
}

/** An embedded cluster has one node, in name. */
const NODES = 1

const daemonSet: WorkloadRule = {
  kind: builtinKind('apps/v1', 'DaemonSet'),
  podSpec: POD_SPEC,
  statusOf(object, { phase }) {
    // An update takes a node's pod away before the new one comes in its place.
    const ready = phase === 'Done' ? NODES : 0
    return {
      observedGeneration: object.metadata.generation ?? 1,
      desiredNumberScheduled: NODES,
      currentNumberScheduled: NODES,
      numberMisscheduled: 0,
      numberReady: ready,
      ...counts({ updatedNumberScheduled: NODES, numberAvailable: ready, numberUnavailable: NODES - ready }),
    }
  },
}

function replicas(apiVersion: string, kind: string): WorkloadRule {
  return {
    kind: builtinKind(apiVersion, kind),
    podSpec: POD_SPEC,
    statusOf(object, moment) {
      const wanted = wantedOf(object)
      const available = availableOf(object, moment)
      return {
        observedGeneration: object.metadata.generation ?? 1,
        replicas: wanted,
        ...counts({ fullyLabeledReplicas: wanted, readyReplicas: available, availableReplicas: available }),
      }
    },
  }
}

/** What happens to kinds that keep a number of pods. */
export const REPLICATED_RULES: readonly WorkloadRule[] = [
  deployment,
  statefulSet,
  daemonSet,
  replicas('apps/v1', 'ReplicaSet'),
  replicas('v1', 'ReplicationController'),
]
