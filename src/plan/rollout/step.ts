/**
 * The next step of a rollout whose rings may move: stop, open a ring, admit, let a ring be through, wait, or be done.
 * Each function below knows one reason; the first one that applies decides.
 */
import { mergeSorted } from '../../core/collections/sorted-set.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { removalProgress } from '../document/removal.ts'
import type { RolloutCounts, RolloutDecision, RolloutInput } from './types.ts'
import { budgetHold, failureHold, frozenHold, holdOf, unrenderedHold, windowHold } from './holds.ts'
import type { Hold } from './holds.ts'
import { bundleOnClusterKey } from './bundle-on-cluster.ts'
import type { BundleOnCluster } from './bundle-on-cluster.ts'
import type { RingState } from './rings.ts'
import { byReportOrder, mergedList } from './roster.ts'
import type { ListName } from './roster.ts'
import { nextAdmissions } from './slots.ts'
import { countClusters, ringProgress } from './ring-progress.ts'
import type { RolloutState, RingProgress } from './ring-progress.ts'

type Step = RolloutDecision | undefined

/** Decides it. */
export function nextStep(members: RolloutState): RolloutDecision {
  const standing = ringProgress(members)
  const move = tooManyFailed(standing) ?? ringOpens(standing) ?? someAreAdmitted(standing)
  if (move) return move
  const queue = queueOf(standing)
  return (
    failuresBlock(standing, queue) ??
    ringIsShut(standing) ??
    ringIsThrough(standing) ??
    slotsAreTaken(standing, queue) ??
    reportsArePending(standing, queue) ??
    generationIsTaken(standing, queue) ??
    nobodyIsSelected(standing) ??
    ringSoaks(standing) ??
    gateHolds(standing) ??
    windowsAreClosed(standing) ??
    ringIsShort(standing, queue) ??
    laterRingIsShut(standing) ??
    someAreInNoRing(standing) ??
    completed(standing, queue)
  )
}

/** Who is not served yet, and why. */
interface Queue {
  /** How many could be admitted now. */
  readonly waiting: number
  /** Admitted and on their way: names of clusters. */
  readonly moving: readonly string[]
  /** Nothing could be rendered for them. */
  readonly unrendered: readonly BundleOnCluster[]
  /** They have this generation, or a later one, with other content. */
  readonly taken: readonly BundleOnCluster[]
}

function queueOf({ openRings, failed, inUse }: RingProgress): Queue {
  const failedKeys = new Set(failed.map(bundleOnClusterKey))
  return {
    waiting: openRings.reduce((sum, { waiting }) => sum + waiting, 0),
    moving: [...inUse.pairs].filter((key) => !failedKeys.has(key)).map(clusterOfKey),
    unrendered: pairsOn(openRings, 'unrendered'),
    taken: pairsOn(openRings, 'taken'),
  }
}

function pairsOn(rings: RingProgress['openRings'], name: ListName): BundleOnCluster[] {
  return Array.from(mergedList(rings, name), ({ pair }) => pair)
}

function tooManyFailed({ base, isTolerable, failed, limits, allowed }: RingProgress): Step {
  if (isTolerable) return undefined
  const hold = failureHold(failed, limits.flight, allowed)
  return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
}

function ringOpens({ base, opening, shut }: RingProgress): Step {
  if (opening?.kind !== 'Ready') return undefined
  const { state } = opening
  const people = (state.approvedBy ?? []).map(({ author }) => author)
  const message = `Ring ${state.name} opens${people.length > 0 ? `, approved by ${nameSome(people)}` : ''}.`
  const rings = base.rings.map((one, i) => (i === shut ? state : one))
  return { ...base, kind: 'Open', phase: 'Progressing', opened: state.name, message, rings }
}

function someAreAdmitted(standing: RingProgress): Step {
  const { base, input, kept, counts } = standing
  const admitted = nextAdmissions(standing)
  if (admitted.length === 0) return undefined
  const again = new Set(admitted.map(bundleOnClusterKey))
  const others = kept.filter((admission) => !again.has(bundleOnClusterKey(admission)))
  const message = `Admitted ${nameSome(admitted.map((admission) => admission.cluster))}; ${progress(counts, input)}.`
  return { ...base, kind: 'Admit', phase: 'Progressing', admitted, admissions: [...others, ...admitted], message }
}

/** The budget is full of failures, or nothing moves any more and the ring cannot get there. */
function failuresBlock(standing: RingProgress, { moving, waiting }: Queue): Step {
  const { base, ring, failed, before, limits, gate, isShut } = standing
  if (failed.length === 0) return undefined
  const isFull = ring.maxFailed === undefined && countClusters(failed) - before >= limits.flight
  const isStuck = gate.kind === 'Short' && !isShut && moving.length === 0 && waiting === 0
  if (!isFull && !isStuck) return undefined
  const hold = failureHold(failed, limits.flight)
  return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
}

function ringIsShut(standing: RingProgress): Step {
  const { isShut, opening } = standing
  return isShut && opening?.kind === 'Held' ? waitFor(standing, opening.hold) : undefined
}

function ringIsThrough({ base, input, roster, ring, rings, current, isLast, gate, count }: RingProgress): Step {
  if (isLast || gate.kind !== 'Open' || roster.size === 0) return undefined
  const done = `${count.ready} of ${count.members} ${input.removal ? 'removed' : 'ready'}`
  return {
    ...base,
    kind: 'Pass',
    phase: 'Progressing',
    passed: ring.name,
    message: `Ring ${ring.name} is through: ${done}. Ring ${rings[current + 1]!.name} is next.`,
    rings: passing(base.rings, current, input.now),
  }
}

function slotsAreTaken(standing: RingProgress, { waiting }: Queue): Step {
  const { limits, inUse, kept } = standing
  return waiting > 0 ? waitFor(standing, budgetHold(limits.flight, [...inUse.clusters], kept)) : undefined
}

function reportsArePending(standing: RingProgress, { moving }: Queue): Step {
  if (moving.length === 0) return undefined
  const { limits, kept, counts, input } = standing
  return waitFor(standing, {
    ...budgetHold(limits.flight, moving, kept),
    reason: 'ReportPending',
    message: `Waits for the report of ${nameSome(moving)}; ${progress(counts, input)}.`,
    releasedBy: 'their reports',
  })
}

function generationIsTaken(standing: RingProgress, { taken }: Queue): Step {
  if (taken.length === 0) return undefined
  const message = `${nameSome(taken.map((pair) => pair.cluster))} already has this generation, or a later one, with other content.`
  return waitFor(standing, holdOf('GenerationTaken', message, 'an edit of the Bundle, which makes a newer generation'))
}

function nobodyIsSelected(standing: RingProgress): Step {
  if (standing.roster.size > 0) return undefined
  const { createdAt } = standing.input.rollout
  return waitFor(
    standing,
    holdOf('NoClusters', 'The placement selects no cluster.', 'a cluster that it selects', createdAt),
  )
}

function ringSoaks(standing: RingProgress): Step {
  const { gate, ring } = standing
  if (gate.kind !== 'Soaking') return undefined
  const until = `time: ${formatTime(gate.until)}`
  return waitFor(standing, holdOf('Soaking', `Ring ${ring.name} is Ready and soaks.`, until, parseTime(gate.readyAt)))
}

function gateHolds(standing: RingProgress): Step {
  return standing.gate.kind === 'Gated' ? waitFor(standing, standing.gate.hold) : undefined
}

function windowsAreClosed(standing: RingProgress): Step {
  const { gate, isLast, counts, input, openRings } = standing
  if (gate.kind !== 'Short' && !isLast) return undefined
  const closed = pairsOn(openRings, 'held').filter((pair) => pair.hold?.for === 'window')
  if (closed.length === 0) return undefined
  return waitFor(standing, windowHold(closed, progress(counts, input)))
}

function ringIsShort(standing: RingProgress, { unrendered }: Queue): Step {
  const { gate, openRings, ring, count, input } = standing
  if (gate.kind !== 'Short') return undefined
  if (unrendered.length > 0) return waitFor(standing, unrenderedHold(unrendered))
  const all = openRings.reduce((sum, { members }) => sum + members, 0)
  const held = openRings.reduce((sum, one) => sum + one.sizeOf('held'), 0)
  const away = openRings.reduce((sum, one) => sum + one.sizeOf('away'), 0)
  if (held + away === all) {
    if (held === all) return waitFor(standing, frozenHold(pairsOn(openRings, 'held')))
    const message = `No selected cluster ${describeExcused(excusedOf(standing))}.`
    const release = 'one of them connecting, or being unfrozen'
    return waitFor(standing, holdOf('AllOffline', message, release, input.rollout.createdAt))
  }
  const message = `Ring ${ring.name} has ${count.ready} ready of ${count.members} and needs ${gate.need}.`
  return waitFor(standing, holdOf('RingShort', message, 'more of its clusters being Ready'))
}

function laterRingIsShut(standing: RingProgress): Step {
  return standing.opening?.kind === 'Held' ? waitFor(standing, standing.opening.hold) : undefined
}

function someAreInNoRing(standing: RingProgress): Step {
  const { unringed, counts, input } = standing
  if (unringed.length === 0) return undefined
  const message = `${progress(counts, input)}; ${nameSome(unringed)} in no ring.`
  return waitFor(standing, holdOf('NoRing', message, 'a ring that takes them, such as one without a selector'))
}

function completed(standing: RingProgress, { unrendered }: Queue): RolloutDecision {
  const { base, failed, counts, input, current, openRings } = standing
  const excused = excusedOf(standing)
  const late = excused.length > 0 ? `; ${describeLate(excused)}` : ''
  const spared = pairsOn(openRings, 'spared').map((pair) => pair.cluster)
  const left =
    spared.length > 0 ? `; ${nameSome(spared)} not ready at what ${spared.length === 1 ? 'it keeps' : 'they keep'}` : ''
  const losses = failed.length > 0 ? `; ${nameSome(failed.map((pair) => pair.cluster))} failed` : ''
  const away = new Set(openRings.flatMap(({ wellAway }) => [...wellAway.keys()])).size
  const gone = away > 0 ? `; ${away} ${away === 1 ? 'has it and is' : 'have it and are'} offline` : ''
  const unmade = unrendered.length > 0 ? ` ${unrenderedHold(unrendered).message}` : ''
  return {
    ...base,
    kind: 'Complete',
    phase: 'Completed',
    excused: excused.map((pair) => pair.cluster),
    message: `${progress(counts, input)}${gone}${losses}${left}${late}.${unmade}`,
    rings: passing(base.rings, current, input.now),
  }
}

function waitFor({ base, kept, counts }: RingProgress, hold: Hold): RolloutDecision {
  const phase = kept.length > 0 || counts.ready > 0 ? 'Progressing' : 'Pending'
  return { ...base, kind: 'Wait', phase, hold, message: hold.message }
}

/** Who is not waited for: not connected, frozen, or outside of its window. */
function excusedOf({ openRings }: RingProgress): readonly BundleOnCluster[] {
  const lists = [mergedList(openRings, 'away'), mergedList(openRings, 'held')]
  return Array.from(mergeSorted(lists, byReportOrder), ({ pair }) => pair)
}

function describeExcused(excused: readonly BundleOnCluster[]): string {
  const names = nameSome(excused.map((pair) => pair.cluster))
  return excused.some((pair) => pair.hold) ? `is connected and free: ${names}` : `is connected: ${names}`
}

function describeLate(excused: readonly BundleOnCluster[]): string {
  const frozen = excused.filter((pair) => pair.hold).map((pair) => pair.cluster)
  const away = excused.filter((pair) => !pair.hold).map((pair) => pair.cluster)
  return [
    ...(away.length > 0 ? [`${nameSome(away)} not connected, admitted on return`] : []),
    ...(frozen.length > 0 ? [`${nameSome(frozen)} frozen, admitted when free`] : []),
  ].join('; ')
}

function passing(states: readonly RingState[], current: number, now: number): readonly RingState[] {
  return states.map((state, i) => (i === current ? { ...state, passedAt: state.passedAt ?? formatTime(now) } : state))
}

function clusterOfKey(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

function progress(counts: RolloutCounts, input: RolloutInput): string {
  return input.removal ? removalProgress(counts, input.removal) : `${counts.ready} of ${counts.total} ready`
}
