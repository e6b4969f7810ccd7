/** The progress of a rollout's rings: members, failures, and what the moving ring may still do. */
import { compact } from '../../core/compact.ts'
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

/** The roster and rings of a rollout in one pass. */
export interface RolloutState {
  readonly input: RolloutInput
  readonly roster: Roster
  readonly kept: readonly RolloutAdmission[]
  readonly freed: readonly FreedSlot[]
  readonly counts: RolloutCounts
  readonly rings: readonly RingSpec[]
  readonly states: readonly RingState[]
  /** Index of the ring that is moving. */
  readonly current: number
}

/** All that the next step is decided from. */
export type RingProgress = ReturnType<typeof ringProgress>

export function ringProgress(members: RolloutState) {
  const { input, roster, kept, freed, counts, rings, states, current } = members
  const ring = rings[current]!
  const moving = roster.ring(current)
  const { admits, shut, opening } = openingsOf(members)
  const isShut = shut === current
  // Rings that passed stay open for clusters that join or return.
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
    const { members: size, ready, failed, excused, excusedFor } = roster.ring(i)
    const isTolerated = i === current && ring.maxFailed !== undefined && isTolerable
    const tolerated = isTolerated ? { tolerated: moving.sizeOf('broken') } : {}
    const spared = roster.ring(i).sizeOf('spared')
    return {
      members: size,
      ready,
      failed,
      excused,
      ...compact({ excusedFor: excused > 0 ? Object.fromEntries(excusedFor) : undefined }),
      ...tolerated,
      ...compact({ spared: spared > 0 ? spared : undefined }),
    }
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
    ...compact({ asks: asks.length > 0 ? asks : undefined }),
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
    /** Indexes of the rings that admit, and their members. */
    open,
    openRings,
    /** Index of the first ring whose opening conditions are not met although its turn has come, or -1. */
    shut,
    isShut,
    opening,
    failed,
    /** Number of tolerated failures in rings that passed. */
    before,
    limits,
    allowed,
    isTolerable,
    count,
    gate,
    inUse,
    unringed,
    /** The part that all decisions share. */
    base,
  }
}

/**
 * Which rings admit. A ring with approvals opens only when one of its clusters has something to receive. A ring that
 * passed while it was empty still requires its approvals when clusters join.
 */
function openingsOf({ input, roster, rings, states, current }: RolloutState): {
  admits(ring: number): boolean
  /** Index of the first ring whose opening conditions are not met although its turn has come, or -1. */
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

/** Number of distinct clusters. */
export function countClusters(pairs: readonly BundleOnCluster[]): number {
  return new Set(pairs.map(({ cluster }) => cluster)).size
}

function earliest(...times: readonly (number | undefined)[]): { readonly until?: number } {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? {} : { until: known.reduce((a, b) => Math.min(a, b)) }
}
