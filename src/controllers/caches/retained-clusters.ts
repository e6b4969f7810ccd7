import type { Bundle } from '../../kinds/native/bundle.ts'
import { compileCelFor } from '../../plan/placement/cel-predicates.ts'
import { compileFilter, firstRejection } from '../../plan/placement/filter.ts'
import { asPlacementCluster, asPlacementSet, questionOf } from '../../plan/placement/read-objects.ts'
import type { IntentFacts, RemovalFacts } from '../../plan/document/removal.ts'
import { inNamespaceOf } from './caches.ts'
import type { Caches } from './caches.ts'
import { selectedClusters } from './selected-clusters.ts'

/** The caches that decide about retained clusters. */
export type PlacingCaches = Pick<
  Caches,
  'bundles' | 'placements' | 'decisions' | 'clusters' | 'clusterSets' | 'clusterSetBindings'
>

/**
 * The clusters that keep a Bundle (`namespace/name`) according to the present decisions of its Placement: the selected
 * clusters, and clusters that only a taint excludes. Empty when the Bundle is deleted; undefined while the decisions
 * are not complete, and then nothing is removed.
 */
export function retainedClusters(caches: PlacingCaches, bundle: string, now: number): RemovalFacts['keep'] {
  const found = caches.bundles.lister.get(bundle)
  if (!found || found.metadata.deletionTimestamp) return new Set()
  const placed = selectedClusters(caches, inNamespaceOf(found, found.spec.placement))
  if (!placed) return undefined
  const selected = new Set(placed)
  let stops: IntentFacts['stoppedBy'] | undefined
  return {
    has: (name) => {
      if (selected.has(name)) return true
      const cluster = caches.clusters.lister.get(name)
      if (!cluster || !asPlacementCluster(cluster).taints?.length) return false
      stops ??= placementFilterReason(caches, found, now)
      return stops(name) === 'Tainted'
    },
  }
}

/** The filters of a Bundle's Placement that would reject a new cluster. */
export function placementFilterReason(caches: PlacingCaches, bundle: Bundle, now: number): IntentFacts['stoppedBy'] {
  const placement = caches.placements.lister.get(inNamespaceOf(bundle, bundle.spec.placement))
  // An unknown Placement counts as a circumstance: no cluster loses the Bundle because of it.
  if (!placement) return () => 'NotAccepted'
  const question = questionOf(placement)
  const filter = compileFilter(question, {
    sets: caches.clusterSets.lister.list().map(asPlacementSet),
    bound: caches.clusterSetBindings.lister
      .list(bundle.metadata.namespace)
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ spec }) => spec.clusterSet),
    compileCel: compileCelFor(question.scheduler ?? 'native'),
  })
  return (name) => {
    const cluster = caches.clusters.lister.get(name)
    return cluster ? firstRejection(filter, asPlacementCluster(cluster), { now, incumbent: false }) : 'NotAccepted'
  }
}
