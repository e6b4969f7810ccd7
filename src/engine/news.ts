/** What a pass tells people: which conditions of an object changed their answer. Pure. */
import type { Condition, KubeObject } from '../kinds/meta.ts'

/** One thing that happened to an object, as an Event says it. */
export interface News {
  readonly type: 'Normal' | 'Warning'
  /** One word for programs. */
  readonly reason: string
  readonly message: string
}

/** kstatus's own conditions say again what Ready says. */
const ECHOES: ReadonlySet<string> = new Set(['Reconciling', 'Stalled'])

/**
 * The news between two states of an object. A condition is news when its status or reason changed, not when its words did:
 * a count that goes up in a message is no event. The same word from two conditions is said once.
 */
export function newsOf(before: KubeObject, after: KubeObject): readonly News[] {
  const [old, now] = [conditionsOf(before), conditionsOf(after)]
  const isStalled = now.some(({ type, status }) => type === 'Stalled' && status === 'True')
  const changed = now.filter((condition) => {
    if (ECHOES.has(condition.type)) return false
    const was = old.find(({ type }) => type === condition.type)
    return was?.status !== condition.status || was.reason !== condition.reason
  })
  const said = new Map(changed.map((condition) => [condition.reason, condition]))
  return [...said.values()].map(({ status, reason, message }) => ({
    type: status === 'False' && isStalled ? 'Warning' : 'Normal',
    reason,
    message,
  }))
}

function conditionsOf(object: KubeObject): readonly Condition[] {
  return (object as { status?: { conditions?: readonly Condition[] } }).status?.conditions ?? []
}
