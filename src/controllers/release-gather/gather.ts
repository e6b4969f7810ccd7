import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
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
        .reduce((highest, { spec }) => Math.max(highest, generationsOf(spec).get(bundle.metadata.name) ?? 0), 0),
    releaseNamed: (beside, name) => caches.releases.lister.get(inNamespaceOf(beside, name)),
  }
}

// A Release of a commit has many Bundles, and each of them is looked up once for each pass of their Source.
const generations = new WeakMap<Release['spec'], ReadonlyMap<string, number>>()

/** The generations of the Bundles of a Release, by name. */
function generationsOf(spec: Release['spec']): ReadonlyMap<string, number> {
  const known = generations.get(spec) ?? new Map(spec.bundles.map(({ name, generation }) => [name, generation]))
  generations.set(spec, known)
  return known
}
