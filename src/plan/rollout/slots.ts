/** Slots: which stay taken, which are free again, and which members take the next slots. */
import { compact } from '../../core/compact.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { FreedSlot, RolloutInput } from './types.ts'
import { bundleOnClusterKey } from './bundle-on-cluster.ts'
import type { BundleOnCluster, ReleaseBundle, RolloutAdmission, RolloutCluster } from './bundle-on-cluster.ts'
import type { RingLimits } from './rings.ts'
import { byAdmissionOrder, mergedList, mayBeAdmitted } from './roster.ts'
import type { RosterMember } from './roster.ts'
import type { RolloutState } from './ring-progress.ts'
import { sameRevision } from '../fleet/state.ts'

/**
 * How long after start-by a report of an agent that started in time may arrive. Where start-by is used, the hub decides
 * on reports that are at most this old.
 */
export const START_BY_MARGIN_MS = 60_000

/** Maximum number of admissions in a Rollout's status. */
const MAX_ADMISSIONS = 10_000

/** Which slots stay taken and which are free again. A failed admission is marked until the member is Ready. */
export function settleSlots({ rollout, release, clusterOf, holdOf, now }: RolloutInput): {
  kept: RolloutAdmission[]
  freed: FreedSlot[]
} {
  const kept: RolloutAdmission[] = []
  const freed: FreedSlot[] = []
  for (const admission of rollout.admissions) {
    const target = release?.bundles.find((bundle) => bundle.name === admission.bundle)
    const cluster = clusterOf(admission.cluster)
    const by = target && freedBy(admission, target, cluster, { namespace: rollout.namespace, now })
    if (by) freed.push({ admission, by })
    else if (
      admission.failedAt === undefined &&
      hasFailed(admission, target, cluster, { rollout, now, ...(holdOf && { holdOf }) })
    ) {
      kept.push({ ...admission, failedAt: formatTime(now) })
    } else kept.push(admission)
  }
  return { kept, freed }
}

function freedBy(
  admission: RolloutAdmission,
  target: ReleaseBundle,
  cluster: RolloutCluster | undefined,
  at: { readonly namespace: string; readonly now: number },
): FreedSlot['by'] | undefined {
  if (!cluster) return 'ClusterGone'
  const key = `${at.namespace}/${admission.bundle}`
  const assigned = cluster.assigned.get(key)
  const reported = cluster.reported.get(key)
  // A newer rollout records its own admission before a document has its generation, so the member stays counted.
  if ((assigned?.generation ?? 0) > target.generation || (reported?.generation ?? 0) > target.generation)
    return 'Overtaken'
  // A bundle that is being removed is not delivered any more; the tombstone stays until this slot is free.
  if ((cluster.buried?.get(key)?.generation ?? 0) >= target.generation) return 'Overtaken'
  if (isReportedAt(target, reported)) {
    if (reported?.state === 'Ready' || reported?.state === 'Drifted') return 'Report'
    // An agent that has not started reports Pending.
    if (reported?.state !== 'Pending') return undefined
  }
  const startBy = admission.startBy === undefined ? undefined : parseTime(admission.startBy)
  const expired = startBy !== undefined && at.now > startBy + START_BY_MARGIN_MS
  // An offline cluster may have started before its connection was lost: it keeps its slot.
  return expired && cluster.availability.state === 'Available' ? 'StartByPassed' : undefined
}

// Where clusters differ, a document has exactly one content of this generation, so the generation is enough.
function isReportedAt(target: ReleaseBundle, reported: Parameters<typeof sameRevision>[0]): boolean {
  return target.contentOf ? reported?.generation === target.generation : sameRevision(reported, target)
}

function hasFailed(
  admission: RolloutAdmission,
  target: ReleaseBundle | undefined,
  cluster: RolloutCluster | undefined,
  { rollout, now, holdOf }: Pick<RolloutInput, 'rollout' | 'now' | 'holdOf'>,
): boolean {
  const reported = cluster?.reported.get(`${rollout.namespace}/${admission.bundle}`)
  const isLatest = (reported?.attempt ?? 0) >= (admission.attempt ?? 0)
  if (target && isReportedAt(target, reported) && reported?.state === 'Failed' && isLatest) return true
  // A cluster that is held after its admission does not start, so its progress deadline does not count.
  if (target && reported?.state !== 'Progressing' && holdOf?.(target, admission.cluster)) return false
  const { progressDeadlineMs } = rollout
  return progressDeadlineMs !== undefined && now > (parseTime(admission.admittedAt) ?? now) + progressDeadlineMs
}

/** The next time at which a slot changes without a report: a start-by with its margin, or a progress deadline. */
export function nextSlotDeadline(
  { rollout, now }: RolloutInput,
  kept: readonly RolloutAdmission[],
): number | undefined {
  const { progressDeadlineMs } = rollout
  const times = kept.flatMap(({ admittedAt, startBy, failedAt }) => {
    const begun = failedAt === undefined ? parseTime(admittedAt) : undefined
    const start = startBy === undefined ? undefined : parseTime(startBy)
    return [
      ...(progressDeadlineMs === undefined || begun === undefined ? [] : [begun + progressDeadlineMs + 1]),
      ...(start === undefined ? [] : [start + START_BY_MARGIN_MS + 1]),
    ].filter((time) => time > now)
  })
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
}

/** Which members and clusters use the budget. */
export interface BudgetUsage {
  /** Keys of members that are, or may be, unavailable because of a rollout of their bundle. */
  readonly pairs: ReadonlySet<string>
  /** Their clusters. */
  readonly clusters: ReadonlySet<string>
  /** The members that hold a slot, in this or an older rollout, and their clusters. */
  readonly slots: { readonly pairs: ReadonlySet<string>; readonly clusters: ReadonlySet<string> }
  /** Clusters of which every member in use is marked as failed: they do not change any more. */
  readonly failed: ReadonlySet<string>
  /** Per bundle, the clusters whose member is not marked as failed: they are changing. */
  readonly changing: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Counts the use of the budget; `kept` is the result of `settleSlots`. Members that older rollouts broke in a later
 * ring count when that ring moves: nothing can repair them earlier, and they must not keep a fix from the earlier
 * rings.
 */
export function budgetUsage({ input, roster, kept, rings, current }: RolloutState): BudgetUsage {
  const bundles = new Set(input.release?.bundles.map((bundle) => bundle.name))
  const isLater = (admission: RolloutAdmission) => (roster.get(bundleOnClusterKey(admission))?.ring ?? -1) > current
  const older = input.predecessors.flatMap(({ bundle, admissions }) =>
    bundles.has(bundle) ? admissions.filter((admission) => !isLater(admission)) : [],
  )
  const rostered = [-1, ...rings.slice(0, current + 1).keys()].map((ring) => roster.ring(ring))
  const unwell = Array.from(mergedList(rostered, 'unwell'), ({ pair }) => pair)
  const recorded = [...older, ...kept]
  const all = [...unwell, ...recorded]
  const inUse = new Map(all.map((pair) => [bundleOnClusterKey(pair), pair.cluster]))
  const clusters = new Set(inUse.values())
  const failed = new Set(clusters)
  // A member that changes in one rollout is changing, even if an older rollout marks it as failed. Only records count.
  const marked = new Set(recorded.filter((one) => !isMoving(one)).map(bundleOnClusterKey))
  for (const { cluster } of recorded.filter(isMoving)) failed.delete(cluster)
  for (const [key, cluster] of inUse) if (!marked.has(key)) failed.delete(cluster)
  const moving = Map.groupBy(
    all.filter((pair) => !marked.has(bundleOnClusterKey(pair))),
    ({ bundle }) => bundle,
  )
  const changing = new Map([...moving].map(([bundle, members]) => [bundle, clustersIn(members)]))
  const slots = { pairs: new Set(recorded.map(bundleOnClusterKey)), clusters: clustersIn(recorded) }
  return { pairs: new Set(inUse.keys()), clusters, slots, failed, changing }
}

const isMoving = ({ failedAt }: RolloutAdmission) => failedAt === undefined

function clustersIn(pairs: readonly { readonly cluster: string }[]): Set<string> {
  return new Set(pairs.map(({ cluster }) => cluster))
}

/** A set of clusters that use slots; as many failed clusters as are tolerated use none. */
function budgetCounter(all: ReadonlySet<string>, failures: ReadonlySet<string>, { tolerated }: RingLimits) {
  const clusters = new Set(all)
  const failed = clusters.intersection(failures)
  return {
    clusters: clusters as ReadonlySet<string>,
    busy: () => clusters.size - Math.min(failed.size, tolerated),
    /** Number of busy clusters if this cluster changes. */
    busyWith: (cluster: string) =>
      clusters.size +
      (clusters.has(cluster) ? 0 : 1) -
      Math.min(failed.size - (failed.has(cluster) ? 1 : 0), tolerated),
    /** Whether admitting the cluster costs no slot. */
    isBusy: (cluster: string) => clusters.has(cluster) && (!failed.has(cluster) || failed.size > tolerated),
    admit: (cluster: string) => {
      clusters.add(cluster)
      failed.delete(cluster)
    },
  }
}

/** The admissions of this pass; plan-rollout.ts explains the rule. */
export function nextAdmissions(
  members: RolloutState & {
    /** Indexes of the rings that admit. */
    readonly open: readonly number[]
    readonly inUse: BudgetUsage
    readonly limits: RingLimits
  },
): RolloutAdmission[] {
  const { input, kept, inUse, limits, rings } = members
  const used = budgetCounter(inUse.clusters, inUse.failed, limits)
  const slots = budgetCounter(inUse.slots.clusters, inUse.failed, limits)
  const own = budgetCounter(clustersIn(kept), clustersIn(kept).difference(clustersIn(kept.filter(isMoving))), limits)
  const changing = new Map([...inUse.changing].map(([bundle, clusters]) => [bundle, new Set(clusters)]))
  const isWithin = used.busy() <= limits.flight
  // A tolerated failed cluster changes again with the next attempt: it needs room among the changing clusters.
  const hasRoom = ({ bundle, cluster }: BundleOnCluster) => {
    const clusters = changing.get(bundle)
    return clusters === undefined || clusters.has(cluster) || clusters.size < limits.flight
  }
  // A member that fails without a slot takes a slot, and a newer rollout may continue with it.
  const isCovered = (pair: BundleOnCluster) =>
    inUse.slots.pairs.has(bundleOnClusterKey(pair)) || slots.busyWith(pair.cluster) <= limits.flight
  /** No further cluster fits in this pass: admissions only add clusters. */
  const isFull = () => used.busy() >= limits.flight || used.clusters.size >= limits.total
  const admitted: RolloutAdmission[] = []
  for (const { member, rank } of candidates(members, { clusters: used.clusters, isFull })) {
    if (kept.length + admitted.length >= MAX_ADMISSIONS) break
    const { pair } = member
    const { cluster } = pair
    if (used.isBusy(cluster)) {
      // A busy cluster costs no slot. With more busy clusters than allowed, only members in use continue.
      if (!isWithin && !(rank === 0 && hasRoom(pair) && isCovered(pair))) continue
      if (!own.isBusy(cluster) && own.busy() >= limits.flight) continue
    } else if (used.busy() >= limits.flight || (!used.clusters.has(cluster) && used.clusters.size >= limits.total))
      continue
    for (const counter of [used, slots, own]) counter.admit(cluster)
    changing.set(pair.bundle, (changing.get(pair.bundle) ?? new Set()).add(cluster))
    const { name: ring, startByMs } = rings[member.ring]!
    const attempt = input.rollout.attemptOf?.(cluster) ?? 0
    admitted.push(
      compact({
        bundle: pair.bundle,
        cluster,
        ring,
        admittedAt: formatTime(input.now),
        // A removal has no start-by.
        startBy: startByMs === undefined || input.removal ? undefined : formatTime(input.now + startByMs),
        attempt: attempt === 0 ? undefined : attempt,
      }),
    )
  }
  return admitted
}

/**
 * Members that may be admitted, in order: members in use, then members that fail at their present revision, then the
 * rest, each by cluster. When no further cluster fits, only members of busy clusters follow: most of a large fleet is
 * never read.
 */
function* candidates(
  {
    roster,
    inUse,
    open,
  }: Pick<RolloutState, 'roster'> & { readonly inUse: BudgetUsage; readonly open: readonly number[] },
  room: { readonly clusters: ReadonlySet<string>; isFull(): boolean },
): Generator<{ readonly member: RosterMember; readonly rank: number }> {
  const isOpen = (member: RosterMember | undefined): member is RosterMember =>
    member !== undefined && open.includes(member.ring) && mayBeAdmitted(member)
  const used = [...inUse.pairs].map((key) => roster.get(key)).filter(isOpen)
  for (const member of used.sort(byAdmissionOrder)) yield { member, rank: 0 }
  const rings = open.map((ring) => roster.ring(ring))
  const yielded = new Set<string>()
  for (const [name, rank] of RANKS) {
    for (const member of mergedList(rings, name)) {
      if (room.isFull()) {
        yield* onBusyClusters(rank)
        return
      }
      const key = bundleOnClusterKey(member.pair)
      yielded.add(key)
      if (!inUse.pairs.has(key)) yield { member, rank }
    }
  }

  function* onBusyClusters(from: number): Generator<{ readonly member: RosterMember; readonly rank: number }> {
    const left = [...room.clusters].flatMap((cluster) => [...roster.of(cluster)]).filter(isOpen)
    const unseen = left.filter(
      ({ pair }) => !yielded.has(bundleOnClusterKey(pair)) && !inUse.pairs.has(bundleOnClusterKey(pair)),
    )
    const ranked = unseen.map((member) => ({ member, rank: member.pair.ailing ? 1 : 2 }))
    yield* ranked
      .filter(({ rank }) => rank >= from)
      .sort((a, b) => a.rank - b.rank || byAdmissionOrder(a.member, b.member))
  }
}

const RANKS = [
  ['ailing', 1],
  ['sound', 2],
] as const
