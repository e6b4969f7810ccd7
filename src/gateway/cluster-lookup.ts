/** The clusters and their Assignments as the gateway's informers know them. */
import type { Informers } from '../client/informers.ts'
import type { Caller } from '../core/http.ts'
import { ApiError } from '../core/errors.ts'
import { Assignment } from '../kinds/native/assignment.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { clusterIdOf } from './caller.ts'
import { isClusterAccepted, notAccepted, unknownCluster } from './enrolment/enrolment.ts'

export function createClusterLookup(informers: Pick<Informers, 'of'>) {
  const clusters = informers.of(Cluster)
  const assignments = informers.of(Assignment)
  // A cluster that is not registered yet has no id.
  clusters.addIndex('id', ({ spec }) => (spec.id === '' ? [] : [spec.id]))
  const byId = (id: string) => clusters.lister.by('id', id)[0]

  /** The Assignment of this cluster, not of a deleted cluster that had the same name. */
  function assignment(cluster: Cluster): Assignment | undefined {
    const found = assignments.lister.get(cluster.metadata.name)
    return found?.spec.clusterId === cluster.spec.id ? found : undefined
  }

  /** Whether the cluster is decommissioned and its newest document tells the agent so. */
  function hasLastDocument(cluster: Cluster): boolean {
    return cluster.spec.decommission !== undefined && assignment(cluster)?.spec.terminal === true
  }

  return {
    byId,
    assignment,
    hasLastDocument,
    isSynced: () => clusters.synced() && assignments.synced(),
    /** The cluster that the client certificate proves: accepted, or decommissioned with a last document to read. */
    proven(caller: Caller): Cluster {
      const id = clusterIdOf(caller)
      // Checked before the path: a caller without a certificate cannot find out which paths exist.
      if (id === undefined)
        throw new ApiError('Unauthorized', 'a valid client certificate of an enrolled agent is required')
      const cluster = byId(id)
      if (!cluster) throw unknownCluster()
      if (!isClusterAccepted(cluster) && !hasLastDocument(cluster)) throw notAccepted(cluster.metadata.name)
      return cluster
    },
    onAssignmentChange: (heard: (clusterId: string) => void) =>
      assignments.onChange(({ before, after }) => heard((after ?? before)!.spec.clusterId)),
    /** `cluster` is undefined after a deletion. */
    onClusterChange: (heard: (clusterId: string, cluster: Cluster | undefined) => void) =>
      clusters.onChange(({ before, after }) => heard((after ?? before)!.spec.id, after)),
  }
}

export type ClusterLookup = ReturnType<typeof createClusterLookup>
