/** The Bundles that are to reach a cluster, and the clusters for which a change of a Bundle counts. */
import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { Change } from '../../client/cache.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { clusterInputsOf, contentFor } from '../../plan/release/variants.ts'
import { inNamespaceOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { selectedClusters, selectsCluster } from '../caches/selected-clusters.ts'

/** A Bundle that is to reach a cluster. */
export interface PlacedBundle {
  /** `namespace/name`. */
  readonly bundle: string
  /** Why the newest Release has no content for the cluster. */
  readonly problem?: string
}

type PlacedCaches = Pick<Caches, 'assignments' | 'bundles' | 'decisions' | 'placements' | 'releases'>

/** The Bundles whose Placement selects the cluster, without the Bundles that exclude it by a variant. */
export function placedBundles(caches: PlacedCaches, cluster: Cluster): readonly PlacedBundle[] {
  const { name } = cluster.metadata
  const placements = new Set(
    caches.decisions.lister.by('cluster', name).map((page) => inNamespaceOf(page, page.spec.placement)),
  )
  return [...placements]
    .filter((placement) => selectsCluster(caches, placement, name))
    .flatMap((placement) => caches.bundles.lister.by('placement', placement))
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((bundle) => {
      const released = releasedOf(caches, bundle)
      const content = released && contentFor(released, clusterInputsOf(cluster))
      if (content?.kind === 'Skip') return []
      return [
        { bundle: keyOf(bundle), ...compact({ problem: content?.kind === 'Problem' ? content.problem : undefined }) },
      ]
    })
    .sort((a, b) => compareText(a.bundle, b.bundle))
}

/** The clusters that a page of decisions selects before or after its change, not both. */
export function reselectedClusters({ before, after }: Change<PlacementDecision>): string[] {
  const [old, now] = [before, after].map(
    (page) =>
      new Set(page?.spec.decisions.flatMap(({ cluster, state }) => (state === 'Selected' ? [cluster] : [])) ?? []),
  )
  // Pages count only when complete: a new generation or number of pages may bring clusters into force.
  const isSameStamp =
    before?.spec.placementGeneration === after?.spec.placementGeneration && before?.spec.pages === after?.spec.pages
  return isSameStamp ? [...old!.symmetricDifference(now!)] : [...old!.union(now!)]
}

/**
 * The clusters whose state may follow from a change of a Bundle: clusters that have nothing yet, and all where one of
 * the Releases has content that could not be rendered.
 */
export function clustersOfBundle(caches: PlacedCaches, { before, after }: Change<Bundle>): string[] {
  const isSame =
    before?.spec.placement === after?.spec.placement &&
    before?.status?.release === after?.status?.release &&
    before?.metadata.deletionTimestamp === after?.metadata.deletionTimestamp
  if (isSame) return []
  const both = [before, after].filter((bundle) => bundle !== undefined)
  const names = new Set(
    both.flatMap((bundle) => selectedClusters(caches, inNamespaceOf(bundle, bundle.spec.placement)) ?? []),
  )
  const isProblem = both.some((bundle) =>
    releasedOf(caches, bundle)?.variants?.some(({ problem }) => problem !== undefined),
  )
  return [...names].filter((name) => isProblem || (caches.assignments.lister.get(name)?.spec.entries.length ?? 0) === 0)
}

function releasedOf({ releases }: PlacedCaches, bundle: Bundle) {
  const { release } = bundle.status ?? {}
  if (release === undefined) return undefined
  const found = releases.lister.get(inNamespaceOf(bundle, release))
  return found?.spec.bundles.find(({ name }) => name === bundle.metadata.name)
}
