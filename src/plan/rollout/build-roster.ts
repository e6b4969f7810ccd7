/**
 * Keeps the roster of a rollout between passes, so that the cost of a pass follows what changed since the last pass.
 * The cached roster equals a roster that is built anew; whenever that is not certain, the roster is built anew.
 */
import { ringOf, ringStates } from './rings.ts'
import type { RingState } from './rings.ts'
import type { RolloutInput } from './types.ts'
import { bundleOnClusterKey, listBundlesOnClusters } from './bundle-on-cluster.ts'
import type { BundleOnCluster, ReleaseBundle, RolloutAdmission } from './bundle-on-cluster.ts'
import { isRetryRequested } from './retry.ts'
import { createRoster } from './roster.ts'
import type { Roster } from './roster.ts'

/** The roster, and the recorded state of each ring. */
export interface RosterAndRings {
  readonly roster: Roster
  readonly states: readonly RingState[]
}

interface CachedRoster extends RosterAndRings {
  /** Equal while the Release's bundles and the rings are the same. */
  readonly cacheKey: string
  /** The slots that the roster was built with. */
  readonly slots: ReadonlyMap<string, RolloutAdmission>
  /** Time of the pass that built the roster, and the first time at which a hold can change. */
  readonly at: number
  readonly until: number
}

/** The roster cache of a Rollout; a pass without it decides the same. */
export interface RosterCacheEntry {
  cached?: CachedRoster | undefined
}

/** The changes since the pass that filled the cache. */
export interface RosterChanges {
  readonly roster: RosterCacheEntry
  /** Clusters that may have changed; undefined: all may have. */
  readonly changedClusters: ReadonlySet<string> | undefined
  /** Whether a complete Placement selects a cluster. */
  selects(placement: string, cluster: string): boolean
}

/** Builds a roster from all bundles on clusters of a rollout. */
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
  putMembers({ roster, states }, pairs, { input, slots: slotsByKey(kept) })
  return { roster, states }
}

/** Builds the roster of a release; with the changes since the last pass, only changed clusters are read again. */
export function rebuildRoster(
  input: RolloutInput,
  bundles: readonly ReleaseBundle[],
  kept: readonly RolloutAdmission[],
  since?: RosterChanges,
): RosterAndRings {
  const pairsIn = (decisions: RolloutInput['decisions']) =>
    listBundlesOnClusters({ ...input, decisions, namespace: input.rollout.namespace, bundles, admissions: kept })
  const key = rosterCacheKey(input, bundles)
  const cached = since?.roster.cached
  if (since) since.roster.cached = undefined
  const slots = slotsByKey(kept)
  if (!since || !cached || !since.changedClusters || !isFresh(cached, key, input)) {
    const all = buildRoster(input, pairsIn(input.decisions), kept)
    // Building the roster fixes where rings by count end, and the key contains these boundaries.
    const cacheKey = rosterCacheKey(input, bundles, all.states)
    if (since) since.roster.cached = { ...all, cacheKey, slots, ...holdsValidity(input) }
    return all
  }
  const names = [...new Set([...since.changedClusters, ...clustersWithChangedSlots(cached.slots, slots)])]
  const decisions = new Map(
    bundles.map(({ placement }) => [placement, names.filter((name) => since.selects(placement, name))]),
  )
  for (const name of names) cached.roster.drop(name)
  putMembers(cached, pairsIn(decisions), { input, slots })
  const states = ringStates(input.rollout.rings, input.rollout.ringStates ?? [], [])
  const { until } = holdsValidity(input)
  since.roster.cached = { ...cached, states, slots, at: input.now, until: Math.min(cached.until, until) }
  return { roster: cached.roster, states }
}

function isFresh({ cacheKey, at, until }: CachedRoster, key: string, input: RolloutInput): boolean {
  return cacheKey === key && input.now >= at && input.now < until
}

function rosterCacheKey(
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

/** How long the holds of this pass are valid; without `holdsUntil`, only for this pass. */
function holdsValidity({ now, holdOf, holdsUntil }: RolloutInput): Pick<CachedRoster, 'at' | 'until'> {
  return { at: now, until: holdOf && !holdsUntil ? now : (holdsUntil?.() ?? Infinity) }
}

function slotsByKey(kept: readonly RolloutAdmission[]): ReadonlyMap<string, RolloutAdmission> {
  return new Map(kept.map((admission) => [bundleOnClusterKey(admission), admission]))
}

function clustersWithChangedSlots(
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

function putMembers(
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
    const retried = attemptOf !== undefined && isRetryRequested(pair, slot, attemptOf)
    const spared = takesBack === true && pair.keeps && !slot && !retried
    roster.put({
      pair,
      ring: ringOf(rings, states, asCluster(pair)),
      order: orders.get(pair.bundle) ?? 0,
      holding: slot !== undefined,
      broken: (pair.failed || slot?.failedAt !== undefined) && !retried && !spared,
      retried,
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
