/**
 * When: who is admitted next. One Release moves through its ring; nothing reaches a cluster except through an admission.
 *
 *   in use = own admissions ∪ what superseded rollouts still have in flight ∪ pairs handed the target and not well at it
 *
 * A healthy pair is admitted only while fewer than `concurrency` pairs are in use, so at most `concurrency` pairs are ever
 * unwell because of rollouts of their bundle. A pair that is in use already costs nothing to admit (it is how a fix
 * reaches the clusters that the last release broke), and the list of admissions is never longer than the concurrency.
 * When more are in use than the concurrency, it was lowered, or slots are counted that an older rollout has not given back
 * yet; only in the first case may a pair in use go on, so all but the newest of the older rollouts must have drained.
 *
 * A slot comes back only with a report that the pair is well at exactly the admitted generation and set, with a newer
 * revision taking the pair over, when the agent did not begin by start-by plus margin, or when the Cluster is gone. A
 * *failed* pair keeps its slot: the slot's record on the Rollout is what makes "failed ≥ concurrency stops" hold even
 * for a reader whose caches of reports and assignments are old.
 *
 * A cluster that is not connected before its admission is excused; it is admitted when it returns, also after completion.
 * One that goes offline after it keeps its slot.
 */
import { concurrencyOf } from './concurrency.ts'
import type { FreedSlot, RolloutCounts, RolloutDecision, RolloutInput } from './rollout-facts.ts'
import { budgetHold, failureHold, holdOf, nameSome } from './rollout-holds.ts'
import type { Hold } from './rollout-holds.ts'
import { pairKey, pairsOf } from './rollout-pairs.ts'
import type { Pair, ReleaseBundle, RolloutAdmission } from './rollout-pairs.ts'
import { nextAdmissions, pairsInUse, settleSlots } from './rollout-slots.ts'
import { countStates } from './state.ts'

export type * from './rollout-facts.ts'
export type { Hold } from './rollout-holds.ts'
export type { ReleaseBundle, RolloutAdmission, RolloutCluster } from './rollout-pairs.ts'
export { holdSentence } from './rollout-holds.ts'
export { START_BY_MARGIN_MS } from './rollout-slots.ts'

/** Decides the next step of a rollout. */
export function planRollout(input: RolloutInput): RolloutDecision {
  const { rollout, release } = input
  const { kept, freed } = settleSlots(input)
  const ring = rollout.rings[0]?.name ?? 'all'
  const held = (hold: Hold, kind: 'Wait' | 'Pause' | 'Fail' = 'Wait', counts?: RolloutCounts): RolloutDecision => ({
    kind,
    phase: kind === 'Pause' ? 'Paused' : kind === 'Fail' ? 'Failed' : kept.length > 0 ? 'Progressing' : 'Pending',
    admissions: kept,
    freed,
    ring,
    hold,
    message: hold.message,
    ...(counts ? { counts } : {}),
  })

  if (!release) {
    return held(holdOf('ReleaseMissing', 'Its Release does not exist.', 'the Release appearing', rollout.createdAt))
  }
  const undecided = release.bundles.filter((bundle) => !input.decisions.has(bundle.placement))
  const pairs = pairsOf({ ...input, namespace: rollout.namespace, bundles: release.bundles, admissions: kept })
  const counts = undecided.length === 0 ? countPairs(pairs) : undefined

  if (input.supersededBy !== undefined || rollout.closed) {
    const by = input.supersededBy ?? 'of a newer Release'
    const phase = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    const flight = kept.length > 0 ? ` ${kept.length} pairs still hold a slot.` : ''
    const message = `Rollout ${by} took over; nobody else is admitted here.${flight}`
    return { kind: 'Supersede', phase, by, admissions: kept, freed, message, ring, ...(counts ? { counts } : {}) }
  }
  const hold = outerHold(input, release.bundles, undecided)
  if (hold) return held(hold, hold.reason === 'Paused' ? 'Pause' : 'Wait', counts)
  return advance({ input, pairs, kept, freed, ring, counts: countPairs(pairs) })
}

/** Holds that do not depend on how the members are doing. */
function outerHold(
  input: RolloutInput,
  bundles: readonly ReleaseBundle[],
  undecided: readonly ReleaseBundle[],
): Hold | undefined {
  const since = input.rollout.createdAt
  const open = input.predecessors.filter((predecessor) => !predecessor.closed)
  if (open.length > 0) {
    const names = nameSome(open.map((predecessor) => predecessor.name))
    return holdOf(
      'PredecessorOpen',
      `The older rollout ${names} has not stopped admitting yet.`,
      'its being marked superseded',
      since,
    )
  }
  const deleted = bundles.filter((bundle) => input.deletedBundles?.includes(bundle.name))
  if (deleted.length > 0) {
    const names = nameSome(deleted.map((bundle) => bundle.name))
    return holdOf(
      'BundleDeleted',
      `Bundle ${names} was deleted. Clusters that run it keep it; nobody else receives it.`,
      'creating the Bundle again',
    )
  }
  if (undecided.length > 0) {
    const names = nameSome(undecided.map((bundle) => bundle.placement))
    return holdOf(
      'PlacementPending',
      `Placement ${names} has not decided yet.`,
      'its decisions being complete; check that the Placement exists',
      since,
    )
  }
  if (input.rollout.paused) {
    return holdOf('Paused', 'Paused; what was admitted goes on.', 'setting spec.paused to false')
  }
  return undefined
}

interface Members {
  readonly input: RolloutInput
  readonly pairs: readonly Pair[]
  readonly kept: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  readonly ring: string
  readonly counts: RolloutCounts
}

function advance({ input, pairs, kept, freed, ring, counts }: Members): RolloutDecision {
  const base = { freed, ring, counts, admissions: kept }
  const limit = concurrencyOf(input.rollout.rings[0]?.concurrency ?? 1, pairs.length)
  const inUse = pairsInUse(input, pairs, kept)
  const admitted = nextAdmissions({ input, pairs, kept, inUse, limit, ring })
  if (admitted.length > 0) {
    const message = `Admitted ${nameSome(admitted.map((admission) => admission.cluster))}; ${progress(counts)}.`
    return { ...base, kind: 'Admit', phase: 'Progressing', admitted, admissions: [...kept, ...admitted], message }
  }

  const holding = new Set(kept.map(pairKey))
  const unserved = pairs.filter((pair) => pair.online && !pair.well && !pair.handed && !holding.has(pairKey(pair)))
  const waiting = unserved.filter((pair) => !pair.blocked)
  const failed = pairs.filter((pair) => pair.failed)
  const failedKeys = new Set(failed.map(pairKey))
  const moving = [...inUse].filter((key) => !failedKeys.has(key)).map((key) => key.slice(key.indexOf('/') + 1))
  const wait = (hold: Hold): RolloutDecision => ({
    ...base,
    kind: 'Wait',
    phase: kept.length > 0 || counts.ready > 0 ? 'Progressing' : 'Pending',
    hold,
    message: hold.message,
  })

  if (failed.length > 0 && (failed.length >= limit || (moving.length === 0 && waiting.length === 0))) {
    const hold = failureHold(failed, limit)
    return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
  }
  if (waiting.length > 0) {
    return wait(
      budgetHold(
        limit,
        [...inUse].map((key) => key.slice(key.indexOf('/') + 1)),
        kept,
      ),
    )
  }
  if (moving.length > 0) {
    const message = `Waits for the report of ${nameSome(moving)}; ${progress(counts)}.`
    return wait({ ...budgetHold(limit, moving, kept), reason: 'ReportPending', message, releasedBy: 'their reports' })
  }
  if (unserved.length > 0) {
    const names = nameSome(unserved.map((pair) => pair.cluster))
    return wait(
      holdOf(
        'GenerationTaken',
        `${names} already has this generation, or a later one, with other content.`,
        'an edit of the Bundle, which makes a newer generation',
      ),
    )
  }
  if (pairs.length === 0) {
    return wait(
      holdOf('NoClusters', 'The placement selects no cluster.', 'a cluster that it selects', input.rollout.createdAt),
    )
  }
  const excused = pairs.filter((pair) => !pair.online && !pair.well).map((pair) => pair.cluster)
  if (excused.length === pairs.length) {
    const message = `No selected cluster is connected: ${nameSome(excused)}.`
    return wait(holdOf('AllOffline', message, 'one of them connecting', input.rollout.createdAt))
  }
  const late = excused.length > 0 ? `; ${nameSome(excused)} not connected, admitted on return` : ''
  return { ...base, kind: 'Complete', phase: 'Completed', excused, message: `${progress(counts)}${late}.` }
}

function countPairs(pairs: readonly Pair[]): RolloutCounts {
  const states = countStates(pairs.map((pair) => pair.state.state))
  return {
    total: pairs.length,
    ready: states.Ready,
    // A drifted pair is being brought back to what it should be.
    progressing: states.Progressing + states.Drifted,
    pending: states.Pending + states.NotSelected,
    failed: states.Failed,
    offline: states.Offline,
  }
}

function progress(counts: RolloutCounts): string {
  return `${counts.ready} of ${counts.total} ready`
}
