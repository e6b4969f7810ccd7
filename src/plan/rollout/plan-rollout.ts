/**
 * Decides which clusters are admitted next. One Release moves through its rings; content reaches a cluster only through
 * an admission. A member is one bundle on one cluster.
 *
 *   in use = own admissions ∪ slots of superseded rollouts ∪ members with the target delivered that are not Ready,
 *            without members of later rings: they count when their ring moves
 *   busy   = clusters in use, without as many clusters marked as failed as `maxFailed` tolerates
 *
 * A healthy cluster is admitted only while fewer than `concurrency` clusters are busy, so at most `concurrency` plus
 * `maxFailed` clusters of a ring are ever unavailable because of rollouts of their bundle. Admitting a busy cluster
 * costs no slot: the bundles of one commit reach the cluster together, and a fix reaches the clusters that the last
 * release broke. More clusters are busy than the concurrency allows after it was lowered, when bundles that were
 * released separately move together, or when clusters failed after they were Ready. Then only members in use continue,
 * and a member without a slot takes a slot where one is free beside the recorded slots.
 *
 * A slot is free again when the agent reports exactly the admitted generation and set as Ready or Drifted, when a newer
 * revision takes over, when the agent did not start by start-by plus margin, or when the Cluster is deleted. A failed
 * member keeps its admission, marked with `failedAt`. The record on the Rollout keeps the budgets, also for a reader
 * whose caches of reports and assignments are old. A report that is not recorded yet tolerates nothing and frees no
 * slot of an older rollout: the older rollout records it, and the newer rollout waits for that record.
 *
 * A rollback counts the members that it moves. A member that keeps its content (it had no earlier revision, is outside
 * of the scope, or was never changed) does not stop the rollback, Ready or not, because no other cluster gets its
 * content. In other rollouts this member counts, because other clusters are about to get the same content.
 *
 * A cluster that is not connected before its admission is excused. It is admitted when it returns, also after the
 * rollout completed. A cluster that goes offline after its admission keeps its slot.
 */
import { compact } from '../../core/compact.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
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

/** Decides the next step of a rollout; with the changes since the last pass, from the cached roster. */
export function planRollout(input: RolloutInput, since?: RosterChanges): RolloutDecision {
  if (input.removal) return planRemoval(input, input.removal)
  const superseded = supersededBundles(input)
  const { decision, roster } = decide(input, superseded, since)
  const known = compact({ superseded, bundleCounts: decision.counts && roster ? roster.bundleCounts() : undefined })
  if (decision.kind === 'Supersede') return { ...decision, ...known }
  return { ...decision, ...known, message: `${decision.message}${describeSuperseded(input, superseded)}` }
}

/** The same rings, budgets and holds for the removal of a bundle. */
function planRemoval(input: RolloutInput, removal: RemovalFacts): RolloutDecision {
  const { pairs, kept, freed, settled, spared } = removalPairs(input, removal)
  const { roster, states } = buildRoster(input, pairs, kept)
  // The states of a removal are of what is removed, not of what runs.
  const { states: _, ...counts } = roster.counts()
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
    const message =
      spared.length > 0 ? `${removalProgress(counts, known)}.` : `No cluster has Bundle "${removal.bundle}" any more.`
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
  const held = (hold: Hold, kind: 'Wait' | 'Pause' | 'Fail' = 'Wait', counts?: RolloutCounts): RolloutDecision =>
    compact({
      kind,
      phase: kind === 'Pause' ? 'Paused' : kind === 'Fail' ? 'Failed' : kept.length > 0 ? 'Progressing' : 'Pending',
      admissions: kept,
      freed,
      ring,
      hold,
      message: hold.message,
      counts,
    })

  if (!whole.release) {
    const message = 'The Release of this Rollout does not exist.'
    const hold = holdOf('ReleaseMissing', message, 'Waits for the Release.', rollout.createdAt)
    return { decision: held(hold) }
  }
  const isOver = rollout.closed || superseded.length === whole.release.bundles.length
  const input = isOver ? whole : withoutSuperseded({ ...whole, predecessors: countedPredecessors(whole) }, superseded)
  const { bundles } = input.release!
  const undecided = bundles.filter((bundle) => !input.decisions.has(bundle.placement))
  // A roster without undecided Placements is incomplete and is not cached.
  const isWhole = !isOver && undecided.length === 0
  // A closed rollout keeps its last counts.
  const { roster, states } = rollout.closed
    ? buildRoster(input, [], kept)
    : rebuildRoster(input, bundles, kept, isWhole ? since : undefined)
  const counts = undecided.length === 0 && !rollout.closed ? roster.counts() : undefined

  if (isOver) {
    const by = superseded.at(-1)?.by ?? 'a newer Release'
    const phase = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    const flight =
      kept.length > 0 ? ` ${plural(kept.length, 'slot')} ${kept.length === 1 ? 'is' : 'are'} still taken.` : ''
    const names =
      superseded.length === 0
        ? by
        : `${superseded.length === 1 ? 'rollout' : 'rollouts'} ${nameSome(superseded.map(({ by: name }) => name))}`
    const message = `Superseded by ${names}; no further cluster is admitted here.${flight}`
    const some = compact({ by, admissions: kept, freed, message, ring, counts })
    return { decision: { kind: 'Supersede', phase, ...some }, roster }
  }
  const hold = outerHold(input, undecided)
  if (hold?.reason === 'BundleDeleted') {
    const ended = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    return { decision: { ...held(hold), ...compact({ phase: kept.length > 0 ? undefined : ended }) }, roster }
  }
  if (hold) {
    const stopped = held(hold, hold.reason === 'Paused' || hold.reason === 'Aborted' ? 'Pause' : 'Wait', counts)
    return { decision: hold.reason === 'Aborted' ? { ...stopped, phase: 'Aborted' } : stopped, roster }
  }
  const decision = nextStep({ input, roster, kept, freed, counts: roster.counts(), ...ringsOf(input, states) })
  return { decision, roster }
}

/** The index of the moving ring: the first that has not passed. */
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

/** Holds that do not depend on the state of the members. */
function outerHold(input: RolloutInput, undecided: readonly Pick<ReleaseBundle, 'placement'>[]): Hold | undefined {
  const since = input.rollout.createdAt
  const open = input.predecessors.filter((predecessor) => !predecessor.closed)
  if (open.length > 0) {
    const names = nameSome(open.map((predecessor) => predecessor.name))
    return holdOf(
      'PredecessorOpen',
      `The older rollout ${names} still admits clusters.`,
      'Waits until it is marked as superseded.',
      since,
    )
  }
  if (input.release?.bundles.length === 0) {
    const names = nameSome(input.deletedBundles ?? [])
    return holdOf(
      'BundleDeleted',
      `Bundle ${names} was deleted; no further cluster receives it. A separate Rollout removes it.`,
      'Create the Bundle again to continue.',
    )
  }
  if (undecided.length > 0) {
    const names = nameSome(undecided.map((bundle) => bundle.placement))
    return holdOf(
      'PlacementPending',
      `Placement ${names} has no complete decisions yet.`,
      'Waits for the decisions; check that the Placement exists.',
      since,
    )
  }
  if (input.rollout.aborted) {
    const message = 'The rollout is aborted: clusters already admitted continue, no further cluster is admitted.'
    return holdOf('Aborted', message, 'A newer Release starts a new rollout.')
  }
  if (input.rollout.paused) {
    const { asks, name = '', namespace } = input.rollout
    const why =
      asks === undefined
        ? 'The rollout is paused: clusters already admitted continue.'
        : `${asks} No cluster is admitted before a person resumes the rollout.`
    return holdOf('Paused', why, `Resume it with \`flotilla rollout resume ${name} -n ${namespace}\`.`)
  }
  return undefined
}
