/** How the rings of a rollout stand: who is in which, who failed, what the moving ring may still do. */
import { parseTime } from '../core/time.ts'
import type { FreedSlot, RolloutCounts, RolloutInput } from './rollout-facts.ts'
import { judgeExit, judgeOpening, withoutExit } from './rollout-opening.ts'
import type { Exit, Opening } from './rollout-opening.ts'
import { pairKey } from './rollout-pairs.ts'
import type { Pair, RolloutAdmission } from './rollout-pairs.ts'
import { askedAgain } from './rollout-retry.ts'
import { ringLimits, toleratedOf } from './rollout-rings.ts'
import type { RingCount, RingSpec, RingState } from './rollout-rings.ts'
import { nextDue, whoIsInUse } from './rollout-slots.ts'

/** The pairs of a rollout and the rings they are in. */
export interface Members {
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

/** What the next step is decided by. */
export type Standing = ReturnType<typeof standingOf>

/** Works out how the rings stand. */
export function standingOf(members: Members) {
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
  const inUse = whoIsInUse(members, (pair) => indexOf(pair) > current)
  const failed = pairs.filter(hasFailed)
  return {
    ...members,
    ring,
    isLast: current === rings.length - 1,
    /** The pairs of rings that admit. */
    open: pairs,
    /** The first ring that is not open although it is its turn, or -1. */
    shut,
    isShut,
    opening,
    failed,
    /** How many of rings that are through failed and were tolerated. */
    before,
    limits,
    allowed,
    isTolerable,
    count,
    gate,
    inUse,
    unringed,
    /** What every decision says. */
    base,
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

/** How many clusters some pairs are on. */
export function clustersOf(pairs: readonly Pair[]): number {
  return new Set(pairs.map(({ cluster }) => cluster)).size
}

/** When a pair that waits may be free. */
function opensAt({ well, hold }: Pair): number | undefined {
  return well ? undefined : hold?.until
}

function earliest(...times: readonly (number | undefined)[]): { readonly until?: number } {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? {} : { until: Math.min(...known) }
}
