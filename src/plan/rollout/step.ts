/**
 * The next step of a rollout whose rings may move: fail, open a ring, admit clusters, pass a ring, wait, or complete.
 * Each function below knows one reason; the first function that applies decides.
 */
import { mergeSorted } from '../../core/collections/sorted-set.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'
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

export function nextStep(members: RolloutState): RolloutDecision {
  const standing = ringProgress(members)
  const move = tooManyFailed(standing) ?? ringOpens(standing) ?? someAreAdmitted(standing)
  if (move) return move
  const queue = queueOf(standing)
  return (
    failuresBlock(standing, queue) ??
    ringIsShut(standing) ??
    ringPasses(standing) ??
    slotsAreTaken(standing, queue) ??
    reportsArePending(standing, queue) ??
    generationIsTaken(standing, queue) ??
    noClusterSelected(standing) ??
    ringSoaks(standing) ??
    gateHolds(standing) ??
    windowsAreClosed(standing) ??
    ringIsShort(standing, queue) ??
    laterRingIsShut(standing) ??
    someAreInNoRing(standing) ??
    completed(standing, queue)
  )
}

/** Members that are not Ready yet. */
interface Queue {
  /** Number of members that could be admitted now. */
  readonly waiting: number
  /** Clusters that are admitted and have not failed. */
  readonly moving: readonly string[]
  /** Members for which no content could be rendered. */
  readonly unrendered: readonly BundleOnCluster[]
  /** Members that have this generation, or a later one, with other content. */
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
  const hold = failureHold(failed, { concurrency: limits.flight, maxFailed: allowed })
  return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
}

function ringOpens({ base, opening, shut }: RingProgress): Step {
  if (opening?.kind !== 'Ready') return undefined
  const { state } = opening
  const people = (state.approvedBy ?? []).map(({ author }) => author)
  const message = `Ring "${state.name}" opens${people.length > 0 ? `, approved by ${nameSome(people)}` : ''}.`
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

/** Failures take all slots, or no cluster moves any more and the ring cannot pass. */
function failuresBlock(standing: RingProgress, { moving, waiting }: Queue): Step {
  const { base, ring, failed, before, limits, gate, isShut } = standing
  if (failed.length === 0) return undefined
  const isFull = ring.maxFailed === undefined && countClusters(failed) - before >= limits.flight
  const isStuck = gate.kind === 'Short' && !isShut && moving.length === 0 && waiting === 0
  if (!isFull && !isStuck) return undefined
  const shortage = gate.kind === 'Short' && !isFull ? { shortage: ringShortage(standing, gate.need) } : {}
  const hold = failureHold(failed, { concurrency: limits.flight, ...shortage })
  return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
}

/** For example `ring "canary" has 3 of 4 clusters Ready and needs 4`. */
function ringShortage({ ring, count, input }: RingProgress, need: number): string {
  const state = input.removal ? 'removed' : 'Ready'
  const why = ring.readyShare === undefined ? '' : `, because its readyShare is ${ring.readyShare}`
  return `ring "${ring.name}" has ${count.ready} of ${plural(count.members, 'cluster')} ${state} and needs ${need}${why}`
}

function ringIsShut(standing: RingProgress): Step {
  const { isShut, opening } = standing
  return isShut && opening?.kind === 'Held' ? waitFor(standing, opening.hold) : undefined
}

function ringPasses({ base, input, roster, ring, rings, current, isLast, gate, count }: RingProgress): Step {
  if (isLast || gate.kind !== 'Open' || roster.size === 0) return undefined
  const done = `${count.ready} of ${count.members} ${input.removal ? 'removed' : 'ready'}`
  return {
    ...base,
    kind: 'Pass',
    phase: 'Progressing',
    passed: ring.name,
    message: `Ring "${ring.name}" passed: ${done}. Ring "${rings[current + 1]!.name}" is next.`,
    rings: passing(base.rings, current, input.now),
  }
}

// The agent of a revoked cluster is refused, so it never sends the receipt of a removal.
const REVOKED = 'A revoked cluster never confirms; `flotilla delete cluster NAME` ends the wait for it.'

function slotsAreTaken(standing: RingProgress, { waiting }: Queue): Step {
  const { limits, inUse, kept } = standing
  return waiting > 0 ? waitFor(standing, budgetHold(limits.flight, [...inUse.clusters], kept)) : undefined
}

function reportsArePending(standing: RingProgress, { moving }: Queue): Step {
  if (moving.length === 0) return undefined
  const { limits, kept, counts, input, roster } = standing
  const { next: _, ...hold } = budgetHold(limits.flight, moving, kept)
  const reports = new Set(moving).size === 1 ? 'the report' : 'the reports'
  const isAway = (cluster: string) => [...roster.of(cluster)].some(({ pair }) => !pair.free && !pair.hold)
  const way = input.removal && moving.some(isAway) ? ` ${REVOKED}` : ''
  const message = `Waits for ${reports} of ${nameSome(moving)}; ${progress(counts, input)}.${way}`
  return waitFor(standing, { ...hold, reason: 'ReportPending', message })
}

function generationIsTaken(standing: RingProgress, { taken }: Queue): Step {
  if (taken.length === 0) return undefined
  const names = taken.map((pair) => pair.cluster)
  const verb = new Set(names).size === 1 ? 'has' : 'have'
  const message = `${nameSome(names)} already ${verb} this generation, or a later one, with other content.`
  return waitFor(standing, holdOf('GenerationTaken', message, 'Edit the Bundle to create a newer generation.'))
}

function noClusterSelected(standing: RingProgress): Step {
  if (standing.roster.size > 0) return undefined
  const { createdAt } = standing.input.rollout
  return waitFor(
    standing,
    holdOf('NoClusters', 'The Placement selects no cluster.', 'Waits for a cluster that matches.', createdAt),
  )
}

function ringSoaks(standing: RingProgress): Step {
  const { gate, ring } = standing
  if (gate.kind !== 'Soaking') return undefined
  return waitFor(standing, holdOf('Soaking', `Ring "${ring.name}" is Ready and soaks until ${formatTime(gate.until)}.`))
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
  const { gate, openRings, ring, input } = standing
  if (gate.kind !== 'Short') return undefined
  if (unrendered.length > 0) return waitFor(standing, unrenderedHold(unrendered))
  const all = openRings.reduce((sum, { members }) => sum + members, 0)
  const held = openRings.reduce((sum, one) => sum + one.sizeOf('held'), 0)
  const away = openRings.reduce((sum, one) => sum + one.sizeOf('away'), 0)
  if (held + away === all) {
    if (held === all) return waitFor(standing, frozenHold(ring.name, pairsOn(openRings, 'held')))
    const message = `No selected cluster ${describeExcused(excusedMembers(standing))}.`
    const next = held > 0 ? 'Waits until one of them connects or can change.' : 'Waits until one of them connects.'
    const out = input.removal ? `${next} ${REVOKED}` : next
    return waitFor(standing, holdOf('AllOffline', message, out, input.rollout.createdAt))
  }
  const shortage = ringShortage(standing, gate.need)
  const next = input.removal
    ? `Waits for more removals; \`flotilla cluster decommission\` excludes a cluster that does not return. ${REVOKED}`
    : 'Waits for more Ready clusters.'
  return waitFor(standing, holdOf('RingShort', `R${shortage.slice(1)}.`, next))
}

function laterRingIsShut(standing: RingProgress): Step {
  return standing.opening?.kind === 'Held' ? waitFor(standing, standing.opening.hold) : undefined
}

function someAreInNoRing(standing: RingProgress): Step {
  const { unringed, counts, input } = standing
  if (unringed.length === 0) return undefined
  const isOne = new Set(unringed).size === 1
  const message = `${progress(counts, input)}; ${nameSome(unringed)} ${isOne ? 'is in no ring and is' : 'are in no ring and are'} never admitted.`
  const next = `Add a ring that includes ${isOne ? 'the cluster' : 'these clusters'}, for example a ring without a selector.`
  return waitFor(standing, holdOf('NoRing', message, next))
}

function completed(standing: RingProgress, { unrendered }: Queue): RolloutDecision {
  const { base, failed, counts, input, current, openRings } = standing
  const excused = excusedMembers(standing)
  const late = excused.length > 0 ? `; ${describeLate(excused)}` : ''
  const spared = pairsOn(openRings, 'spared').map((pair) => pair.cluster)
  const left =
    spared.length > 0
      ? `; ${nameSome(spared)} ${spared.length === 1 ? 'is not Ready with the content it keeps' : 'are not Ready with the content they keep'}`
      : ''
  const losses = failed.length > 0 ? `; ${nameSome(failed.map((pair) => pair.cluster))} failed` : ''
  const away = new Set(openRings.flatMap(({ wellAway }) => [...wellAway.keys()])).size
  const gone = away > 0 ? `; ${plural(away, 'cluster')} with this content ${away === 1 ? 'is' : 'are'} offline` : ''
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

/** Members that the rollout does not wait for: not connected, frozen, on hold, or outside of their window. */
function excusedMembers({ openRings }: RingProgress): readonly BundleOnCluster[] {
  const lists = [mergedList(openRings, 'away'), mergedList(openRings, 'held')]
  return Array.from(mergeSorted(lists, byReportOrder), ({ pair }) => pair)
}

function describeExcused(excused: readonly BundleOnCluster[]): string {
  const names = nameSome(excused.map((pair) => pair.cluster))
  return excused.some((pair) => pair.hold) ? `is connected and can change: ${names}` : `is connected: ${names}`
}

function describeLate(excused: readonly BundleOnCluster[]): string {
  const frozen = excused.filter((pair) => pair.hold).map((pair) => pair.cluster)
  const away = excused.filter((pair) => !pair.hold).map((pair) => pair.cluster)
  const isOne = (names: readonly string[]) => new Set(names).size === 1
  return [
    ...(away.length > 0
      ? [
          `${nameSome(away)} ${isOne(away) ? 'is offline and is admitted when it returns' : 'are offline and are admitted when they return'}`,
        ]
      : []),
    ...(frozen.length > 0
      ? [
          `${nameSome(frozen)} ${isOne(frozen) ? 'is frozen or on hold and is' : 'are frozen or on hold and are'} admitted afterwards`,
        ]
      : []),
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
