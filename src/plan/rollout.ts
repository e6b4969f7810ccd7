/**
 * When: who is admitted next. One Release moves through its rings; nothing reaches a cluster except through an admission.
 *
 *   in use = own admissions ∪ what superseded rollouts still have in flight ∪ pairs handed the target and not well at it
 *   busy   = clusters in use, without as many of those marked as failed as `maxFailed` tolerates
 *
 * A healthy cluster is admitted only while fewer than `concurrency` clusters are busy, so at most `concurrency` and
 * `maxFailed` clusters together are ever unwell because of rollouts of their bundle. A cluster that is busy already costs
 * nothing to admit (so the bundles of one commit reach it together, and a fix reaches those that the last release broke).
 * When more are busy than the concurrency, it was lowered, or slots are counted that an older rollout has not given back
 * yet; only in the first case may a pair in use go on, so all but the newest of the older rollouts must have drained.
 *
 * A slot comes back only with a report that the pair is well at exactly the admitted generation and set, with a newer
 * revision taking the pair over, when the agent did not begin by start-by plus margin, or when the Cluster is gone. A
 * *failed* pair keeps its record, marked: what is written on the Rollout is what makes the budgets hold even for a
 * reader whose caches of reports and assignments are old. A report alone, not yet written there, tolerates nothing.
 *
 * A cluster that is not connected before its admission is excused; it is admitted when it returns, also after completion.
 * One that goes offline after it keeps its slot.
 */
import { formatTime, parseTime } from '../core/time.ts'
import { removalPairs } from './removal.ts'
import type { RemovalFacts } from './removal.ts'
import type {
  FreedSlot,
  RolloutCounts,
  RolloutDecision,
  RolloutInput,
  RolloutPhase,
  Superseded,
} from './rollout-facts.ts'
import { budgetHold, failureHold, frozenHold, holdOf, nameSome, unrenderedHold, windowHold } from './rollout-holds.ts'
import type { Hold } from './rollout-holds.ts'
import { judgeExit, judgeOpening, withoutExit } from './rollout-opening.ts'
import type { Exit, Opening } from './rollout-opening.ts'
import { ringLimits, ringOf, ringStates, toleratedOf } from './rollout-rings.ts'
import type { RingCount, RingSpec, RingState } from './rollout-rings.ts'
import { pairKey, pairsOf } from './rollout-pairs.ts'
import { askedAgain } from './rollout-retry.ts'
import type { Pair, ReleaseBundle, RolloutAdmission } from './rollout-pairs.ts'
import { nextAdmissions, nextDue, settleSlots, whoIsInUse } from './rollout-slots.ts'
import { describeGone, supersededBundles, withoutSuperseded } from './rollout-supersede.ts'
import { countStates } from './state.ts'

export type * from './rollout-facts.ts'
export type { Hold } from './rollout-holds.ts'
export type { ReleaseBundle, RolloutAdmission, RolloutCluster } from './rollout-pairs.ts'
export type { RingCount, RingSpec, RingState } from './rollout-rings.ts'
export { holdSentence } from './rollout-holds.ts'
export { START_BY_MARGIN_MS } from './rollout-slots.ts'

/** Decides the next step of a rollout. */
export function planRollout(input: RolloutInput): RolloutDecision {
  if (input.removal) return planRemoval(input, input.removal)
  const superseded = supersededBundles(input)
  const { decision, pairs } = decide(input, superseded)
  const known = { superseded, ...(decision.counts ? { bundleCounts: countBundles(pairs) } : {}) }
  if (decision.kind === 'Supersede') return { ...decision, ...known }
  return { ...decision, ...known, message: `${decision.message}${describeGone(input, superseded)}` }
}

/** The same rings, budgets and holds, for a bundle that leaves. */
function planRemoval(input: RolloutInput, removal: RemovalFacts): RolloutDecision {
  const { pairs, kept, freed, settled } = removalPairs(input, removal)
  const counts = countPairs(pairs)
  const base = { admissions: kept, freed, counts, settled }
  const hold = outerHold({ ...input, release: undefined }, removal.keep ? [] : [removal])
  if (hold) {
    const isStopped = hold.reason === 'Paused' || hold.reason === 'Aborted'
    const phase = isStopped ? hold.reason : kept.length > 0 ? 'Progressing' : 'Pending'
    return { ...base, kind: isStopped ? 'Pause' : 'Wait', phase: phase as RolloutPhase, hold, message: hold.message }
  }
  if (pairs.length === 0) {
    const message = 'Nobody is left to remove it from.'
    return { ...base, kind: 'Complete', phase: 'Completed', excused: [], message }
  }
  return { ...advance({ input, pairs, kept, freed, counts, ...placeInRings(input, pairs) }), settled }
}

interface Decided {
  readonly decision: RolloutDecision
  readonly pairs: readonly Pair[]
}

function decide(whole: RolloutInput, superseded: readonly Superseded[]): Decided {
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
    return { decision: held(hold), pairs: [] }
  }
  const isOver = rollout.closed || superseded.length === whole.release.bundles.length
  const input = isOver ? whole : withoutSuperseded(whole, superseded)
  const { bundles } = input.release!
  const undecided = bundles.filter((bundle) => !input.decisions.has(bundle.placement))
  // What is over keeps the counts it ended with.
  const pairs = rollout.closed ? [] : pairsOf({ ...input, namespace: rollout.namespace, bundles, admissions: kept })
  const counts = undecided.length === 0 && !rollout.closed ? countPairs(pairs) : undefined

  if (isOver) {
    const by = superseded.at(-1)?.by ?? 'of a newer Release'
    const phase = rollout.phase === 'Completed' ? 'Completed' : 'Superseded'
    const flight = kept.length > 0 ? ` ${kept.length} pairs still hold a slot.` : ''
    const names = superseded.length === 0 ? by : nameSome(superseded.map((one) => one.by))
    const message = `Rollout ${names} took over; nobody else is admitted here.${flight}`
    const some = { by, admissions: kept, freed, message, ring, ...(counts ? { counts } : {}) }
    return { decision: { kind: 'Supersede', phase, ...some }, pairs }
  }
  const hold = outerHold(input, undecided)
  if (hold) {
    const stopped = held(hold, hold.reason === 'Paused' || hold.reason === 'Aborted' ? 'Pause' : 'Wait', counts)
    return { decision: hold.reason === 'Aborted' ? { ...stopped, phase: 'Aborted' } : stopped, pairs }
  }
  const decision = advance({ input, pairs, kept, freed, counts: countPairs(pairs), ...placeInRings(input, pairs) })
  return { decision, pairs }
}

/** The ring that is moving: the first whose gate is not recorded. */
function currentRing(rings: readonly RingSpec[], states: readonly RingState[]): number {
  const open = rings.findIndex(({ name }) => states.find((state) => state.name === name)?.passedAt === undefined)
  return open < 0 ? rings.length - 1 : open
}

function placeInRings(
  input: RolloutInput,
  pairs: readonly Pair[],
): Pick<Members, 'rings' | 'states' | 'current' | 'indexOf'> {
  const { rings } = input.rollout
  const asCluster = (pair: Pair) => ({
    name: pair.cluster,
    labels: pair.labels,
    groups: input.groupsOf?.(pair.placement, pair.cluster) ?? [],
  })
  const states = ringStates(
    rings,
    input.rollout.ringStates ?? [],
    new Map(pairs.map((pair) => [pair.cluster, asCluster(pair)])).values(),
  )
  // By the pair itself: keys made of two names for every question cost more than the answers.
  const places = new Map(pairs.map((pair) => [pair, ringOf(rings, states, asCluster(pair))]))
  return { rings, states, current: currentRing(rings, states), indexOf: (pair) => places.get(pair)! }
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
  if (input.rollout.paused && input.rollout.asks !== undefined) {
    return holdOf(
      'Paused',
      `${input.rollout.asks} Nothing goes before somebody says so.`,
      'flotilla rollout resume NAME',
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
  readonly counts: RolloutCounts
  readonly rings: readonly RingSpec[]
  readonly states: readonly RingState[]
  readonly current: number
  /** The place of a pair's ring, or -1. */
  readonly indexOf: (pair: Pair) => number
}

function advance(members: Members): RolloutDecision {
  const { input, kept, freed, counts, rings, states, current, indexOf } = members
  const ring = rings[current]!
  const { admits, shut, opening } = openingsOf(members)
  const isShut = shut === current
  // Rings whose gate is recorded stay open: for clusters that join or return.
  const pairs = members.pairs.filter((pair) => admits(indexOf(pair)))
  const marked = new Set(kept.filter(({ failedAt }) => failedAt !== undefined).map(pairKey))
  const isAsked = askedAgain(input, kept)
  const broken = new Set(members.pairs.filter((pair) => (pair.failed || marked.has(pairKey(pair))) && !isAsked(pair)))
  const hasFailed = (pair: Pair) => broken.has(pair)
  const inRing = rings.map((): Pair[] => [])
  for (const pair of members.pairs) inRing[indexOf(pair)]?.push(pair)
  const before = inRing
    .slice(0, current)
    .map((those, i) => Math.min(clustersOf(those.filter(hasFailed)), toleratedOf(rings[i]!, clustersOf(those))))
    .reduce((sum, tolerated) => sum + tolerated, 0)
  const limits = ringLimits(ring, clustersOf(inRing[current]!), before)
  const allowed = limits.tolerated - before
  const isTolerable = ring.maxFailed === undefined || clustersOf(inRing[current]!.filter(hasFailed)) <= allowed
  const ringCounts = inRing.map((those, i) => {
    const count = countRing(those, kept, hasFailed)
    const isTolerated = i === current && ring.maxFailed !== undefined && isTolerable
    return isTolerated ? { ...count, tolerated: those.filter(hasFailed).length } : count
  })
  const count = ringCounts[current]!
  const gate: Exit = isShut ? { kind: 'Short', need: count.members } : judgeExit(ring, states[current]!, count, input)
  const held = [opening?.kind === 'Held' ? opening : undefined, gate.kind === 'Gated' ? gate : undefined]
  const asks = held.flatMap((one) => one?.asks ?? [])
  const unringed = members.pairs.filter((pair) => indexOf(pair) < 0).map((pair) => pair.cluster)
  const base = {
    freed,
    ring: ring.name,
    counts,
    admissions: kept,
    ringCounts,
    unringed,
    rings: states.map((state, i) => {
      if (i === shut && opening?.kind === 'Held') return opening.state
      return i === current ? exitState(ring, state, gate) : state
    }),
    ...(asks.length > 0 ? { asks } : {}),
    ...earliest(
      nextDue(input, kept),
      gate.kind === 'Soaking' ? gate.until : undefined,
      ...held.map((one) => one?.until),
      ...pairs.map(opensAt),
    ),
  }
  const inUse = whoIsInUse(input, members.pairs, kept)
  const failed = pairs.filter(hasFailed)
  if (!isTolerable) {
    const hold = failureHold(failed, limits.flight, allowed)
    return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
  }
  if (opening?.kind === 'Ready') {
    const { state } = opening
    const people = (state.approvedBy ?? []).map(({ author }) => author)
    const message = `Ring ${state.name} opens${people.length > 0 ? `, approved by ${nameSome(people)}` : ''}.`
    const opened = base.rings.map((one, i) => (i === shut ? state : one))
    return { ...base, kind: 'Open', phase: 'Progressing', opened: state.name, message, rings: opened }
  }
  const admitted = nextAdmissions({ input, pairs, kept, inUse, limits, ringOf: (pair) => rings[indexOf(pair)]! })
  if (admitted.length > 0) {
    const again = new Set(admitted.map(pairKey))
    const others = kept.filter((admission) => !again.has(pairKey(admission)))
    const message = `Admitted ${nameSome(admitted.map((admission) => admission.cluster))}; ${progress(counts, input)}.`
    return { ...base, kind: 'Admit', phase: 'Progressing', admitted, admissions: [...others, ...admitted], message }
  }

  const holding = new Set(kept.map(pairKey))
  const unserved = pairs.filter((pair) => pair.free && !pair.well && !pair.handed && !holding.has(pairKey(pair)))
  const waiting = unserved.filter((pair) => !pair.blocked)
  const failedKeys = new Set(failed.map(pairKey))
  const moving = [...inUse.pairs].filter((key) => !failedKeys.has(key)).map(clusterOfKey)
  const wait = (hold: Hold): RolloutDecision => ({
    ...base,
    kind: 'Wait',
    phase: kept.length > 0 || counts.ready > 0 ? 'Progressing' : 'Pending',
    hold,
    message: hold.message,
  })

  const failuresFill = ring.maxFailed === undefined && clustersOf(failed) - before >= limits.flight
  if (
    failed.length > 0 &&
    (failuresFill || (gate.kind === 'Short' && !isShut && moving.length === 0 && waiting.length === 0))
  ) {
    const hold = failureHold(failed, limits.flight)
    return { ...base, kind: 'Fail', phase: 'Failed', hold, message: hold.message }
  }
  if (isShut && opening?.kind === 'Held') return wait(opening.hold)
  const isLast = current === rings.length - 1
  if (!isLast && gate.kind === 'Open' && members.pairs.length > 0) {
    const message = `Ring ${ring.name} is through: ${count.ready} of ${count.members} ${input.removal ? 'removed' : 'ready'}. Ring ${rings[current + 1]!.name} is next.`
    return {
      ...base,
      kind: 'Pass',
      phase: 'Progressing',
      passed: ring.name,
      message,
      rings: passing(base.rings, current, input.now),
    }
  }
  if (waiting.length > 0) {
    return wait(budgetHold(limits.flight, [...inUse.clusters], kept))
  }
  if (moving.length > 0) {
    const message = `Waits for the report of ${nameSome(moving)}; ${progress(counts, input)}.`
    return wait({
      ...budgetHold(limits.flight, moving, kept),
      reason: 'ReportPending',
      message,
      releasedBy: 'their reports',
    })
  }
  const unrendered = unserved.filter((pair) => pair.problem !== undefined)
  const taken = unserved.filter((pair) => pair.problem === undefined)
  if (taken.length > 0) {
    const names = nameSome(taken.map((pair) => pair.cluster))
    return wait(
      holdOf(
        'GenerationTaken',
        `${names} already has this generation, or a later one, with other content.`,
        'an edit of the Bundle, which makes a newer generation',
      ),
    )
  }
  if (members.pairs.length === 0) {
    return wait(
      holdOf('NoClusters', 'The placement selects no cluster.', 'a cluster that it selects', input.rollout.createdAt),
    )
  }
  if (gate.kind === 'Soaking') {
    const hold = holdOf(
      'Soaking',
      `Ring ${ring.name} is Ready and soaks.`,
      `time: ${formatTime(gate.until)}`,
      parseTime(gate.readyAt),
    )
    return wait(hold)
  }
  if (gate.kind === 'Gated') return wait(gate.hold)
  const excused = pairs.filter((pair) => !pair.free && !pair.well)
  const closed = excused.filter((pair) => pair.hold?.for === 'window')
  if (closed.length > 0 && (gate.kind === 'Short' || isLast)) return wait(windowHold(closed, progress(counts, input)))
  if (gate.kind === 'Short') {
    if (unrendered.length > 0) return wait(unrenderedHold(unrendered))
    if (pairs.every((pair) => !pair.free && !pair.well)) {
      const frozen = pairs.filter((pair) => pair.hold)
      if (frozen.length === pairs.length) return wait(frozenHold(frozen))
      const message = `No selected cluster ${describeExcused(excused)}.`
      return wait(holdOf('AllOffline', message, 'one of them connecting, or being unfrozen', input.rollout.createdAt))
    }
    const message = `Ring ${ring.name} has ${count.ready} ready of ${count.members} and needs ${gate.need}.`
    return wait(holdOf('RingShort', message, 'more of its clusters being Ready'))
  }
  if (opening?.kind === 'Held') return wait(opening.hold)
  if (unringed.length > 0) {
    const message = `${progress(counts, input)}; ${nameSome(unringed)} in no ring.`
    return wait(holdOf('NoRing', message, 'a ring that takes them, such as one without a selector'))
  }
  const late = excused.length > 0 ? `; ${describeLate(excused)}` : ''
  const losses = failed.length > 0 ? `; ${nameSome(failed.map((pair) => pair.cluster))} failed` : ''
  const unmade = unrendered.length > 0 ? ` ${unrenderedHold(unrendered).message}` : ''
  return {
    ...base,
    kind: 'Complete',
    phase: 'Completed',
    excused: excused.map((pair) => pair.cluster),
    message: `${progress(counts, input)}${losses}${late}.${unmade}`,
    rings: passing(base.rings, current, input.now),
  }
}

/**
 * Which rings admit. A ring that asks for approvals is opened only when somebody in it has something to receive; one that was
 * passed while it was empty still asks when clusters come.
 */
function openingsOf({ input, pairs, rings, states, current, indexOf }: Members): {
  admits(ring: number): boolean
  /** The first ring that is not open although it is its turn, or -1. */
  readonly shut: number
  readonly opening: Opening | undefined
} {
  const needy = new Set(pairs.filter((pair) => !pair.well).map(indexOf))
  const openings = rings.slice(0, current + 1).map((ring, i): Opening => {
    if (!needy.has(i)) return { kind: 'Open' }
    const before = i === 0 ? undefined : parseTime(states[i - 1]?.passedAt ?? '')
    return judgeOpening(ring, states[i]!, input, before ?? input.rollout.createdAt)
  })
  const shut = openings.findIndex(({ kind }) => kind !== 'Open')
  return { admits: (ring) => openings[ring]?.kind === 'Open', shut, opening: openings[shut] }
}

function describeExcused(excused: readonly Pair[]): string {
  const names = nameSome(excused.map((pair) => pair.cluster))
  return excused.some((pair) => pair.hold) ? `is connected and free: ${names}` : `is connected: ${names}`
}

function describeLate(excused: readonly Pair[]): string {
  const frozen = excused.filter((pair) => pair.hold).map((pair) => pair.cluster)
  const away = excused.filter((pair) => !pair.hold).map((pair) => pair.cluster)
  return [
    ...(away.length > 0 ? [`${nameSome(away)} not connected, admitted on return`] : []),
    ...(frozen.length > 0 ? [`${nameSome(frozen)} frozen, admitted when free`] : []),
  ].join('; ')
}

function countRing(
  members: readonly Pair[],
  kept: readonly RolloutAdmission[],
  hasFailed: (pair: Pair) => boolean,
): RingCount {
  const holding = new Set(kept.map(pairKey))
  // Who waits for a window of its own comes in time, and the ring waits for it; a freeze is no reason to stop the others.
  const isAway = (pair: Pair) => !pair.free && pair.hold?.for !== 'window'
  const isExcused = (pair: Pair) =>
    pair.problem !== undefined || (isAway(pair) && !pair.well && !pair.handed && !holding.has(pairKey(pair)))
  return {
    members: members.length,
    ready: members.filter((pair) => pair.well).length,
    failed: members.filter((pair) => hasFailed(pair) || pair.problem !== undefined).length,
    excused: members.filter(isExcused).length,
  }
}

function exitState(ring: RingSpec, state: RingState, gate: Exit): RingState {
  if (gate.kind === 'Soaking') return { ...state, readyAt: gate.readyAt }
  return gate.kind === 'Short' ? withoutExit(ring, state) : gate.state
}

function passing(states: readonly RingState[], current: number, now: number): readonly RingState[] {
  return states.map((state, i) => (i === current ? { ...state, passedAt: state.passedAt ?? formatTime(now) } : state))
}

function clustersOf(pairs: readonly Pair[]): number {
  return new Set(pairs.map(({ cluster }) => cluster)).size
}

function clusterOfKey(key: string): string {
  return key.slice(key.indexOf('/') + 1)
}

/** When a pair that waits may be free. */
function opensAt({ well, hold }: Pair): number | undefined {
  return well ? undefined : hold?.until
}

function earliest(...times: readonly (number | undefined)[]): { readonly until?: number } {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? {} : { until: Math.min(...known) }
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

function countBundles(pairs: readonly Pair[]): ReadonlyMap<string, RolloutCounts> {
  const groups = Map.groupBy(pairs, ({ bundle }) => bundle)
  return new Map([...groups].map(([bundle, those]) => [bundle, countPairs(those)]))
}

function progress(counts: RolloutCounts, input: RolloutInput): string {
  return `${counts.ready} of ${counts.total} ${input.removal ? 'removed' : 'ready'}`
}
