/** What a pass tells people: which conditions of an object changed their answer, and whether its state is worse or well again. Pure. */
import type { Condition, KubeObject } from '../kinds/meta.ts'

/** One thing that happened to an object, as an Event says it. */
export interface ConditionEvent {
  readonly type: 'Normal' | 'Warning'
  /** One word for programs. */
  readonly reason: string
  readonly message: string
}

/** kstatus's own conditions say again what Ready says. */
const ECHOES: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])
/** Conditions that tell of trouble by being there. */
const BAD_WHEN_TRUE: ReadonlySet<string> = new Set([
  'AliasTaken',
  'ClockSkewed',
  'Cloned',
  'DocumentRefused',
  'HubBehind',
  'Reverted',
])
/** Conditions that tell of trouble by not holding; `Available` does not: offline is a state, not a failure. */
const BAD_WHEN_FALSE: ReadonlySet<string> = new Set(['Exact', 'Linted', 'Released', 'Rendered'])
/** Reasons that tell of trouble although somebody tries again, or although a part went well. */
const BAD_REASON = /^(Bad|Partly)|(Failed|Mismatch|Missing|NotAllowed|NotFound|NotVerified|Unreachable)$/
/** States that a person should look at. */
const BAD_STATES: ReadonlySet<string> = new Set(['Drifted', 'Failed'])

/**
 * The news between two states of an object. A condition is news when its status or reason changed, not when its words did:
 * a count that goes up in a message is no event. The same word from two conditions is said once, and the graver one wins.
 */
export function conditionEvents(before: KubeObject, after: KubeObject): readonly ConditionEvent[] {
  const [old, now] = [conditionsOf(before), conditionsOf(after)]
  const stalled = now.find(({ type, status }) => type === 'Stalled' && status === 'True')
  const said = new Map<string, ConditionEvent>()
  for (const condition of now) {
    const { type, status, reason, message } = condition
    if (ECHOES.has(type)) continue
    const was = old.find((one) => one.type === type)
    if (was?.status === status && was.reason === reason) continue
    const isBad = isTrouble(condition, stalled) || said.get(reason)?.type === 'Warning'
    said.set(reason, { type: isBad ? 'Warning' : 'Normal', reason, message })
  }
  return [...said.values(), ...stateNews(before, after)]
}

function isTrouble({ type, status, reason }: Condition, stalled: Condition | undefined): boolean {
  if (stalled && (status === 'False' || reason === stalled.reason)) return true
  if (status === 'True' ? BAD_WHEN_TRUE.has(type) : status === 'False' && BAD_WHEN_FALSE.has(type)) return true
  return BAD_REASON.test(reason)
}

/** An object with a state tells when it fails or drifts, and when it is well again; what moves is told by its rollout. */
function stateNews(before: KubeObject, after: KubeObject): readonly ConditionEvent[] {
  const [was, is] = [statusOf(before), statusOf(after)]
  if (is.state === undefined || is.state === was.state) return []
  const { state: reason, message = '' } = is
  if (BAD_STATES.has(reason)) return [{ type: 'Warning', reason, message }]
  return reason === 'Ready' && BAD_STATES.has(was.state ?? '') ? [{ type: 'Normal', reason, message }] : []
}

interface Status {
  readonly conditions?: readonly Condition[]
  /** One of the states of a bundle on a cluster; other kinds have none. */
  readonly state?: string
  readonly message?: string
}

function statusOf(object: KubeObject): Status {
  return (object as { status?: Status }).status ?? {}
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return statusOf(object).conditions ?? []
}
