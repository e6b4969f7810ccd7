/**
 * Rings: which ring a cluster is in, and when the next one may begin.
 *
 * A ring takes clusters by label or decision group; or a count or share, in order of name, of those that no ring takes by
 * label or group; or all that is left. Where a count or share ends is written down as a name when the rollout begins, so
 * that clusters that come and go do not shift it. Who is in no ring is shown and never admitted.
 *
 * A ring's gate is recorded on the Rollout before anybody of the next ring is admitted (I-04).
 */
import { compareText } from '../../core/text/compare-text.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { LabelSelector, Labels } from '../../core/text/label-selector.ts'
import { concurrencyOf } from './concurrency.ts'
import type { ApprovalNeed, ApprovalRecord } from './gates/approvals.ts'
import type { GateRecord, GateSpec } from './gates/judge-gates.ts'

/** One ring of a rollout. */
export interface RingSpec {
  readonly name: string
  readonly concurrency: number | string
  readonly selector?: LabelSelector
  /** The name of a decision group of the Placement. */
  readonly group?: string
  readonly count?: number
  /** `10%` of the clusters that no ring takes by label or group. */
  readonly share?: string
  readonly maxUnavailable?: number | string
  readonly maxFailed?: number | string
  /** `90%`: how many of the members that can be reached must be Ready; 100% unless said. */
  readonly readyShare?: string
  /** At least so many must be Ready; one unless said, or none when the ring is empty. */
  readonly minReady?: number
  readonly soakMs?: number
  readonly startByMs?: number
  /** What must be said before anybody of it is admitted. */
  readonly approvals?: ApprovalNeed
  /** What the world must say before it opens, or before it is through. */
  readonly gates?: readonly GateSpec[]
}

/** What is written down about a ring. */
export interface RingState {
  readonly name: string
  /** The last cluster, in order of name, of a ring by count or share. */
  readonly upTo?: string
  /** RFC 3339; what it takes to open it was there. */
  readonly openedAt?: string
  /** The approvals that opened it. */
  readonly approvedBy?: readonly ApprovalRecord[]
  /** What its gates said. */
  readonly gates?: readonly GateRecord[]
  /** RFC 3339; since then enough members are Ready. */
  readonly readyAt?: string
  /** RFC 3339; the gate: from then on the next ring may begin. */
  readonly passedAt?: string
}

/** What rings look at in a cluster. */
export interface RingCluster {
  readonly name: string
  readonly labels: Labels
  readonly groups: readonly string[]
}

/** Completes what is written down: every ring has a record, and rings by count or share have their end. */
export function ringStates(
  rings: readonly RingSpec[],
  recorded: readonly RingState[],
  clusters: Iterable<RingCluster>,
): readonly RingState[] {
  const known = new Map(recorded.map((state) => [state.name, state]))
  const isOpen = ({ name, count, share }: RingSpec) =>
    (count !== undefined || share !== undefined) && known.get(name)?.upTo === undefined
  if (!rings.some(isOpen)) return rings.map(({ name }) => known.get(name) ?? { name })
  const free = [...clusters]
    .filter((cluster) => rings.every((ring) => !takesByName(ring, cluster)))
    .map(({ name }) => name)
    .sort(compareText)
  let taken = 0
  return rings.map((ring): RingState => {
    const state = known.get(ring.name) ?? { name: ring.name }
    if (ring.count === undefined && ring.share === undefined) return state
    if (state.upTo !== undefined) {
      taken = free.filter((name) => name <= state.upTo!).length
      return state
    }
    taken = Math.min(free.length, taken + (ring.count ?? shareOf(ring.share!, free.length)))
    return { ...state, upTo: free[taken - 1] ?? '' }
  })
}

/** The place of a cluster's ring among all, or -1 when it is in none. */
export function ringOf(rings: readonly RingSpec[], states: readonly RingState[], cluster: RingCluster): number {
  const named = rings.findIndex((ring) => takesByName(ring, cluster))
  if (named >= 0) return named
  return rings.findIndex((ring, i) => {
    if (ring.count !== undefined || ring.share !== undefined) return cluster.name <= (states[i]?.upTo ?? '')
    return ring.selector === undefined && ring.group === undefined
  })
}

/** How many clusters may be unwell because of a rollout. */
export interface RingLimits {
  /** How many may be changing. */
  readonly flight: number
  /** How many may have failed without taking up one of those. */
  readonly tolerated: number
  /** How many may be unwell together. */
  readonly total: number
}

/** What a ring's budgets mean for so many clusters; `before` are the failures that rings before it tolerate. */
export function ringLimits(ring: RingSpec, clusters: number, before = 0): RingLimits {
  const concurrency = concurrencyOf(ring.concurrency, clusters)
  const tolerated = toleratedFailures(ring, clusters) + before
  const total =
    ring.maxUnavailable === undefined ? concurrency + tolerated : concurrencyOf(ring.maxUnavailable, clusters)
  return { flight: Math.min(concurrency, total), tolerated, total }
}

/** How many failures a ring of so many clusters tolerates; without `maxFailed` a failed cluster keeps its slot. */
export function toleratedFailures({ maxFailed }: RingSpec, clusters: number): number {
  return maxFailed === undefined ? 0 : allowedOf(maxFailed, clusters)
}

/** How many may fail: a percentage is rounded down, and may be none. */
function allowedOf(allowed: number | string, members: number): number {
  if (typeof allowed === 'number') return allowed
  const percent = /^(\d+)%$/.exec(allowed)
  return percent ? Math.floor((Number(percent[1]) * members) / 100) : Number(allowed)
}

/** How a ring stands: what its gate asks for, in numbers. */
export interface RingCount {
  readonly members: number
  readonly ready: number
  readonly failed: number
  /** Not connected and never admitted. */
  readonly excused: number
  /** Failed, and as many as `maxFailed` allows; those are not waited for unless `readyShare` says how many are. */
  readonly tolerated?: number
  /** Left as they are by a rollback, and not well: nothing is asked of them. */
  readonly spared?: number
}

/** What a gate says: open, open at a time, or what it lacks. */
export type ReadinessVerdict =
  | { readonly kind: 'Open' }
  | { readonly kind: 'Soaking'; readonly readyAt: string; readonly until: number }
  | { readonly kind: 'Short'; readonly need: number }

/** Whether enough members are Ready, for long enough. */
export function judgeReadiness(ring: RingSpec, state: RingState, count: RingCount, now: number): ReadinessVerdict {
  if (state.passedAt !== undefined || requiredMembers(count) === 0) return { kind: 'Open' }
  const need = readyNeeded(ring, count)
  if (count.ready < need) return { kind: 'Short', need }
  const readyAt = state.readyAt ?? formatTime(now)
  const until = (parseTime(readyAt) ?? now) + (ring.soakMs ?? 0)
  return now >= until ? { kind: 'Open' } : { kind: 'Soaking', readyAt, until }
}

/** How many members must be Ready. */
export function readyNeeded({ readyShare, minReady = 1 }: RingSpec, count: RingCount): number {
  const reachable = requiredMembers(count) - count.excused
  const share =
    readyShare === undefined
      ? reachable - (count.tolerated ?? 0)
      : Math.ceil((Number(/^(\d+)%$/.exec(readyShare)?.[1] ?? 100) * reachable) / 100)
  return Math.max(share, Math.min(minReady, requiredMembers(count)))
}

/** How many members something is asked of. */
export function requiredMembers({ members, spared = 0 }: RingCount): number {
  return members - spared
}

function takesByName({ selector, group }: RingSpec, { labels, groups }: RingCluster): boolean {
  if (group !== undefined) return groups.includes(group)
  return selector !== undefined && matchesSelector(labels, selector)
}

function shareOf(share: string, total: number): number {
  return Math.ceil((Number(/^(\d+)%$/.exec(share)?.[1] ?? 0) * total) / 100)
}
