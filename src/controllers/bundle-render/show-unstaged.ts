// Tested by src/controllers/bundle-render/reconcile.test.ts
/** Condition Unstaged: a change of the Bundle reaches all its clusters without a check in between. */
import type { Draft } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { lintRollout } from '../../plan/lint/lint-safeguards.ts'

/** Sets the condition, only after it was True once. A Bundle on one cluster has nothing to stage. */
export function showUnstaged(
  { next, conditions }: Draft<Bundle>,
  clusters: number,
  plan: RolloutPlan | undefined,
): void {
  const [found] = clusters > 1 ? lintRollout(next, plan) : []
  if (found) {
    const reason = found.check === 'no-rollout-strategy' ? 'NoRolloutStrategy' : 'NoGate'
    conditions.set('Unstaged', 'True', reason, `${found.message}; ${found.todo} [${found.check}].`)
  } else if (conditions.get('Unstaged')?.status === 'True') {
    conditions.set('Unstaged', 'False', 'Staged', 'A change of the Bundle reaches its clusters in steps.')
  }
}
