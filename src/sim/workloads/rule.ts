import type { Clock } from '../../core/time/clock.ts'
import { hex, sha256 } from '../../core/bytes.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Reconciler } from '../../engine/reconciler.ts'
import { itemsAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** How a kind's status follows from its spec and from the time that passed. */

/** How workloads behave. */
export interface WorkloadBehaviour {
  /** From a new generation to available. */
  readonly progressMs: number
  /** From a new generation to giving up. */
  readonly failMs: number
  /** Whether an image cannot be pulled; images with `broken` in their name, unless told. */
  readonly isBroken: (image: string) => boolean
}

/** A moment in the life of a workload. */
export interface WorkloadPhase {
  readonly phase: 'Progressing' | 'Done' | 'Failed'
  /** The image that cannot be pulled. */
  readonly broken: string | undefined
  readonly now: string
}

/** What becomes of the objects of a kind. */
export interface WorkloadRule {
  readonly kind: Kind
  /** Path of the pod's spec. Kinds without a pod cannot fail. */
  readonly podSpec?: string
  /** False for objects nothing happens to. */
  lives?(object: UnknownObject): boolean
  statusOf(object: UnknownObject, moment: WorkloadPhase): object
}

/** What rules work with. */
export interface RulePorts {
  behaviour(): WorkloadBehaviour
  /** Lets an object go that was given time to end. */
  release(kind: Kind, object: UnknownObject): Promise<void>
}

/** Moves the status of a kind's objects along. */
export function ruleReconciler(rule: WorkloadRule, ports: RulePorts): Reconciler<UnknownObject> {
  /** When the present content of an object was first seen. */
  const begun = new Map<string, { readonly id: string; readonly atMs: number }>()

  return {
    name: 'workload-simulator',
    reconcile: async (draft, { clock }) => {
      const object = draft.next
      const key = keyOf(object)
      const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = object.metadata
      if (deletionTimestamp !== undefined || rule.lives?.(object) === false) {
        begun.delete(key)
        // What does not run has nothing to end.
        if (deletionGracePeriodSeconds > 0) await ports.release(rule.kind, object)
        return {}
      }
      const behaviour = ports.behaviour()
      const id = contentOf(object)
      const known = begun.get(key)
      const broken = brokenImage(object, rule, behaviour)
      // Found as it is after a restart of the simulation: it went through this already.
      if (known?.id !== id && broken === undefined && isSettled(object, rule, clock)) return {}
      const atMs = known?.id === id ? known.atMs : clock.monotonicMs()
      if (known?.id !== id) begun.set(key, { id, atMs })
      const elapsed = clock.monotonicMs() - atMs
      const dueMs = broken === undefined ? behaviour.progressMs : behaviour.failMs
      const phase = elapsed < dueMs ? 'Progressing' : broken === undefined ? 'Done' : 'Failed'
      object['status'] = rule.statusOf(object, { phase, broken, now: formatTime(clock.now()) })
      return phase === 'Progressing' ? { requeueAfterMs: dueMs - elapsed } : {}
    },
  }
}

function contentOf({ metadata, spec }: UnknownObject): string {
  return `${metadata.uid}/${metadata.generation ?? hex(sha256(canonicalJson(spec ?? null)))}`
}

function isSettled(object: UnknownObject, rule: WorkloadRule, clock: Clock): boolean {
  const done = rule.statusOf(object, { phase: 'Done', broken: undefined, now: formatTime(clock.now()) })
  return jsonEqual(withoutTimes(done), withoutTimes(object['status']))
}

function withoutTimes(status: unknown): unknown {
  return JSON.parse(JSON.stringify(status ?? {}, (key, value: unknown) => (/(Time|At)$/.test(key) ? undefined : value)))
}

function brokenImage(
  object: UnknownObject,
  { podSpec }: WorkloadRule,
  behaviour: WorkloadBehaviour,
): string | undefined {
  if (podSpec === undefined) return undefined
  const containers = [...itemsAt(object, `${podSpec}.containers`), ...itemsAt(object, `${podSpec}.initContainers`)]
  return containers.map((container) => textAt(container, 'image')).find((image) => behaviour.isBroken(image))
}

/** A condition of a status. */
export interface SimCondition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason?: string
  readonly message?: string
}

/** The condition with its times; an unchanged condition keeps its times. */
export function timedCondition(
  object: UnknownObject,
  wanted: SimCondition,
  now: string,
  extra: readonly string[] = [],
): object {
  const before = itemsAt(object, 'status.conditions').find((it) => it['type'] === wanted.type)
  const isSame = before?.['status'] === wanted.status
  const isEqual = isSame && before?.['reason'] === wanted.reason && before['message'] === wanted.message
  if (isEqual) return before
  const times = Object.fromEntries(extra.map((field) => [field, now]))
  return { ...wanted, ...times, lastTransitionTime: isSame ? textAt(before, 'lastTransitionTime', now) : now }
}

/** A short name of a content, as revisions have. */
export function shortHash(value: unknown): string {
  return hex(sha256(canonicalJson(value ?? null))).slice(0, 10)
}
