/** How the rings of a rollout stand: who is in which, who failed, what the moving ring may still do. */
import { parseTime } from '../../core/time/time.ts'
import type { FreedSlot, RolloutCounts, RolloutInput } from './types.ts'
import { judgeExit, judgeOpening, clearExitGates } from './gates/ring-opening.ts'
import type { RingExit, RingOpening } from './gates/ring-opening.ts'
import type { BundleOnCluster, RolloutAdmission } from './bundle-on-cluster.ts'
import { ringLimits, toleratedFailures } from './rings.ts'
import type { RingCount, RingSpec, RingState } from './rings.ts'
import { mergedList } from './roster.ts'
import type { Roster } from './roster.ts'
import { nextSlotDeadline, budgetUsage } from './slots.ts'

/** The pairs of a rollout and the rings they are in. */
export interface RolloutState {
  readonly input: RolloutInput
  readonly roster: Roster
  readonly kept: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  readonly counts: RolloutCounts
  readonly rings: readonly RingSpec[]
  readonly states: readonly RingState[]
  /** The place of the ring that is moving. */
  readonly current: number
}

/** What the next step is decided by. */
export type RingProgress = ReturnType<typeof ringProgress>

/** Works out how the rings stand. */
export function ringProgress(members: RolloutState) {
  const { input, roster, kept, freed, counts, rings, states, current } = members
  const ring = rings[current]!
  const moving = roster.ring(current)
  const { admits, shut, opening } = openingsOf(members)
  const isShut = shut === current
  // Rings whose gate is recorded stay open: for clusters that join or return.
  const open = [...rings.keys()].filter(admits)
  const openRings = open.map((i) => roster.ring(i))
  const before = rings
    .slice(0, current)
    .map((one, i) => Math.min(roster.ring(i).brokenClusters.size, toleratedFailures(one, roster.ring(i).clusters.size)))
    .reduce((sum, tolerated) => sum + tolerated, 0)
  const limits = ringLimits(ring, moving.clusters.size, before)
  const allowed = limits.tolerated - before
  const isTolerable = ring.maxFailed === undefined || moving.brokenClusters.size <= allowed
  const ringCounts = rings.map((_, i): RingCount => {
    const { members: size, ready, failed, excused } = roster.ring(i)
    const isTolerated = i === current && ring.maxFailed !== undefined && isTolerable
    const tolerated = isTolerated ? { tolerated: moving.sizeOf('broken') } : {}
    const spared = roster.ring(i).sizeOf('spared')
    return { members: size, ready, failed, excused, ...tolerated, ...(spared > 0 ? { spared } : {}) }
  })
  const count = ringCounts[current]!
  const gate: RingExit = isShut
    ? { kind: 'Short', need: count.members }
    : judgeExit(ring, states[current]!, count, input)
  const held = [opening?.kind === 'Held' ? opening : undefined, gate.kind === 'Gated' ? gate : undefined]
  const asks = held.flatMap((one) => one?.asks ?? [])
  const unringed = Array.from(roster.ring(-1).list('unringed'), ({ pair }) => pair.cluster)
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
      nextSlotDeadline(input, kept),
      gate.kind === 'Soaking' ? gate.until : undefined,
      ...held.map((one) => one?.until),
      ...openRings.flatMap(({ opens }) => [...opens.keys()]),
    ),
  }
  const inUse = budgetUsage(members)
  const failed = Array.from(mergedList(openRings, 'broken'), ({ pair }) => pair)
  return {
    ...members,
    ring,
    isLast: current === rings.length - 1,
    /** The places of rings that admit, and who is in them. */
    open,
    openRings,
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
function openingsOf({ input, roster, rings, states, current }: RolloutState): {
  admits(ring: number): boolean
  /** The first ring that is not open although it is its turn, or -1. */
  readonly shut: number
  readonly opening: RingOpening | undefined
} {
  const openings = rings.slice(0, current + 1).map((ring, i): RingOpening => {
    const { members, ready, sizeOf } = roster.ring(i)
    if (members === ready + sizeOf('spared')) return { kind: 'Open' }
    const before = i === 0 ? undefined : parseTime(states[i - 1]?.passedAt ?? '')
    return judgeOpening(ring, states[i]!, input, before ?? input.rollout.createdAt)
  })
  const shut = openings.findIndex(({ kind }) => kind !== 'Open')
  return { admits: (ring) => openings[ring]?.kind === 'Open', shut, opening: openings[shut] }
}

function exitState(ring: RingSpec, state: RingState, gate: RingExit): RingState {
  if (gate.kind === 'Soaking') return { ...state, readyAt: gate.readyAt }
  return gate.kind === 'Short' ? clearExitGates(ring, state) : gate.state
}

/** How many clusters some pairs are on. */
export function countClusters(pairs: readonly BundleOnCluster[]): number {
  return new Set(pairs.map(({ cluster }) => cluster)).size
}

function earliest(...times: readonly (number | undefined)[]): { readonly until?: number } {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? {} : { until: known.reduce((a, b) => Math.min(a, b)) }
}
