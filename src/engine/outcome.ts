/** What a reconcile's end means: conditions, when to look again, and how it is counted. Pure. */
import { ApiError, Stalled, Waiting } from '../core/errors.ts'
import type { ReconcileResult } from './metrics.ts'
import type { ConditionSet } from './reconciler.ts'
import type { OpenDraft } from './draft.ts'
import type { KubeObject } from '../kinds/meta.ts'

/** What the controller does with the key, and how the pass is counted. */
export type Outcome =
  | { readonly next: 'Rest'; readonly result: ReconcileResult }
  | { readonly next: 'After'; readonly ms: number; readonly result: ReconcileResult }
  | { readonly next: 'Retry'; readonly result: ReconcileResult; readonly quiet: boolean }

/**
 * Which condition Waiting and Stalled become. `Ready` also sets kstatus's Reconciling and Stalled; another name sets
 * that one alone (several controllers may share a kind, one of them owns Ready); false sets none.
 */
export type FailureCondition = string | false

/** What a throw means. */
export function classifyError(caught: unknown): Outcome {
  if (caught instanceof Waiting) return { next: 'After', ms: caught.retryAfterMs, result: 'requeue_after' }
  if (caught instanceof Stalled) return { next: 'Rest', result: 'success' }
  if (caught instanceof ApiError) {
    // Somebody wrote first, or the object is gone: the cache will show it in a moment.
    if (caught.reason === 'Conflict') return { next: 'Retry', result: 'requeue', quiet: true }
    if (caught.details.retryAfterSeconds !== undefined) {
      return { next: 'After', ms: caught.details.retryAfterSeconds * 1000, result: 'requeue_after' }
    }
  }
  return { next: 'Retry', result: 'error', quiet: false }
}

/** Shows a Waiting or Stalled in the conditions; true when it was one. */
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

/** After a pass that did not throw, earlier Reconciling and Stalled no longer hold unless this pass set them. */
export function clearFailureConditions(draft: OpenDraft<KubeObject>, failure: FailureCondition): void {
  if (failure !== 'Ready') return
  for (const type of ['Reconciling', 'Stalled']) if (!draft.touched.has(type)) draft.conditions.remove(type)
}
