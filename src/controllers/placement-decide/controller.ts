// Tested by src/controllers/placement-decide/held-drop.sim.test.ts
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { parseTime } from '../../core/time/time.ts'
import { keyOf } from '../../kinds/meta.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { compileCelFor } from '../../plan/placement/cel-predicates.ts'
import { createPlacementLoads } from '../../plan/placement/decisions/decision-load.ts'
import type { PlacementLoads } from '../../plan/placement/decisions/decision-load.ts'
import { GROWTH_WINDOW_MS } from '../../plan/placement/growth-guard.ts'
import { asPlacementCluster, asPlacementSet, questionOf } from '../../plan/placement/read-objects.ts'
import { isRanked } from '../../plan/placement/select-clusters.ts'
import { preconditionsFor } from '../writes/preconditions.ts'
import { inNamespaceOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { namespaceProjects, triggerOnProjects } from '../caches/namespace-projects.ts'
import { isWithdrawn } from '../caches/withdrawn-bundles.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { Trigger } from '../../engine/trigger.ts'
import { createPlacementCache } from './placement-cache.ts'
import type { PlacementCache } from './placement-cache.ts'
import { placementDecideReconciler } from './reconcile.ts'
import { findDecision } from '../../plan/placement/decisions/find-decision.ts'

const CEL = { native: compileCelFor('native'), ocm: compileCelFor('ocm') } as const

/** Creates the controller that writes the decisions of Placements as PlacementDecision pages. */
export function createPlacementDecide(parts: ControllerParts): Controller {
  const { caches, client, clock } = parts
  const write = (signal: AbortSignal) => ({ fieldManager: 'flotilla-placement-decide', signal })
  const books = createPlacementCache()
  const loads = createPlacementLoads()
  caches.decisions.onChange(({ before, after }) => loads.change(before, after))
  const evicted = new Map<string, ReadonlySet<string>>()
  const reconciler = placementDecideReconciler({
    projectOf: namespaceProjects(caches),
    books,
    clusters: () => caches.clusters.lister.list().map(asPlacementCluster),
    clusterOf: (name) => {
      const cluster = caches.clusters.lister.get(name)
      return cluster && asPlacementCluster(cluster)
    },
    sets: () => caches.clusterSets.lister.list().map(asPlacementSet),
    boundTo: (namespace) =>
      caches.clusterSetBindings.lister
        .list(namespace)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ spec }) => spec.clusterSet),
    loadBeside: (key) => loadOf(caches, loads, key),
    holds: (placement, cluster) => {
      const { entries = [], tombstones = [] } = caches.assignments.lister.get(cluster)?.spec ?? {}
      return hasBundleOf(caches, placement, [...entries, ...tombstones])
    },
    runs: (placement, cluster) =>
      hasBundleOf(caches, placement, caches.assignments.lister.get(cluster)?.spec.entries ?? []),
    empties: (placement, cluster) => {
      const { entries = [] } = caches.assignments.lister.get(cluster)?.spec ?? {}
      return (
        entries.length > 0 && entries.every(({ bundle }) => leaves(caches, bundle, { placement, cluster, evicted }))
      )
    },
    isJoining: (cluster, now) => {
      const created = parseTime(caches.assignments.lister.get(cluster)?.metadata.creationTimestamp ?? '')
      return created === undefined || now - created < GROWTH_WINDOW_MS
    },
    bundlesOf: (placement) =>
      caches.bundles.lister.by('placement', placement).filter(({ metadata }) => !metadata.deletionTimestamp).length,
    noteEvicted: (placement, clusters) => {
      if (clusters.size > 0) evicted.set(placement, clusters)
      else evicted.delete(placement)
    },
    compileCel: (scheduler) => CEL[scheduler],
    pagesOf: (placement) => caches.decisions.lister.by('placement', placement),
    pageWith: (placement, cluster) => pageWith(caches, placement, cluster),
    createPage: async (page, signal) => void (await client.create(PlacementDecision, page, write(signal))),
    updatePage: async (page, signal) => void (await client.update(PlacementDecision, page, write(signal))),
    deletePage: async (page, signal) => {
      const { name, namespace } = page.metadata
      const key = compact({ name, namespace: namespace || undefined })
      await client.delete(PlacementDecision, key, { signal, ...preconditionsFor(page.metadata) })
    },
  })
  const triggers = triggersOf(caches, books, () => clock.now())
  return createController({
    ...parts,
    type: Placement,
    informer: caches.placements,
    reconciler,
    triggers,
  })
}

function triggersOf(caches: Caches, books: PlacementCache, now: () => number): readonly Trigger[] {
  const fromScratch = (keys: readonly string[]): readonly string[] => {
    for (const key of keys) books.drop(key)
    return keys
  }
  return [
    triggerOn(caches.clusters, ({ before, after }) => {
      const was = before && asPlacementCluster(before)
      const is = after && asPlacementCluster(after)
      if (jsonEqual(was, is)) return []
      const changed = books.note(was, is, { now: now(), pageWith: (key, name) => pageWith(caches, key, name) })
      // A Placement without a cache entry is not decided yet, or its guard stops it, and this change may release it.
      const undecided = caches.placements.lister
        .list()
        .map(keyOf)
        .filter((key) => !books.has(key))
      return [...changed, ...undecided]
    }),
    triggerOnProjects(caches, (namespace) => fromScratch(caches.placements.lister.list(namespace).map(keyOf))),
    // A page that a user changed or deleted is written again.
    triggerOn(caches.decisions, ({ key, before, after }) => {
      const page = after ?? before
      return page && !books.isWriting(key) ? fromScratch([inNamespaceOf(page, page.spec.placement)]) : []
    }),
    triggerOn(caches.clusterSets, ({ before, after }) =>
      jsonEqual(before?.spec, after?.spec) ? [] : fromScratch(caches.placements.lister.list().map(keyOf)),
    ),
    triggerOn(caches.clusterSetBindings, ({ before, after }) => {
      const namespace = (after ?? before)?.metadata.namespace
      return fromScratch(caches.placements.lister.list(namespace).map(keyOf))
    }),
    // A cluster that no longer runs content of a Placement is no longer Evicting.
    triggerOn(caches.assignments, ({ key: cluster, before, after }) => {
      const held = (one: typeof after) => [...(one?.spec.entries ?? []), ...(one?.spec.tombstones ?? [])]
      const left = held(before).some(({ bundle }) => !held(after).some((entry) => entry.bundle === bundle))
      if (!left) return []
      const pages = caches.decisions.lister.by('cluster', cluster)
      const evicting = pages.filter(({ spec }) => findDecision(spec.decisions, cluster)?.state === 'Evicting')
      return fromScratch(evicting.map((page) => inNamespaceOf(page, page.spec.placement)))
    }),
  ]
}

function pageWith(caches: Pick<Caches, 'decisions'>, placement: string, cluster: string) {
  return caches.decisions.lister
    .by('cluster', cluster)
    .find((page) => inNamespaceOf(page, page.spec.placement) === placement)
}

const NO_LOAD = { countOf: () => 0, max: 0 } as const

/** Read only for Placements that rank clusters: it reads each page of the Placement. */
function loadOf(caches: Caches, loads: PlacementLoads, key: string) {
  const placement = caches.placements.lister.get(key)
  if (!placement) return NO_LOAD
  const question = questionOf(placement)
  return isRanked(question) || question.scheduler === 'ocm'
    ? loads.beside(caches.decisions.lister.by('placement', key))
    : NO_LOAD
}

/** Whether a Bundle of a cluster's document leaves the cluster: with this Placement, with another, or deleted. */
function leaves(
  caches: Caches,
  bundle: string,
  by: {
    readonly placement: Placement
    readonly cluster: string
    readonly evicted: ReadonlyMap<string, ReadonlySet<string>>
  },
): boolean {
  const found = caches.bundles.lister.get(bundle)
  const placement = found && inNamespaceOf(found, found.spec.placement)
  if (placement === keyOf(by.placement)) return true
  if (placement !== undefined && by.evicted.get(placement)?.has(by.cluster)) return true
  return isWithdrawn(caches, bundle, by.cluster)
}

/** Whether one of these entries is of a Bundle of the Placement. */
function hasBundleOf(
  { bundles }: Pick<Caches, 'bundles'>,
  { metadata: { name, namespace } }: Placement,
  those: readonly { readonly bundle: string }[],
): boolean {
  return those.some(({ bundle }) => {
    const found = bundles.lister.get(bundle)
    return found?.spec.placement === name && found.metadata.namespace === namespace
  })
}
