import { jsonEqual } from '../../core/json.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { planRollout } from '../../plan/rollout/plan-rollout.ts'
import { rolloutInput, rosterCacheKey } from '../../plan/rollout/rollout-input.ts'
import type { GatheredRollout } from '../../plan/rollout/rollout-input.ts'
import { onlyCountsDiffer, recordDecision, rollbackOnFailure } from '../../plan/rollout/rollout-status.ts'
import { updateUnselectedHolders } from '../../plan/rollout/unselected-holders.ts'
import type { ChangesSinceLastPass } from './roster-cache.ts'
import type { PassPace } from './pass-pace.ts'
import type { RolloutAdvancePorts } from './ports.ts'
import { setRolloutConditions } from './rollout-conditions.ts'

/**
 * The rest of a Rollout after a pass, in milliseconds: for each bundle on a cluster that the pass compared, and for
 * each slot that is taken. A pass costs a few microseconds for each of them, and its write contains all slots. The pace
 * multiplies the rest by the number of Rollouts that rest, so all Rollouts together take less than a tenth of the hub's
 * time, and a burst of reports is one pass.
 */
const REST_PER_BUNDLE_ON_CLUSTER_MS = 0.05
const REST_PER_SLOT_MS = 0.5

/** Milliseconds for which a Rollout rests. A change of its spec never waits. */
export function restOf(rollout: Rollout, pace: Pick<PassPace, 'waitMs'>): number {
  return rollout.status?.observedGeneration === rollout.metadata.generation ? pace.waitMs(keyOf(rollout)) : 0
}

/** Advances a Rollout: writes the decision of plan/rollout/plan-rollout.ts into its status. */
export function rolloutAdvanceReconciler(ports: RolloutAdvancePorts): Reconciler<Rollout> {
  return {
    name: 'rollout-advance',
    async reconcile(draft: Draft<Rollout>, context: Context): Promise<Result> {
      const rollout = draft.next
      const key = keyOf(rollout)
      const now = context.clock.now()
      const gathered = ports.gather(rollout, now)
      const since = ports.rosterCache.open(key, rosterCacheKey(rollout, gathered))
      const decision = planRollout(rolloutInput(rollout, gathered, now), { ...since, selects: gathered.selects })
      const total = decision.counts?.total ?? 0
      ports.rosterCache.keep(key, since.roster.cached ? total : 0)
      const compared = REST_PER_BUNDLE_ON_CLUSTER_MS * Math.min(total, since.changedClusters?.size ?? total)
      const taken = REST_PER_SLOT_MS * decision.admissions.length
      ports.pace.note(key, Math.floor(Math.max(compared, taken)))
      const unselected = unselectedHolders(rollout, gathered, since)
      ports.askGates(rollout, decision.asks ?? [])
      if (decision.kind === 'Admit') {
        context.log.info({ admitted: decision.admitted.map(({ cluster }) => cluster) }, 'clusters admitted')
      }
      const waitMs = ports.statusThrottle.waitMs(key)
      const rollBack = rollbackOnFailure(rollout, decision, now)
      if (waitMs > 0 && !rollBack && onlyCountsDiffer(rollout, decision))
        return { requeueAfterMs: waitMs, unchanged: true }

      const status = (rollout.status ??= {})
      recordDecision(status, decision)
      if (rollBack) status.rollBack = rollBack
      setRolloutConditions(draft.conditions, decision, unselected)
      if (!jsonEqual(draft.seen.status, status)) ports.statusThrottle.note(key)
      return decision.until === undefined ? {} : { requeueAfterMs: Math.max(1, decision.until - context.clock.now()) }
    },
  }
}

/** The clusters that keep a Bundle of the Release although its Placement no longer selects them. */
function unselectedHolders(
  { spec }: Rollout,
  gathered: GatheredRollout,
  { unselectedHolders: known, changedClusters }: ChangesSinceLastPass,
): string[] {
  const facts = {
    ...gathered,
    bundles: spec.removal ? [] : (gathered.release?.spec.bundles ?? []),
    isDecided: (placement: string) => gathered.selectionStamp(placement) !== undefined,
  }
  return updateUnselectedHolders(facts, known, changedClusters)
}
