/**
 * The rings that a new Rollout gets: a copy of its RolloutPlan's, one ring without a plan, or one ring for a rollback.
 */
import { compact } from '../../core/compact.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'

/** The concurrency of a Bundle without `spec.rollout.concurrency`. */
const DEFAULT_CONCURRENCY = 10

type RolloutRings = Pick<Rollout['spec'], 'rings' | 'paused' | 'plan' | 'progressDeadline'>

/**
 * The rings of a Rollout, by the settings of its Bundle. They are a copy: an edit of the RolloutPlan counts for the
 * next Rollout, never for a running one. The rings of `last` count when the RolloutPlan that the Bundle names does not
 * exist.
 */
export function rolloutRings(
  settings: Bundle['spec']['rollout'],
  plan: RolloutPlan | undefined,
  last?: Rollout['spec'],
): RolloutRings {
  const { concurrency = DEFAULT_CONCURRENCY, plan: planName } = settings ?? {}
  if (planName !== undefined && !plan && last) {
    const { rings, progressDeadline } = last
    return compact({
      rings: structuredClone(rings),
      paused: false,
      progressDeadline,
    })
  }
  return compact({
    rings: plan ? structuredClone(plan.spec.rings) : [{ name: 'all', concurrency }],
    paused: plan?.spec.start === 'Manual',
    plan: planName,
    progressDeadline: plan?.spec.progressDeadline === undefined ? undefined : plan.spec.progressDeadline,
  })
}

/**
 * The rings of a rollback. A rollback of a ring or of all clusters delivers only content that ran before, so it needs
 * no soak, no approval and no manual start. It has one ring with the budget of the last ring: in the order of the
 * rings, the first ring would wait for slots of clusters that failed in a later ring. A rollback of single clusters
 * keeps the rings, because the other clusters continue with the newer content.
 */
export function rollbackRings(rings: RolloutRings, { scope }: NonNullable<Release['spec']['rollBack']>): RolloutRings {
  const last = rings.rings.at(-1)
  if (scope === 'Clusters' || !last) return rings
  const { concurrency, maxUnavailable, maxFailed, startBy } = last
  const budget = { concurrency, maxUnavailable, maxFailed, startBy }
  const known = Object.entries(budget).filter(([, value]) => value !== undefined)
  return {
    ...rings,
    rings: [{ name: 'back', ...(Object.fromEntries(known) as Pick<Ring, 'concurrency'>) }],
    paused: false,
  }
}

type Ring = Rollout['spec']['rings'][number]
