import { keyOf } from '../../kinds/meta.ts'
import { bundlesOfSource, inNamespaceOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { selectedClusters } from '../caches/selected-clusters.ts'
import type { ReleaseGatherPorts } from './ports.ts'

/** Reads Bundles, Placements and Releases of a Source from the caches. */
export function gatherSource(caches: Caches): Omit<ReleaseGatherPorts, 'createRelease' | 'enqueue'> {
  return {
    bundlesOf: (source) => bundlesOfSource(caches, source),
    isPlaced: (bundle) => selectedClusters(caches, inNamespaceOf(bundle, bundle.spec.placement)) !== undefined,
    released: (bundle) =>
      caches.releases.lister
        .by('bundle', keyOf(bundle))
        .flatMap(({ spec }) => spec.bundles)
        .filter(({ name }) => name === bundle.metadata.name)
        .reduce((highest, { generation }) => Math.max(highest, generation), 0),
    releaseNamed: (beside, name) => caches.releases.lister.get(inNamespaceOf(beside, name)),
  }
}
