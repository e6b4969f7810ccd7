import { humanAge, parseTime } from '../../../core/time/time.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../meta.ts'
import { readPath, itemsAt, mapAt, numberAt, textAt } from '../read-path.ts'
import { hasCondition, NONE } from './cell-makers.ts'
import type { Cells } from './cell-makers.ts'

/** What `kubectl get pods` says about a pod: one word for all of its containers' states. */

interface Seen {
  readonly ready: number
  readonly total: number
  readonly reason: string
  readonly restarts: number
  /** The time of the last restart, in milliseconds. */
  readonly restartedAt: number
}

function look(pod: UnknownObject): Seen {
  const sidecars = new Set(
    itemsAt(pod, 'spec.initContainers')
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  )
  const init = lookAtInit(pod, sidecars)
  let { ready, restarts, restartedAt } = init
  let reason = init.reason ?? phaseOf(pod)
  if (init.reason === undefined || hasCondition(pod, 'Initialized')) {
    restarts = init.sidecarRestarts
    restartedAt = init.sidecarRestartedAt
    let running = false
    for (const status of itemsAt(pod, 'status.containerStatuses').reverse()) {
      restarts += numberAt(status, 'restartCount')
      restartedAt = Math.max(restartedAt, finishedAt(status))
      const said = reasonOf(status)
      if (said !== undefined) reason = said
      else if (status['ready'] === true && readPath(status, 'state.running') !== undefined) {
        running = true
        ready++
      }
    }
    if (reason === 'Completed' && running) reason = hasCondition(pod, 'Ready') ? 'Running' : 'NotReady'
  }
  if (pod.metadata.deletionTimestamp) {
    const phase = textAt(pod, 'status.phase')
    if (textAt(pod, 'status.reason') === 'NodeLost') reason = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') reason = 'Terminating'
  }
  return { ready, total: itemsAt(pod, 'spec.containers').length + sidecars.size, reason, restarts, restartedAt }
}

function phaseOf(pod: UnknownObject): string {
  const gated = itemsAt(pod, 'status.conditions').some(
    (it) => it['type'] === 'PodScheduled' && it['reason'] === 'SchedulingGated',
  )
  return gated ? 'SchedulingGated' : textAt(pod, 'status.reason') || textAt(pod, 'status.phase')
}

/** Why a container does not run, or undefined when it does. */
function reasonOf(status: JsonObject): string | undefined {
  const waiting = textAt(status, 'state.waiting.reason')
  if (waiting !== '') return waiting
  if (readPath(status, 'state.terminated') === undefined) return undefined
  return textAt(status, 'state.terminated.reason') || exitOf(status)
}

function exitOf(status: JsonObject): string {
  const signal = numberAt(status, 'state.terminated.signal')
  return signal === 0 ? `ExitCode:${numberAt(status, 'state.terminated.exitCode')}` : `Signal:${signal}`
}

function finishedAt(status: JsonObject): number {
  return parseTime(textAt(status, 'lastState.terminated.finishedAt')) ?? 0
}

function lookAtInit(pod: UnknownObject, sidecars: ReadonlySet<unknown>) {
  const seen = { ready: 0, restarts: 0, restartedAt: 0, sidecarRestarts: 0, sidecarRestartedAt: 0 }
  const all = itemsAt(pod, 'spec.initContainers').length
  for (const [index, status] of itemsAt(pod, 'status.initContainerStatuses').entries()) {
    const isSidecar = sidecars.has(status['name'])
    seen.restarts += numberAt(status, 'restartCount')
    seen.restartedAt = Math.max(seen.restartedAt, finishedAt(status))
    if (isSidecar) {
      seen.sidecarRestarts += numberAt(status, 'restartCount')
      seen.sidecarRestartedAt = Math.max(seen.sidecarRestartedAt, finishedAt(status))
    }
    const terminated = mapAt(status, 'state.terminated')
    if (terminated['exitCode'] === 0) continue
    if (isSidecar && status['started'] === true) {
      if (status['ready'] === true) seen.ready++
      continue
    }
    const said = reasonOf(status)
    const reason = said === undefined || said === 'PodInitializing' ? `${index}/${all}` : said
    return { ...seen, reason: `Init:${reason}` }
  }
  return { ...seen, reason: undefined }
}

function restartsOf(pod: UnknownObject, now: number): string {
  const { restarts, restartedAt } = look(pod)
  if (restarts === 0 || restartedAt === 0) return String(restarts)
  return `${restarts} (${humanAge(now - restartedAt)} ago)`
}

function gatesOf(pod: UnknownObject): string {
  const gates = itemsAt(pod, 'spec.readinessGates')
  if (gates.length === 0) return NONE
  const open = gates.filter((gate) => hasCondition(pod, textAt(gate, 'conditionType')))
  return `${open.length}/${gates.length}`
}

/** The cells of a Pod. */
export const POD_CELLS: Cells = {
  Ready: (pod) => `${look(pod).ready}/${look(pod).total}`,
  Status: (pod) => look(pod).reason,
  Restarts: restartsOf,
  IP: (pod) => textAt(itemsAt(pod, 'status.podIPs')[0], 'ip', NONE),
  Node: (pod) => textAt(pod, 'spec.nodeName', NONE),
  'Nominated Node': (pod) => textAt(pod, 'status.nominatedNodeName', NONE),
  'Readiness Gates': gatesOf,
}
