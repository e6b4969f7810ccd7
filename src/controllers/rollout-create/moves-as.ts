import type { Bundle } from '../../kinds/bundle.ts'
import type { RolloutPlan } from '../../kinds/rollout-plan.ts'
import type { Rollout } from '../../kinds/rollout.ts'

/** How many clusters may be changing at once unless the Bundle says otherwise. */
export const DEFAULT_CONCURRENCY = 10

type Moves = Pick<Rollout['spec'], 'rings' | 'paused' | 'plan' | 'progressDeadline'>

/**
 * The rings of a Rollout, by the Bundle's own words; a copy: an edit of the plan is for the next one, never for one on its way. `last` is
 * whose rings count when the plan the Bundle names is gone.
 */
export function movesAs(
  asked: Bundle['spec']['rollout'],
  plan: RolloutPlan | undefined,
  last?: Rollout['spec'],
): Moves {
  const { concurrency = DEFAULT_CONCURRENCY, plan: planName } = asked ?? {}
  if (planName !== undefined && !plan && last) {
    const { rings, progressDeadline } = last
    return {
      rings: structuredClone(rings),
      paused: false,
      ...(progressDeadline === undefined ? {} : { progressDeadline }),
    }
  }
  return {
    rings: plan ? structuredClone(plan.spec.rings) : [{ name: 'all', concurrency }],
    paused: plan?.spec.start === 'Manual',
    ...(planName === undefined ? {} : { plan: planName }),
    ...(plan?.spec.progressDeadline === undefined ? {} : { progressDeadline: plan.spec.progressDeadline }),
  }
}
