/** Which Events a write of an object's status makes. Pure; the kind declares which of them are Warnings. */
import { isObject } from '../core/json.ts'
import type { StatusEvents } from '../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'

/** One Event about an object, before it has a name and a time. */
export interface ConditionEvent {
  readonly type: 'Normal' | 'Warning'
  /** The condition's reason, or the object's state. */
  readonly reason: string
  readonly message: string
  /** The revision that the Event is about; Events about different revisions are not counted as one. */
  readonly revision?: string
}

/** kstatus's conditions repeat what `Ready` says. */
const REPEATS_READY: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** Reasons with these prefixes and suffixes are failures in every kind, also while the controller retries. */
const FAILURE_PREFIXES = ['Bad', 'Partly']
const FAILURE_SUFFIXES = ['Failed', 'Mismatch', 'Missing', 'NotAllowed', 'NotFound', 'NotVerified', 'Unreachable']

/**
 * The Events between two states of an object. A condition makes an Event when its status or reason changed, not when
 * its message did: a count that goes up in a message is no Event. A new revision is an Event of Ready, too. Two
 * conditions with the same reason make one Event,
 * and Warning wins over Normal.
 */
export function conditionEvents(
  before: KubeObject,
  after: KubeObject,
  declared: StatusEvents = {},
): readonly ConditionEvent[] {
  const [old, now] = [statusOf(before).conditions ?? [], statusOf(after).conditions ?? []]
  const stalled = now.find(({ type, status }) => type === 'Stalled' && status === 'True')
  const byReason = new Map<string, ConditionEvent>()
  const revision = newRevision(before, after, declared)
  for (const condition of now) {
    const { type, status, reason, message } = condition
    if (REPEATS_READY.has(type)) continue
    const previous = old.find((candidate) => candidate.type === type)
    const isRevised = type === 'Ready' && revision !== undefined
    if (previous?.status === status && previous.reason === reason && !isRevised) continue
    const isWarning = isFailure(condition, stalled, declared) || byReason.get(reason)?.type === 'Warning'
    const about = isRevised ? { revision } : {}
    byReason.set(reason, { type: isWarning ? 'Warning' : 'Normal', reason, message, ...about })
  }
  return [...byReason.values(), ...stateEvents(before, after, declared)]
}

/** The revision of an object that has another than before. */
function newRevision(before: KubeObject, after: KubeObject, { revision: path }: StatusEvents): string | undefined {
  if (!path) return undefined
  const [old, now] = [before, after].map((object) =>
    path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), statusOf(object)),
  )
  return typeof now === 'string' && now !== old ? now : undefined
}

function isFailure(
  { type, status, reason }: Condition,
  stalled: Condition | undefined,
  { warnWhenTrue = [], warnWhenFalse = [] }: StatusEvents,
): boolean {
  if (stalled && (status === 'False' || reason === stalled.reason)) return true
  if (status === 'True' && warnWhenTrue.includes(type)) return true
  if (status === 'False' && warnWhenFalse.includes(type)) return true
  return (
    FAILURE_PREFIXES.some((prefix) => reason.startsWith(prefix)) ||
    FAILURE_SUFFIXES.some((suffix) => reason.endsWith(suffix))
  )
}

/** A state makes an Event when it is a failure, and when the object is Ready after one. Rollouts report progress. */
function stateEvents(
  before: KubeObject,
  after: KubeObject,
  { warnInState = [] }: StatusEvents,
): readonly ConditionEvent[] {
  const { state: previous = '' } = statusOf(before)
  const { state, message = '' } = statusOf(after)
  if (state === undefined || state === previous) return []
  if (warnInState.includes(state)) return [{ type: 'Warning', reason: state, message }]
  return state === 'Ready' && warnInState.includes(previous) ? [{ type: 'Normal', reason: state, message }] : []
}

interface Status {
  readonly conditions?: readonly Condition[]
  /** The state of a Cluster; other kinds have none. */
  readonly state?: string
  readonly message?: string
}

function statusOf(object: KubeObject): Status {
  return (object as { status?: Status }).status ?? {}
}
