import type { Caches } from './caches.ts'
import { selectedClusters } from './selected-clusters.ts'

/**
 * The clusters that keep a bundle (`namespace/name`) by what its Placement decides now: none when the Bundle is gone or being
 * deleted, undefined while the decision is not complete, and then nothing is removed.
 */
export function keptBy(
  caches: Pick<Caches, 'bundles' | 'placements' | 'decisions'>,
  bundle: string,
): ReadonlySet<string> | undefined {
  const found = caches.bundles.lister.get(bundle)
  if (!found || found.metadata.deletionTimestamp) return new Set()
  const selected = selectedClusters(caches, `${found.metadata.namespace ?? ''}/${found.spec.placement}`)
  return selected && new Set(selected)
}
