/** Consequences of a pass: conditions, the next pass, and the metric's label. Pure. */
import { ApiError, Stalled, Waiting } from '../core/errors.ts'
import type { ReconcileResult } from './metrics.ts'
import type { ConditionSet } from './reconciler.ts'
import type { OpenDraft } from './draft.ts'
import type { KubeObject } from '../kinds/meta.ts'

/** The controller's next step for the key, and the metric's label of the pass. */
export type Outcome =
  | { readonly next: 'Rest'; readonly result: ReconcileResult }
  | { readonly next: 'After'; readonly ms: number; readonly result: ReconcileResult }
  | { readonly next: 'Retry'; readonly result: ReconcileResult; readonly quiet: boolean }

/**
 * The condition type that Waiting and Stalled set. `Ready` also sets kstatus's Reconciling and Stalled. Another type is
 * set alone: several controllers can share a kind, and one of them owns Ready. False sets no condition.
 */
export type FailureCondition = string | false

export function classifyError(caught: unknown): Outcome {
  if (caught instanceof Waiting) return { next: 'After', ms: caught.retryAfterMs, result: 'requeue_after' }
  if (caught instanceof Stalled) return { next: 'Rest', result: 'success' }
  if (caught instanceof ApiError) {
    // Another client wrote first, or deleted the object: the cache will show it soon.
    if (caught.reason === 'Conflict') return { next: 'Retry', result: 'requeue', quiet: true }
    if (caught.details.retryAfterSeconds !== undefined) {
      return { next: 'After', ms: caught.details.retryAfterSeconds * 1000, result: 'requeue_after' }
    }
  }
  return { next: 'Retry', result: 'error', quiet: false }
}

/** Sets the conditions of a Waiting or Stalled error; returns false for other errors. */
export function setFailureConditions(conditions: ConditionSet, caught: unknown, failure: FailureCondition): boolean {
  const waiting = caught instanceof Waiting
  if (!waiting && !(caught instanceof Stalled)) return false
  if (failure === false) return true
  conditions.set(failure, 'False', caught.reason, caught.message)
  if (failure === 'Ready') {
    conditions.remove(waiting ? 'Stalled' : 'Reconciling')
    conditions.set(waiting ? 'Reconciling' : 'Stalled', 'True', caught.reason, caught.message)
  }
  return true
}

/** Removes Reconciling and Stalled of earlier passes after a pass that neither threw nor set them. */
export function clearFailureConditions(draft: OpenDraft<KubeObject>, failure: FailureCondition): void {
  if (failure !== 'Ready') return
  for (const type of ['Reconciling', 'Stalled']) if (!draft.touched.has(type)) draft.conditions.remove(type)
}
