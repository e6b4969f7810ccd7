/**
 * The roster: the members of a rollout (bundles on clusters) by ring, counted and in order. A decision reads counts and
 * the few members it is about, however large the fleet is; a member that changes is replaced, and the rest stays.
 */
import { createSortedSet, mergeSorted } from '../../core/collections/sorted-set.ts'
import type { SortedSet } from '../../core/collections/sorted-set.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { RolloutCounts, RolloutProgress } from './types.ts'
import type { ExcuseReason } from './rings.ts'
import { bundleOnClusterKey } from './bundle-on-cluster.ts'
import type { BundleOnCluster } from './bundle-on-cluster.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'

/** A bundle on a cluster, with its ring and its slot. */
export interface RosterMember {
  readonly pair: BundleOnCluster
  /** Index of its ring, or -1. */
  readonly ring: number
  /** Index of its bundle in the release. */
  readonly order: number
  /** The member holds a slot. */
  readonly holding: boolean
  /** The member failed, and no retry is requested. */
  readonly broken: boolean
  /** A retry is requested. */
  readonly retried: boolean
  /** A rollback leaves the member unchanged: the rollout counts neither its state nor its failure. */
  readonly spared: boolean
}

/** Distinct keys with their number of occurrences. */
export interface Tally<K> {
  /** Number of distinct keys. */
  readonly size: number
  keys(): Iterable<K>
}

/** The members of a ring. */
export interface RingRoster {
  readonly members: number
  readonly ready: number
  /** Failed members, and members for which no content could be rendered. */
  readonly failed: number
  /** Members that the ring does not wait for. */
  readonly excused: number
  /** Number of these members by reason. */
  readonly excusedFor: ReadonlyMap<ExcuseReason, number>
  /** Members that could be admitted now if a slot were free. */
  readonly waiting: number
  readonly clusters: Tally<string>
  readonly brokenClusters: Tally<string>
  /** Offline clusters with a member that is Ready at the target. */
  readonly wellAway: Tally<string>
  /** Times at which holds of members that are not Ready end; milliseconds since 1970. */
  readonly opens: Tally<number>
  list(name: ListName): Iterable<RosterMember>
  sizeOf(name: ListName): number
}

/** The members of a rollout. */
export interface Roster {
  readonly size: number
  put(member: RosterMember): void
  /** Removes all members of a cluster. */
  drop(cluster: string): void
  get(key: string): RosterMember | undefined
  of(cluster: string): Iterable<RosterMember>
  /** By index; -1 has the members that are in no ring. */
  ring(at: number): RingRoster
  counts(): RolloutCounts
  /** Counts per bundle, in order of the release. */
  bundleCounts(): ReadonlyMap<string, RolloutCounts>
}

const isUnserved = ({ pair: { free, well, handed }, holding, spared }: RosterMember) =>
  free && !well && !handed && !holding && !spared

const isWaiting = (member: RosterMember) => isUnserved(member) && !member.pair.blocked

function isCandidate({ pair, retried, holding, spared }: RosterMember): boolean {
  const { free, well, blocked, failed, keeps, handed } = pair
  if (!free || well || blocked || spared) return false
  // Content that the cluster already has is delivered again only for a retry.
  return retried || (!failed && !holding && !(keeps && handed))
}

// The ring waits for a cluster whose window is closed, because the window opens. It does not wait for a frozen cluster.
function isExcused({ pair: { free, hold, well, handed, problem }, holding, spared }: RosterMember): boolean {
  return problem !== undefined || (!free && hold?.for !== 'window' && !well && !handed && !holding && !spared)
}

function excuseOf({ pair: { problem, hold } }: RosterMember): ExcuseReason {
  if (problem !== undefined) return 'notBuilt'
  if (!hold) return 'offline'
  return hold.badge === 'Frozen' ? 'frozen' : 'held'
}

/** The lists of members that decisions read. */
const LISTS = {
  /** Not connected, and not Ready at the target. */
  away: ({ pair: { free, hold, well }, spared }: RosterMember) => !free && !hold && !well && !spared,
  /** On hold, frozen or outside of its window, and not Ready at the target. */
  held: ({ pair: { hold, well }, spared }: RosterMember) => hold !== undefined && !well && !spared,
  broken: ({ broken }: RosterMember) => broken,
  /** The target is delivered, and the member is not Ready. */
  unwell: ({ pair: { handed, well }, spared }: RosterMember) => handed && !well && !spared,
  /** Unchanged by a rollback, and not Ready. */
  spared: ({ pair: { well }, spared }: RosterMember) => spared && !well,
  /** No content could be rendered. */
  unrendered: (member: RosterMember) => isUnserved(member) && member.pair.problem !== undefined,
  /** The cluster has this generation, or a later one, with other content. */
  taken: (member: RosterMember) => isUnserved(member) && member.pair.problem === undefined && member.pair.blocked,
  /** May be admitted, and fails at its present revision. */
  ailing: (member: RosterMember) => isCandidate(member) && member.pair.ailing,
  /** May be admitted. */
  sound: (member: RosterMember) => isCandidate(member) && !member.pair.ailing,
  /** In no ring. */
  unringed: ({ ring }: RosterMember) => ring < 0,
} as const

export type ListName = keyof typeof LISTS

const LIST_NAMES = Object.keys(LISTS) as readonly ListName[]

/** Order of members in messages: by bundle, in order of the release, then by cluster. */
export function byReportOrder(a: RosterMember, b: RosterMember): number {
  return a.order - b.order || compareText(a.pair.cluster, b.pair.cluster)
}

/** Order of admissions: by cluster, so that the bundles of a release reach a cluster together. */
export function byAdmissionOrder(a: RosterMember, b: RosterMember): number {
  return compareText(a.pair.cluster, b.pair.cluster) || a.order - b.order
}

/** A list of several rings, merged in order. */
export function mergedList(rings: readonly RingRoster[], name: ListName): Generator<RosterMember> {
  const lists = rings.flatMap((ring) => (ring.sizeOf(name) > 0 ? [ring.list(name)] : []))
  return mergeSorted(lists, orderOf(name))
}

function orderOf(name: ListName): typeof byReportOrder {
  return name === 'ailing' || name === 'sound' ? byAdmissionOrder : byReportOrder
}

/** Whether a member may be admitted if a slot is free. */
export function mayBeAdmitted(member: RosterMember): boolean {
  return isCandidate(member)
}

export function createRoster(): Roster {
  const byKey = new Map<string, RosterMember>()
  const byCluster = new Map<string, Set<string>>()
  const rings = new Map<number, ReturnType<typeof createRing>>()
  const bundles = new Map<string, BundleTally>()
  const ringAt = (at: number) => {
    const known = rings.get(at) ?? createRing()
    rings.set(at, known)
    return known
  }

  function count(member: RosterMember, by: 1 | -1): void {
    const { pair, order } = member
    const bundle = bundles.get(pair.bundle) ?? { order, states: new Map(), progress: new Map() }
    bundles.set(pair.bundle, bundle)
    add(bundle.states, pair.state.state, by)
    add(bundle.progress, progressOf(member), by)
    if (bundle.states.size === 0) bundles.delete(pair.bundle)
  }

  function remove(key: string): void {
    const member = byKey.get(key)
    if (!member) return
    byKey.delete(key)
    ringAt(member.ring).count(member, -1)
    count(member, -1)
  }

  return {
    get size() {
      return byKey.size
    },
    put: (member) => {
      const key = bundleOnClusterKey(member.pair)
      remove(key)
      byKey.set(key, member)
      const keys = byCluster.get(member.pair.cluster) ?? new Set()
      byCluster.set(member.pair.cluster, keys.add(key))
      ringAt(member.ring).count(member, 1)
      count(member, 1)
    },
    drop: (cluster) => {
      for (const key of byCluster.get(cluster) ?? []) remove(key)
      byCluster.delete(cluster)
    },
    get: (key) => byKey.get(key),
    of: (cluster) => [...(byCluster.get(cluster) ?? [])].map((key) => byKey.get(key)!),
    ring: ringAt,
    counts: () => countsOf([...bundles.values()]),
    bundleCounts: () => {
      const ordered = [...bundles].sort(([, a], [, b]) => a.order - b.order)
      return new Map(ordered.map(([name, tally]) => [name, countsOf([tally])]))
    },
  }
}

function createRing(): RingRoster & { count(member: RosterMember, by: 1 | -1): void } {
  const lists = {} as Record<ListName, SortedSet<RosterMember>>
  for (const name of LIST_NAMES) lists[name] = createSortedSet(orderOf(name))
  const clusters = new Map<string, number>()
  const brokenClusters = new Map<string, number>()
  const wellAway = new Map<string, number>()
  const opens = new Map<number, number>()
  const excusedFor = new Map<ExcuseReason, number>()
  const ring = {
    members: 0,
    ready: 0,
    failed: 0,
    excused: 0,
    excusedFor,
    waiting: 0,
    clusters,
    brokenClusters,
    wellAway,
    opens,
    list: (name: ListName) => lists[name],
    sizeOf: (name: ListName) => lists[name].size,
    count: (member: RosterMember, by: 1 | -1) => {
      const { pair, broken } = member
      ring.members += by
      if (pair.well) ring.ready += by
      if (broken || pair.problem !== undefined) ring.failed += by
      if (isExcused(member)) {
        ring.excused += by
        add(excusedFor, excuseOf(member), by)
      }
      if (isWaiting(member)) ring.waiting += by
      add(clusters, pair.cluster, by)
      if (broken) add(brokenClusters, pair.cluster, by)
      if (pair.well && pair.state.state === 'Offline') add(wellAway, pair.cluster, by)
      if (!pair.well && pair.hold?.until !== undefined) add(opens, pair.hold.until, by)
      for (const name of LIST_NAMES) {
        if (!LISTS[name](member)) continue
        if (by > 0) lists[name].add(member)
        else lists[name].delete(member)
      }
    },
  }
  return ring
}

function add<K>(tally: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (tally.get(key) ?? 0) + by
  if (count === 0) tally.delete(key)
  else tally.set(key, count)
}

interface BundleTally {
  readonly order: number
  readonly states: Map<BundleStateName, number>
  readonly progress: Map<RolloutProgress, number>
}

/** Progress towards the target. A member that has it is ready, connected or not, as in the counts of its ring. */
function progressOf({ pair, broken, holding, spared }: RosterMember): RolloutProgress {
  if (pair.well) return 'ready'
  if (broken || pair.problem !== undefined || (spared && pair.failed)) return 'failed'
  if (pair.state.state === 'Offline') return 'offline'
  return pair.moving || holding ? 'progressing' : 'pending'
}

function countsOf(tallies: readonly BundleTally[]): RolloutCounts {
  const of = (progress: RolloutProgress) => tallies.reduce((sum, one) => sum + (one.progress.get(progress) ?? 0), 0)
  const states = BUNDLE_STATES.flatMap((state) => {
    const count = tallies.reduce((sum, one) => sum + (one.states.get(state) ?? 0), 0)
    return count === 0 ? [] : [[state, count] as const]
  })
  const counts = {
    ready: of('ready'),
    progressing: of('progressing'),
    pending: of('pending'),
    failed: of('failed'),
    offline: of('offline'),
  }
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    ...counts,
    states: Object.fromEntries(states),
  }
}
