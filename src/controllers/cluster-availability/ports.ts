import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { GatewayView } from '../../plan/fleet/availability.ts'

/** What cluster-availability needs from the world. */
export interface ClusterAvailabilityPorts {
  viewsOf(clusterId: string): readonly GatewayView[]
  assignmentOf(cluster: Cluster): Assignment | undefined
  reportOf(cluster: Cluster): ClusterReport | undefined
  /** Clusters with an alias, `dialect/name`. */
  havingAlias(key: string): readonly Cluster[]
  /** How long to save up changes of mere bundle counts. */
  readonly settleMs: number
}
