/**
 * When: who is admitted next. One Release moves through its rings; nothing reaches a cluster except through an admission.
 *
 *   in use = own admissions ∪ what superseded rollouts still have in flight ∪ pairs handed the target and not well at it,
 *            without those of rings whose turn has not come: they count when it does
 *   busy   = clusters in use, without as many of those marked as failed as `maxFailed` tolerates
 *
 * A healthy cluster is admitted only while fewer than `concurrency` clusters are busy, so at most `concurrency` and
 * `maxFailed` clusters together are ever unwell in a ring because of rollouts of their bundle. A cluster that is busy already costs
 * nothing to admit (so the bundles of one commit reach it together, and a fix reaches those that the last release broke).
 * More are busy than the concurrency where it was lowered, where bundles that were released apart move together now, or where
 * some went bad after they were Ready. Then only pairs in use go on; one without a slot takes one where it fits beside those that
 * are recorded.
 *
 * A slot comes back only with a report that the pair is well at exactly the admitted generation and set, with a newer
 * revision taking the pair over, when the agent did not begin by start-by plus margin, or when the Cluster is gone. A
 * *failed* pair keeps its record, marked: what is written on the Rollout is what makes the budgets hold even for a
 * reader whose caches of reports and assignments are old. A report alone, not yet written there, tolerates nothing, and
 * gives no slot of an older rollout back: that one does it, and the newer one waits for its word.
 *
 * A rollback counts what it moves. Whoever it leaves as it is (it ran nothing before, is outside of the scope, or was never
 * touched) does not stop the others from going back, well or not: nobody else gets what it has. In every other rollout
 * such a pair counts, for others are about to get the same.
 *
 * A cluster that is not connected before its admission is excused; it is admitted when it returns, also after completion.
 * One that goes offline after it keeps its slot.
 */
import { nameSome } from '../../core/text/name-some.ts'
import { removalPairs, removalProgress } from '../document/removal.ts'
import type { RemovalFacts } from '../document/removal.ts'
import type { RolloutCounts, RolloutDecision, RolloutInput, RolloutPhase, Superseded } from './types.ts'
import { holdOf } from './holds.ts'
import type { Hold } from './holds.ts'
import { rebuildRoster, buildRoster } from './build-roster.ts'
import type { RosterChanges } from './build-roster.ts'
import type { RingSpec, RingState } from './rings.ts'
import type { ReleaseBundle } from './bundle-on-cluster.ts'
import type { Roster } from './roster.ts'
import { settleSlots } from './slots.ts'
import type { RolloutState } from './ring-progress.ts'
import { nextStep } from './step.ts'
import { countedPredecessors, describeSuperseded, supersededBundles, withoutSuperseded } from './supersede.ts'

/** Decides the next step of a rollout; with a book of what it was like at the last look, by what has changed since. */
export function planRollout(input: RolloutInput, since?: RosterChanges): RolloutDecision {
  if (input.removal) return planRemoval(input, input.removal)
  const superseded = supersededBundles(input)
  const { decision, roster } = decide(input, superseded, since)
  const known = { superseded, ...(decision.counts && roster ? { bundleCounts: roster.bundleCounts() } : {}) }
  if (decision.kind === 'Supersede') return { ...decision, ...known }
  return { ...decision, ...known, message: `${decision.message}${describeSuperseded(input, superseded)}` }
}

/** The same rings, budgets and holds, for a bundle that leaves. */
function planRemoval(input: RolloutInput, removal: RemovalFacts): RolloutDecision {
  const { pairs, kept, freed, settled, spared } = removalPairs(input, removal)
  const { roster, states } = buildRoster(input, pairs, kept)
  const counts = roster.counts()
  const ends = { settled, kept: spared }
  const base = { admissions: kept, freed, counts, ...ends }
  const known = { ...removal, kept: spared }
  const hold = outerHold({ ...input, release: undefined }, removal.keep ? [] : [removal])
  if (hold) {
    const isStopped = hold.reason === 'Paused' || hold.reason === 'Aborted'
    const phase = isStopped ? hold.reason : kept.length > 0 ? 'Progressing' : 'Pending'
    return { ...base, kind: isStopped ? 'Pause' : 'Wait', phase: phase as RolloutPhase, hold, message: hold.message }
  }
  if (pairs.length === 0) {
    const message = spared.length > 0 ? `${removalProgress(counts, known)}.` : 'Nobody is left to remove it from.'
    return { ...base, kind: 'Complete', phase: 'Completed', excused: [], message }
  }
  const members = { input: { ...input, removal: known }, roster, kept, freed, counts, ...ringsOf(input, states) }
  return { ...nextStep(members), ...ends }
}

interface Decided {
  readonly decision: RolloutDecision
  readonly roster?: Roster
}

function decide(whole: RolloutInput, superseded: readonly Superseded[], since: RosterChanges | undefined): Decided {
  const { rollout } = whole
  const { kept, freed } = settleSlots(whole)
  const ring = rollout.rings[currentRing(rollout.rings, rollout.ringStates ?? [])]?.name ?? 'all'
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

  if (!whole.release) {
    const hold = holdOf('ReleaseMissing', 'Its Release does not exist.', 'the Release appearing', rollout.createdAt)
    return { decision: held(hold) }
  }
  const isOver = rollout.closed || superseded.length === whole.release.bundles.length
  const input = isOver ? whole : withoutSuperseded({ ...whole, predecessors: countedPredecessors(whole) }, superseded)
  const { bundles } = input.release!
  const undecided = bundles.filter((bundle) => !input.decisions.has(bundle.placement))
  // Only what is known of everybody is worth remembering.
  const isWhole = !isOver && undecided.length === 0
  // What is over keeps the counts it ended with.
  const { roster, states } = rollout.closed
    ? buildRoster(input, [], kept)
    : rebuildRoster(input, bundles, kept, isWhole ? since : undefined)
  const counts = undecided.length === 0 && !rollout.closed ? roster.counts() : undefined

  if (isOver) {
    const by = superseded.at(-1)?.by ?? 'of a newer Release'
    const phase = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    const flight = kept.length > 0 ? ` ${kept.length} pairs still hold a slot.` : ''
    const names = superseded.length === 0 ? by : nameSome(superseded.map((one) => one.by))
    const message = `Rollout ${names} took over; nobody else is admitted here.${flight}`
    const some = { by, admissions: kept, freed, message, ring, ...(counts ? { counts } : {}) }
    return { decision: { kind: 'Supersede', phase, ...some }, roster }
  }
  const hold = outerHold(input, undecided)
  if (hold?.reason === 'BundleDeleted') {
    const ended = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    return { decision: { ...held(hold), ...(kept.length > 0 ? {} : { phase: ended }) }, roster }
  }
  if (hold) {
    const stopped = held(hold, hold.reason === 'Paused' || hold.reason === 'Aborted' ? 'Pause' : 'Wait', counts)
    return { decision: hold.reason === 'Aborted' ? { ...stopped, phase: 'Aborted' } : stopped, roster }
  }
  const decision = nextStep({ input, roster, kept, freed, counts: roster.counts(), ...ringsOf(input, states) })
  return { decision, roster }
}

/** The ring that is moving: the first whose gate is not recorded. */
function currentRing(rings: readonly RingSpec[], states: readonly RingState[]): number {
  const open = rings.findIndex(({ name }) => states.find((state) => state.name === name)?.passedAt === undefined)
  return open < 0 ? rings.length - 1 : open
}

function ringsOf(
  { rollout: { rings } }: RolloutInput,
  states: readonly RingState[],
): Pick<RolloutState, 'rings' | 'states' | 'current'> {
  return { rings, states, current: currentRing(rings, states) }
}

/** Holds that do not depend on how the members are doing. */
function outerHold(input: RolloutInput, undecided: readonly Pick<ReleaseBundle, 'placement'>[]): Hold | undefined {
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
  if (input.release?.bundles.length === 0) {
    const names = nameSome(input.deletedBundles ?? [])
    return holdOf(
      'BundleDeleted',
      `Bundle ${names} was deleted; nobody else receives it. Its removal is a Rollout of its own.`,
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
  if (input.rollout.aborted) {
    return holdOf('Aborted', 'Aborted; what was admitted goes on, nobody else is admitted.', 'a newer Release')
  }
  if (input.rollout.paused) {
    const { asks, name = '', namespace } = input.rollout
    const why =
      asks === undefined ? 'Paused; what was admitted goes on.' : `${asks} Nothing goes before somebody says so.`
    return holdOf('Paused', why, `\`flotilla rollout resume ${name} -n ${namespace}\``)
  }
  return undefined
}
