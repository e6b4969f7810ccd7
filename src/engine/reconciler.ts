import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'

/** Ports of one pass. */
export interface Context {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Conditions of a draft; the engine sets their times and observedGeneration. */
export interface ConditionSet {
  get(type: string): Condition | undefined
  set(type: string, status: Condition['status'], reason: string, message: string): void
  remove(type: string): void
}

/**
 * An object being reconciled. `seen` is the cached object, `next` a copy to change. After the pass the engine compares
 * the two and writes once: metadata and spec, or status, never both (that is a programming error and throws). Example:
 *
 *     async reconcile({ next, conditions }) {
 *       next.status = { ...next.status, replicas: 3 }
 *       conditions.set('Ready', 'True', 'Done', 'All 3 replicas are ready.')
 *       return { requeueAfterMs: 60_000 }
 *     }
 */
export interface Draft<T extends KubeObject> {
  readonly seen: T
  readonly next: T
  readonly conditions: ConditionSet
}

/** Result of a pass that did not throw. */
export interface Result {
  /** When to reconcile again. If omitted, only a change of a watched object starts the next pass. */
  readonly requeueAfterMs?: number
  /**
   * The pass decided nothing new: the engine writes nothing and keeps all conditions, also `Reconciling` and `Stalled`,
   * which it otherwise removes after a pass that did not set them. The draft must be as it was opened.
   */
  readonly unchanged?: boolean
}

/**
 * Moves one object towards its spec.
 *
 * - returning: the pass ended; see Result.
 * - throwing ApiError Conflict: another client wrote first; requeued without an error.
 * - throwing Waiting or Stalled: becomes the Ready condition (False), with kstatus's Reconciling or Stalled; see
 *   core/errors.ts.
 * - throwing another error: retried with backoff and jitter, logged with its cause, counted.
 */
export interface Reconciler<T extends KubeObject> {
  readonly name: string
  reconcile(draft: Draft<T>, context: Context): Promise<Result>
}
