/** Bundles that are on a cluster now and will leave it. */
import { unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { inNamespaceOf } from './caches.ts'
import type { Caches } from './caches.ts'
import { findDecision } from '../../plan/placement/decisions/find-decision.ts'

/** Whether a Bundle (`namespace/name`) leaves a cluster: it is deleted, evicted by its Placement, or being removed. */
export function isWithdrawn(
  caches: Pick<Caches, 'bundles' | 'rollouts' | 'decisions'>,
  bundle: string,
  cluster: string,
): boolean {
  const found = caches.bundles.lister.get(bundle)
  if (!found || found.metadata.deletionTimestamp !== undefined) return true
  if (caches.rollouts.lister.by('removes', bundle).some((one) => unsettledClusters(one).includes(cluster))) return true
  const placement = inNamespaceOf(found, found.spec.placement)
  return caches.decisions.lister
    .by('cluster', cluster)
    .filter((page) => inNamespaceOf(page, page.spec.placement) === placement)
    .some(({ spec }) => findDecision(spec.decisions, cluster)?.state === 'Evicting')
}
