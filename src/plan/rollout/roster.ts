/**
 * The pairs of a rollout, by ring, counted and in order, so that a decision reads numbers and the few pairs it is about,
 * however many there are: one pair that changes is taken out and put in again, and nothing else is looked at.
 */
import { createSortedSet, mergeSorted } from '../../core/collections/sorted-set.ts'
import type { SortedSet } from '../../core/collections/sorted-set.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { RolloutCounts } from './types.ts'
import { bundleOnClusterKey } from './bundle-on-cluster.ts'
import type { BundleOnCluster } from './bundle-on-cluster.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'

/** A pair with what its ring and its slot make of it. */
export interface RosterMember {
  readonly pair: BundleOnCluster
  /** The place of its ring, or -1. */
  readonly ring: number
  /** The place of its bundle in the release. */
  readonly order: number
  /** It holds a slot. */
  readonly holding: boolean
  /** It failed, and nobody asked to try it again. */
  readonly broken: boolean
  /** Somebody asked to try it again. */
  readonly asked: boolean
  /** A rollback leaves it as it is: neither its state nor its failure is this rollout's. */
  readonly spared: boolean
}

/** How often something is there. */
export interface Tally<K> {
  /** How many different ones. */
  readonly size: number
  keys(): Iterable<K>
}

/** The pairs of one ring. */
export interface RingRoster {
  readonly members: number
  readonly ready: number
  /** Failed, or without anything to get. */
  readonly failed: number
  /** Not waited for. */
  readonly excused: number
  /** Could be admitted now, as far as they are concerned. */
  readonly waiting: number
  readonly clusters: Tally<string>
  readonly brokenClusters: Tally<string>
  /** Clusters that are offline with a pair that is well. */
  readonly wellAway: Tally<string>
  /** When those that are held and not well may be free; milliseconds since 1970. */
  readonly opens: Tally<number>
  list(name: ListName): Iterable<RosterMember>
  sizeOf(name: ListName): number
}

/** The pairs of a rollout. */
export interface Roster {
  readonly size: number
  put(member: RosterMember): void
  /** Takes out all pairs of a cluster. */
  drop(cluster: string): void
  get(key: string): RosterMember | undefined
  of(cluster: string): Iterable<RosterMember>
  /** By place; -1 is who is in no ring. */
  ring(at: number): RingRoster
  counts(): RolloutCounts
  /** The same per bundle, in order of the release. */
  bundleCounts(): ReadonlyMap<string, RolloutCounts>
}

const isUnserved = ({ pair: { free, well, handed }, holding, spared }: RosterMember) =>
  free && !well && !handed && !holding && !spared

const isWaiting = (member: RosterMember) => isUnserved(member) && !member.pair.blocked

function isCandidate({ pair, asked, holding, spared }: RosterMember): boolean {
  const { free, well, blocked, failed, keeps, handed } = pair
  if (!free || well || blocked || spared) return false
  // What it has already is not handed to it once more, unless somebody asks.
  return asked || (!failed && !holding && !(keeps && handed))
}

// Who waits for a window of its own comes in time, and the ring waits for it; a freeze is no reason to stop the others.
function isExcused({ pair: { free, hold, well, handed, problem }, holding, spared }: RosterMember): boolean {
  return problem !== undefined || (!free && hold?.for !== 'window' && !well && !handed && !holding && !spared)
}

/** The lists that decisions name pairs from. */
const LISTS = {
  /** Not connected, and not well. */
  away: ({ pair: { free, hold, well }, spared }: RosterMember) => !free && !hold && !well && !spared,
  /** Held, frozen or outside of its window, and not well. */
  held: ({ pair: { hold, well }, spared }: RosterMember) => hold !== undefined && !well && !spared,
  broken: ({ broken }: RosterMember) => broken,
  /** Handed the target and not well at it. */
  unwell: ({ pair: { handed, well }, spared }: RosterMember) => handed && !well && !spared,
  /** Left as it is, and not well. */
  spared: ({ pair: { well }, spared }: RosterMember) => spared && !well,
  /** Nothing could be rendered for it. */
  unrendered: (member: RosterMember) => isUnserved(member) && member.pair.problem !== undefined,
  /** It has this generation, or a later one, with other content. */
  taken: (member: RosterMember) => isUnserved(member) && member.pair.problem === undefined && member.pair.blocked,
  /** It may be admitted, and fails at what it runs now. */
  ailing: (member: RosterMember) => isCandidate(member) && member.pair.ailing,
  /** It may be admitted. */
  sound: (member: RosterMember) => isCandidate(member) && !member.pair.ailing,
  /** In no ring. */
  unringed: ({ ring }: RosterMember) => ring < 0,
} as const

/** The name of a list. */
export type ListName = keyof typeof LISTS

const LIST_NAMES = Object.keys(LISTS) as readonly ListName[]

/** As pairs are told: by bundle, in order of the release, then by name. */
export function byReportOrder(a: RosterMember, b: RosterMember): number {
  return a.order - b.order || compareText(a.pair.cluster, b.pair.cluster)
}

/** As pairs are admitted: by cluster, so that the bundles of a release reach it together. */
export function byAdmissionOrder(a: RosterMember, b: RosterMember): number {
  return compareText(a.pair.cluster, b.pair.cluster) || a.order - b.order
}

/** The lists of several rings as one. */
export function mergedList(rings: readonly RingRoster[], name: ListName): Generator<RosterMember> {
  const lists = rings.flatMap((ring) => (ring.sizeOf(name) > 0 ? [ring.list(name)] : []))
  return mergeSorted(lists, orderOf(name))
}

function orderOf(name: ListName): typeof byReportOrder {
  return name === 'ailing' || name === 'sound' ? byAdmissionOrder : byReportOrder
}

/** Whether a member may be admitted, as far as it is concerned. */
export function mayBeAdmitted(member: RosterMember): boolean {
  return isCandidate(member)
}

/** Makes an empty roster. */
export function createRoster(): Roster {
  const byKey = new Map<string, RosterMember>()
  const byCluster = new Map<string, Set<string>>()
  const rings = new Map<number, ReturnType<typeof createRing>>()
  const bundles = new Map<string, { order: number; states: Map<BundleStateName, number> }>()
  const ringAt = (at: number) => {
    const known = rings.get(at) ?? createRing()
    rings.set(at, known)
    return known
  }

  function count({ pair, order }: RosterMember, by: 1 | -1): void {
    const bundle = bundles.get(pair.bundle) ?? { order, states: new Map<BundleStateName, number>() }
    bundles.set(pair.bundle, bundle)
    add(bundle.states, pair.state.state, by)
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
    counts: () => countsOf([...bundles.values()].map(({ states }) => states)),
    bundleCounts: () => {
      const ordered = [...bundles].sort(([, a], [, b]) => a.order - b.order)
      return new Map(ordered.map(([name, { states }]) => [name, countsOf([states])]))
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
  const ring = {
    members: 0,
    ready: 0,
    failed: 0,
    excused: 0,
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
      if (isExcused(member)) ring.excused += by
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

function countsOf(states: readonly ReadonlyMap<BundleStateName, number>[]): RolloutCounts {
  const of = (...some: readonly BundleStateName[]) =>
    states.reduce((sum, one) => sum + some.reduce((n, state) => n + (one.get(state) ?? 0), 0), 0)
  return {
    total: states.reduce((sum, one) => sum + [...one.values()].reduce((n, count) => n + count, 0), 0),
    ready: of('Ready'),
    // A drifted pair is being brought back to what it should be.
    progressing: of('Progressing', 'Drifted'),
    pending: of('Pending', 'NotSelected'),
    failed: of('Failed'),
    offline: of('Offline'),
  }
}
