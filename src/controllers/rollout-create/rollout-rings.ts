import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'

/** How many clusters may be changing at once unless the Bundle says otherwise. */
const DEFAULT_CONCURRENCY = 10

type Moves = Pick<Rollout['spec'], 'rings' | 'paused' | 'plan' | 'progressDeadline'>

/**
 * The rings of a Rollout, by the Bundle's own words; a copy: an edit of the plan is for the next one, never for one on its way. `last` is
 * whose rings count when the plan the Bundle names is gone.
 */
export function rolloutRings(
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

/**
 * How a rollback moves: everywhere or in a ring nobody gets anything but what ran before, so that it neither soaks nor asks nor waits to be
 * started, and goes in one ring with the budget of the last: in the order of the rings, the first would wait for the slots of who
 * failed in a later one. With single clusters the rest goes on with the newer content, and does all that.
 */
export function rollbackRings(moves: Moves, { scope }: NonNullable<Release['spec']['rollBack']>): Moves {
  const last = moves.rings.at(-1)
  if (scope === 'Clusters' || !last) return moves
  const { concurrency, maxUnavailable, maxFailed, startBy } = last
  const budget = { concurrency, maxUnavailable, maxFailed, startBy }
  const known = Object.entries(budget).filter(([, value]) => value !== undefined)
  return {
    ...moves,
    rings: [{ name: 'back', ...(Object.fromEntries(known) as Pick<Ring, 'concurrency'>) }],
    paused: false,
  }
}

type Ring = Rollout['spec']['rings'][number]
