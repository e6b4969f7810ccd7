/** Slots: which stay taken, which come back, and who takes the next ones. */
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
 * How long after start-by an agent that did begin may take to say so; also how old the reports may be that the hub
 * decides on where start-by is used.
 */
export const START_BY_MARGIN_MS = 60_000

/** As many as a Rollout's status can hold. */
const MAX_ADMISSIONS = 10_000

/** Which slots stay taken and which come back; one that stays and has failed is marked so, for good until it is Ready. */
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
  // A newer rollout records its own admission before a document names its generation, so the pair stays counted there.
  if ((assigned?.generation ?? 0) > target.generation || (reported?.generation ?? 0) > target.generation)
    return 'Overtaken'
  // What is being removed is not brought any more; the tombstone stays until this slot is given back.
  if ((cluster.buried?.get(key)?.generation ?? 0) >= target.generation) return 'Overtaken'
  if (isReportedAt(target, reported)) {
    if (reported?.state === 'Ready' || reported?.state === 'Drifted') return 'Report'
    // Pending is what an agent says that has not begun.
    if (reported?.state !== 'Pending') return undefined
  }
  const startBy = admission.startBy === undefined ? undefined : parseTime(admission.startBy)
  const expired = startBy !== undefined && at.now > startBy + START_BY_MARGIN_MS
  // An offline cluster may have begun before it fell silent: it stays unavailable.
  return expired && cluster.availability.state === 'Available' ? 'StartByPassed' : undefined
}

// Where clusters differ, the document says which content of this generation was handed out, and nobody hands out two.
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
  // One that is held after its admission does not begin, and is late through no fault of its own.
  if (target && reported?.state !== 'Progressing' && holdOf?.(target, admission.cluster)) return false
  const { progressDeadlineMs } = rollout
  return progressDeadlineMs !== undefined && now > (parseTime(admission.admittedAt) ?? now) + progressDeadlineMs
}

/** When time alone changes something about a slot: the next start-by, with its margin, or progress deadline. */
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

/** Who takes up the budget. */
export interface BudgetUsage {
  /** Pairs that are, or may be, unwell because of a rollout of their bundle. */
  readonly pairs: ReadonlySet<string>
  /** Their clusters. */
  readonly clusters: ReadonlySet<string>
  /** Those of the pairs that hold a slot, here or in an older rollout, and their clusters. */
  readonly slots: { readonly pairs: ReadonlySet<string>; readonly clusters: ReadonlySet<string> }
  /** Those of the clusters of which every such pair is marked as failed: they change nothing any more. */
  readonly failed: ReadonlySet<string>
  /** Per bundle, the clusters whose pair is not marked as failed: they are changing. */
  readonly changing: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Works out who takes up the budget; `kept` is as `settleSlots` left it. What older rollouts left unwell in a ring whose
 * turn has not come counts when it moves: it cannot be helped before, and must not keep a fix from the rings that go first.
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
  // What any rollout has under way is under way, whatever an older one says of it; a report alone marks nothing.
  const marked = new Set(recorded.filter((one) => !isMoving(one)).map(bundleOnClusterKey))
  for (const { cluster } of recorded.filter(isMoving)) failed.delete(cluster)
  for (const [key, cluster] of inUse) if (!marked.has(key)) failed.delete(cluster)
  const moving = Map.groupBy(
    all.filter((pair) => !marked.has(bundleOnClusterKey(pair))),
    ({ bundle }) => bundle,
  )
  const changing = new Map([...moving].map(([bundle, those]) => [bundle, clustersIn(those)]))
  const slots = { pairs: new Set(recorded.map(bundleOnClusterKey)), clusters: clustersIn(recorded) }
  return { pairs: new Set(inUse.keys()), clusters, slots, failed, changing }
}

const isMoving = ({ failedAt }: RolloutAdmission) => failedAt === undefined

function clustersIn(pairs: readonly { readonly cluster: string }[]): Set<string> {
  return new Set(pairs.map(({ cluster }) => cluster))
}

/** Clusters that take up slots: all of them, but for as many of the failed ones as are tolerated. */
function crowdOf(all: ReadonlySet<string>, failures: ReadonlySet<string>, { tolerated }: RingLimits) {
  const clusters = new Set(all)
  const failed = clusters.intersection(failures)
  return {
    clusters: clusters as ReadonlySet<string>,
    busy: () => clusters.size - Math.min(failed.size, tolerated),
    /** How many there would be with one that changes. */
    busyWith: (cluster: string) =>
      clusters.size +
      (clusters.has(cluster) ? 0 : 1) -
      Math.min(failed.size - (failed.has(cluster) ? 1 : 0), tolerated),
    /** Whether it makes no difference that it changes. */
    isBusy: (cluster: string) => clusters.has(cluster) && (!failed.has(cluster) || failed.size > tolerated),
    admit: (cluster: string) => {
      clusters.add(cluster)
      failed.delete(cluster)
    },
  }
}

/** Who is admitted now; see the head of rollout.ts for the rule. */
export function nextAdmissions(
  members: RolloutState & {
    /** Places of the rings that admit. */
    readonly open: readonly number[]
    readonly inUse: BudgetUsage
    readonly limits: RingLimits
  },
): RolloutAdmission[] {
  const { input, kept, inUse, limits, rings } = members
  const used = crowdOf(inUse.clusters, inUse.failed, limits)
  const slots = crowdOf(inUse.slots.clusters, inUse.failed, limits)
  const own = crowdOf(clustersIn(kept), clustersIn(kept).difference(clustersIn(kept.filter(isMoving))), limits)
  const changing = new Map([...inUse.changing].map(([bundle, those]) => [bundle, new Set(those)]))
  const isWithin = used.busy() <= limits.flight
  // One that failed, and is tolerated, begins to change again with the next try: it needs room among those that do.
  const hasRoom = ({ bundle, cluster }: BundleOnCluster) => {
    const those = changing.get(bundle)
    return those === undefined || those.has(cluster) || those.size < limits.flight
  }
  // What fails without a slot takes one, and a newer rollout may go on with it.
  const isCovered = (pair: BundleOnCluster) =>
    inUse.slots.pairs.has(bundleOnClusterKey(pair)) || slots.busyWith(pair.cluster) <= limits.flight
  /** Newcomers have no room, and never will have: nobody leaves while these are admitted. */
  const isFull = () => used.busy() >= limits.flight || used.clusters.size >= limits.total
  const admitted: RolloutAdmission[] = []
  for (const { member, rank } of candidates(members, { clusters: used.clusters, isFull })) {
    if (kept.length + admitted.length >= MAX_ADMISSIONS) break
    const { pair } = member
    const { cluster } = pair
    if (used.isBusy(cluster)) {
      // A cluster in use costs nothing; with more in use than there may be, only what is in use itself moves.
      if (!isWithin && !(rank === 0 && hasRoom(pair) && isCovered(pair))) continue
      if (!own.isBusy(cluster) && own.busy() >= limits.flight) continue
    } else if (used.busy() >= limits.flight || (!used.clusters.has(cluster) && used.clusters.size >= limits.total))
      continue
    for (const crowd of [used, slots, own]) crowd.admit(cluster)
    changing.set(pair.bundle, (changing.get(pair.bundle) ?? new Set()).add(cluster))
    const { name: ring, startByMs } = rings[member.ring]!
    const attempt = input.rollout.attemptOf?.(cluster) ?? 0
    admitted.push({
      bundle: pair.bundle,
      cluster,
      ring,
      admittedAt: formatTime(input.now),
      // A removal is not content: it has no start-by.
      ...(startByMs === undefined || input.removal ? {} : { startBy: formatTime(input.now + startByMs) }),
      ...(attempt === 0 ? {} : { attempt }),
    })
  }
  return admitted
}

/**
 * Who may be admitted, in order: those in use already, then those that fail at what they run, then the others, each by name. Once newcomers have no
 * room, only those of clusters that have it are left: most of a large fleet is never looked at.
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
  const told = new Set<string>()
  for (const [name, rank] of RANKS) {
    for (const member of mergedList(rings, name)) {
      if (room.isFull()) {
        yield* whoHasRoom(rank)
        return
      }
      const key = bundleOnClusterKey(member.pair)
      told.add(key)
      if (!inUse.pairs.has(key)) yield { member, rank }
    }
  }

  function* whoHasRoom(from: number): Generator<{ readonly member: RosterMember; readonly rank: number }> {
    const left = [...room.clusters].flatMap((cluster) => [...roster.of(cluster)]).filter(isOpen)
    const unseen = left.filter(
      ({ pair }) => !told.has(bundleOnClusterKey(pair)) && !inUse.pairs.has(bundleOnClusterKey(pair)),
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
