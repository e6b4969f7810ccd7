/**
 * Rings: which ring a cluster is in, and when the next ring may start.
 *
 * A ring selects clusters by label or decision group; or by count or share, in order of name, of the clusters that no
 * ring selects by label or group; or all remaining clusters. The boundary of a count or share is recorded as a cluster
 * name when the rollout starts, so clusters that join or leave later do not move it. A cluster in no ring is shown and
 * is never admitted.
 *
 * A ring's exit is recorded on the Rollout before a cluster of the next ring is admitted (I-04).
 */
import { compareText } from '../../core/text/compare-text.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { LabelSelector, Labels } from '../../core/text/label-selector.ts'
import { concurrencyOf } from './concurrency.ts'
import type { ApprovalNeed, ApprovalRecord } from './gates/approvals.ts'
import type { GateRecord, GateSpec } from './gates/judge-gates.ts'

/** A ring of a rollout. */
export interface RingSpec {
  readonly name: string
  readonly concurrency: number | string
  readonly selector?: LabelSelector
  /** The name of a decision group of the Placement. */
  readonly group?: string
  readonly count?: number
  /** `10%` of the clusters that no ring selects by label or group. */
  readonly share?: string
  readonly maxUnavailable?: number | string
  readonly maxFailed?: number | string
  /** `90%` of the reachable members must be Ready. Defaults to 100%. */
  readonly readyShare?: string
  /** Minimum number of Ready members. Defaults to 1, or 0 when the ring is empty. */
  readonly minReady?: number
  readonly soakMs?: number
  readonly startByMs?: number
  /** Approvals that are required before a cluster of the ring is admitted. */
  readonly approvals?: ApprovalNeed
  /** Gates that must pass before the ring opens, or before it passes. */
  readonly gates?: readonly GateSpec[]
}

/** The recorded state of a ring. */
export interface RingState {
  readonly name: string
  /** The last cluster, in order of name, of a ring by count or share. */
  readonly upTo?: string
  /** RFC 3339; all opening conditions were met at this time. */
  readonly openedAt?: string
  /** The approvals that opened it. */
  readonly approvedBy?: readonly ApprovalRecord[]
  /** The last verdicts of its gates. */
  readonly gates?: readonly GateRecord[]
  /** RFC 3339; since this time enough members are Ready. */
  readonly readyAt?: string
  /** RFC 3339; the ring's exit: from this time the next ring may start. */
  readonly passedAt?: string
}

/** A cluster as rings read it. */
export interface RingCluster {
  readonly name: string
  readonly labels: Labels
  readonly groups: readonly string[]
}

/** Completes the recorded states: every ring has a record, and rings by count or share have their boundary. */
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

/** The index of a cluster's ring, or -1 when it is in no ring. */
export function ringOf(rings: readonly RingSpec[], states: readonly RingState[], cluster: RingCluster): number {
  const named = rings.findIndex((ring) => takesByName(ring, cluster))
  if (named >= 0) return named
  return rings.findIndex((ring, i) => {
    if (ring.count !== undefined || ring.share !== undefined) return cluster.name <= (states[i]?.upTo ?? '')
    return ring.selector === undefined && ring.group === undefined
  })
}

/** How many clusters may be unavailable because of a rollout. */
export interface RingLimits {
  /** Maximum number of clusters that change at the same time. */
  readonly flight: number
  /** Maximum number of failed clusters that do not take a slot. */
  readonly tolerated: number
  /** Maximum number of unavailable clusters. */
  readonly total: number
}

/** A ring's budgets in numbers of clusters; `before` is the number of failures tolerated in earlier rings. */
export function ringLimits(ring: RingSpec, clusters: number, before = 0): RingLimits {
  const concurrency = concurrencyOf(ring.concurrency, clusters)
  const tolerated = toleratedFailures(ring, clusters) + before
  const total =
    ring.maxUnavailable === undefined ? concurrency + tolerated : concurrencyOf(ring.maxUnavailable, clusters)
  return { flight: Math.min(concurrency, total), tolerated, total }
}

/** Number of failures that a ring tolerates; without `maxFailed` a failed cluster keeps its slot. */
export function toleratedFailures({ maxFailed }: RingSpec, clusters: number): number {
  return maxFailed === undefined ? 0 : allowedFailures(maxFailed, clusters)
}

/** A percentage is rounded down, and can be 0. */
function allowedFailures(allowed: number | string, members: number): number {
  if (typeof allowed === 'number') return allowed
  const percent = /^(\d+)%$/.exec(allowed)
  return percent ? Math.floor((Number(percent[1]) * members) / 100) : Number(allowed)
}

/** Why a ring does not wait for a member. */
export type ExcuseReason = 'offline' | 'frozen' | 'held' | 'notBuilt'

/** The counts of a ring that its exit is decided from. */
export interface RingCount {
  readonly members: number
  readonly ready: number
  readonly failed: number
  /** Members that the ring does not wait for; see the glossary. */
  readonly excused: number
  /** Excused members by reason; absent where there are none. */
  readonly excusedFor?: Readonly<Partial<Record<ExcuseReason, number>>>
  /** Failed members within `maxFailed`. The ring does not wait for them, unless `readyShare` requires them. */
  readonly tolerated?: number
  /** Members that a rollback leaves unchanged and that are not Ready: the ring does not wait for them. */
  readonly spared?: number
}

/** Whether a ring has enough Ready members: yes, not for long enough yet, or how many are required. */
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

/** Number of members that must be Ready. */
export function readyNeeded({ readyShare, minReady = 1 }: RingSpec, count: RingCount): number {
  const reachable = requiredMembers(count) - count.excused
  const share =
    readyShare === undefined
      ? reachable - (count.tolerated ?? 0)
      : Math.ceil((Number(/^(\d+)%$/.exec(readyShare)?.[1] ?? 100) * reachable) / 100)
  return Math.max(share, Math.min(minReady, requiredMembers(count)))
}

/** Number of members that the ring counts. */
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
