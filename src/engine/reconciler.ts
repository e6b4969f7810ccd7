import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'

/** What a reconcile gets besides its object. */
export interface Context {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Conditions of a draft; times and observedGeneration are the engine's business. */
export interface ConditionSet {
  get(type: string): Condition | undefined
  set(type: string, status: Condition['status'], reason: string, message: string): void
  remove(type: string): void
}

/**
 * An object being reconciled. `seen` is what the cache had, `next` a copy to change. After the reconcile the engine
 * compares the two and writes once: metadata and spec, or status, never both (that is a programming error and throws).
 */
export interface Draft<T extends KubeObject> {
  readonly seen: T
  readonly next: T
  readonly conditions: ConditionSet
}

/** When to look again; without it, only when something watched changes. */
export interface Result {
  readonly requeueAfterMs?: number
}

/**
 * Moves one object towards what it says.
 *
 * - returning: done for now; `requeueAfterMs` asks for another look.
 * - throwing ApiError Conflict: somebody else wrote first; requeued quietly.
 * - throwing Waiting or Stalled: becomes the Ready condition (False), with kstatus's Reconciling or Stalled; see core/errors.ts.
 * - throwing anything else: retried with backoff and jitter, logged with its cause, counted.
 */
export interface Reconciler<T extends KubeObject> {
  readonly name: string
  reconcile(draft: Draft<T>, context: Context): Promise<Result>
}
