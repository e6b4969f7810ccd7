/** The removals and receipts of a cluster, from the caches. */
import type { Cluster } from '../../kinds/native/cluster.ts'
import { deliveryEntryId } from '../../kinds/native/delivery.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { AdmittedRemoval, AssembleInput } from '../../plan/document/assemble-document.ts'
import { admissionsOn } from '../caches/admissions-on.ts'
import { assignmentOf, inNamespaceOf, reportOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { retainedClusters } from '../caches/retained-clusters.ts'

/**
 * Removals that a Rollout or a Delivery admitted for the cluster, except for Bundles whose Placement selects the
 * cluster again.
 */
export function removalsFor(caches: Caches, cluster: Cluster, now: number): AdmittedRemoval[] {
  const { name } = cluster.metadata
  if (cluster.spec.decommission) return allOf(caches, cluster, cluster.spec.decommission.policy)
  const delivered = caches.deliveries.lister.by('cluster', name).flatMap((delivery): AdmittedRemoval[] => {
    const { removal } = admissionsOn(delivery, name)[0] ?? {}
    const bundle = deliveryEntryId(delivery)
    return removal ? [{ bundle, ...removal, rollout: bundle }] : []
  })
  const placed = caches.rollouts.lister.by('cluster', name).flatMap((rollout): AdmittedRemoval[] => {
    const { removal } = rollout.spec
    if (!removal || admissionsOn(rollout, name).length === 0) return []
    const bundle = inNamespaceOf(rollout, removal.bundle)
    const keep = retainedClusters(caches, bundle, now)
    if (!keep || keep.has(name)) return []
    return [{ bundle, policy: removal.policy, cause: removal.cause, rollout: keyOf(rollout) }]
  })
  return [...placed, ...delivered]
}

/** A decommissioned cluster loses all Bundles at once: a person decided, and one cluster has no rings. */
function allOf(caches: Caches, cluster: Cluster, policy: 'Orphan' | 'Remove'): AdmittedRemoval[] {
  const entries = assignmentOf(caches, cluster)?.spec.entries ?? []
  return entries.map(({ bundle }) =>
    // Without a cause, `Orphan` keeps all objects, whatever the delete settings of Bundles and objects are.
    policy === 'Orphan' ? { bundle, policy } : { bundle, policy: 'Delete', cause: 'unplaced' },
  )
}

/** Receipts of the cluster's agent, each with the revision that the agent had seen. */
export function receiptsOf(caches: Caches, cluster: Cluster): NonNullable<AssembleInput['removed']> {
  const report = reportOf(caches, cluster)
  return (report?.spec.removals ?? [])
    .filter(({ state }) => state === 'Removed' || state === 'Orphaned')
    .map(({ bundle, generation }) => ({ bundle, generation, revision: report!.spec.revision }))
}
