import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { GatewayView } from '../../plan/fleet/availability.ts'
import type { PlacedBundle } from './placed-bundles.ts'

/** The ports of cluster-availability. */
export interface ClusterAvailabilityPorts {
  viewsOf(clusterId: string): readonly GatewayView[]
  assignmentOf(cluster: Cluster): Assignment | undefined
  reportOf(cluster: Cluster): ClusterReport | undefined
  /** Bundles that are to reach a cluster, in order of their names. */
  placedOn(cluster: Cluster): readonly PlacedBundle[]
  /** Clusters with an alias, `dialect/name`. */
  havingAlias(key: string): readonly Cluster[]
  /** Time for which a change of counts alone waits before it is written. */
  readonly settleMs: number
}
