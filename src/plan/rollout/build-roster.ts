/**
 * What a rollout remembers between two looks: its roster, so that a look costs what has changed since the last one. What it
 * says is what a look at everything would say; whenever that is not certain, everything is looked at.
 */
import { ringOf, ringStates } from './rings.ts'
import type { RingState } from './rings.ts'
import type { RolloutInput } from './types.ts'
import { bundleOnClusterKey, listBundlesOnClusters } from './bundle-on-cluster.ts'
import type { BundleOnCluster, ReleaseBundle, RolloutAdmission } from './bundle-on-cluster.ts'
import { isRetryRequested } from './retry.ts'
import { createRoster } from './roster.ts'
import type { Roster } from './roster.ts'

/** Everybody, and what is written down about the rings. */
export interface RosterAndRings {
  readonly roster: Roster
  readonly states: readonly RingState[]
}

interface CachedRoster extends RosterAndRings {
  /** What decides about everybody at once. */
  readonly frame: string
  /** The slots as the roster knows them. */
  readonly slots: ReadonlyMap<string, RolloutAdmission>
  /** When it was looked at, and when the first hold may change by itself. */
  readonly at: number
  readonly until: number
}

/** The memory of one Rollout; it holds nothing that a look at everything would not find. */
export interface RosterCacheEntry {
  page?: CachedRoster | undefined
}

/** What has happened since the last look with a book. */
export interface RosterChanges {
  readonly roster: RosterCacheEntry
  /** Clusters of which anything may have changed; undefined: anything may have. */
  readonly changedClusters: ReadonlySet<string> | undefined
  /** Whether a complete Placement selects a cluster. */
  selects(placement: string, cluster: string): boolean
}

/** Enrols pairs that are all known. */
export function buildRoster(
  input: RolloutInput,
  pairs: readonly BundleOnCluster[],
  kept: readonly RolloutAdmission[],
): RosterAndRings {
  const { rings } = input.rollout
  const asCluster = clusterIn(input)
  const states = ringStates(
    rings,
    input.rollout.ringStates ?? [],
    new Map(pairs.map((pair) => [pair.cluster, asCluster(pair)])).values(),
  )
  const roster = createRoster()
  put({ roster, states }, pairs, { input, slots: slotsOf(kept) })
  return { roster, states }
}

/** Enrols the selected pairs of a release; with a book, only what has changed is worked out again. */
export function rebuildRoster(
  input: RolloutInput,
  bundles: readonly ReleaseBundle[],
  kept: readonly RolloutAdmission[],
  since?: RosterChanges,
): RosterAndRings {
  const pairsIn = (decisions: RolloutInput['decisions']) =>
    listBundlesOnClusters({ ...input, decisions, namespace: input.rollout.namespace, bundles, admissions: kept })
  const frame = frameOf(input, bundles)
  const page = since?.roster.page
  if (since) since.roster.page = undefined
  const slots = slotsOf(kept)
  if (!since || !page || !since.changedClusters || !isFresh(page, frame, input)) {
    const all = buildRoster(input, pairsIn(input.decisions), kept)
    // Where a ring by count ends is not known before it is written down.
    if (since) since.roster.page = { ...all, frame: frameOf(input, bundles, all.states), slots, ...heldFor(input) }
    return all
  }
  const touched = new Set([...since.changedClusters, ...changedSlots(page.slots, slots)])
  const names = [...touched]
  const decisions = new Map(
    bundles.map(({ placement }) => [placement, names.filter((name) => since.selects(placement, name))]),
  )
  for (const name of names) page.roster.drop(name)
  put(page, pairsIn(decisions), { input, slots })
  const states = ringStates(input.rollout.rings, input.rollout.ringStates ?? [], [])
  const { until } = heldFor(input)
  since.roster.page = { ...page, states, slots, at: input.now, until: Math.min(page.until, until) }
  return { roster: page.roster, states }
}

function isFresh({ frame, at, until }: CachedRoster, now: string, input: RolloutInput): boolean {
  return frame === now && input.now >= at && input.now < until
}

function frameOf(
  { rollout }: RolloutInput,
  bundles: readonly ReleaseBundle[],
  states: readonly RingState[] = rollout.ringStates ?? [],
): string {
  const ends = new Map(states.map(({ name, upTo }) => [name, upTo]))
  return JSON.stringify([
    bundles.map(({ name, generation, set, placement }) => [name, generation, set, placement]),
    rollout.rings.map((ring) => [ring, ends.get(ring.name) ?? null]),
  ])
}

/** Until when the holds stand that were asked about; whoever cannot tell asks again each time. */
function heldFor({ now, holdOf, holdsUntil }: RolloutInput): Pick<CachedRoster, 'at' | 'until'> {
  return { at: now, until: holdOf && !holdsUntil ? now : (holdsUntil?.() ?? Infinity) }
}

function slotsOf(kept: readonly RolloutAdmission[]): ReadonlyMap<string, RolloutAdmission> {
  return new Map(kept.map((admission) => [bundleOnClusterKey(admission), admission]))
}

function changedSlots(
  before: ReadonlyMap<string, RolloutAdmission>,
  after: ReadonlyMap<string, RolloutAdmission>,
): string[] {
  const changed: string[] = []
  for (const [key, { cluster, attempt, failedAt }] of after) {
    const was = before.get(key)
    if (!was || was.attempt !== attempt || was.failedAt !== failedAt) changed.push(cluster)
  }
  for (const [key, { cluster }] of before) if (!after.has(key)) changed.push(cluster)
  return changed
}

function put(
  { roster, states }: RosterAndRings,
  pairs: readonly BundleOnCluster[],
  from: { readonly input: RolloutInput; readonly slots: ReadonlyMap<string, RolloutAdmission> },
): void {
  const { input, slots } = from
  const { rings, attemptOf, takesBack } = input.rollout
  const asCluster = clusterIn(input)
  const orders = new Map(input.release?.bundles.map(({ name }, order) => [name, order]))
  for (const pair of pairs) {
    const slot = slots.get(bundleOnClusterKey(pair))
    const asked = attemptOf !== undefined && isRetryRequested(pair, slot, attemptOf)
    const spared = takesBack === true && pair.keeps && !slot && !asked
    roster.put({
      pair,
      ring: ringOf(rings, states, asCluster(pair)),
      order: orders.get(pair.bundle) ?? 0,
      holding: slot !== undefined,
      broken: (pair.failed || slot?.failedAt !== undefined) && !asked && !spared,
      asked,
      spared,
    })
  }
}

function clusterIn({ groupsOf }: RolloutInput) {
  return ({ cluster, placement, labels }: BundleOnCluster) => ({
    name: cluster,
    labels,
    groups: groupsOf?.(placement, cluster) ?? [],
  })
}
