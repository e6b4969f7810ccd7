/** A cluster as a row of the view API reads it, from the Cluster, its report and its Assignment. */
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { apartBadge, apartMessage } from './cluster-badges.ts'
import type { RowCluster } from './view-rows.ts'

/** The objects of a cluster. */
export interface ClusterObjects {
  readonly cluster: Cluster
  readonly report?: ClusterReport | undefined
  readonly assignment?: Assignment | undefined
}

/** The facts of a cluster about an entry of its document. */
export function rowClusterOf(entry: string, { cluster, report, assignment }: ClusterObjects): RowCluster {
  const assigned = assignment?.spec.entries.find(({ bundle }) => bundle === entry)
  const reported = report?.spec.bundles.find(({ bundle }) => bundle === entry)
  const buried = assignment?.spec.tombstones?.find(({ bundle }) => bundle === entry)
  const removal = report?.spec.removals?.find(({ bundle }) => bundle === entry)
  const badge = apartBadge(cluster)
  return compact({
    name: cluster.metadata.name,
    availability: availabilityOf(cluster),
    apart: badge ? { badge, message: apartMessage(cluster) ?? '' } : undefined,
    buried,
    removal,
    assigned,
    reported,
  })
}

const VERDICTS = { True: 'Available', False: 'Offline', Unknown: 'Unknown' } as const

function availabilityOf({ status }: Cluster): RowCluster['availability'] {
  const condition = findCondition(status?.conditions, 'Available')
  if (!condition) return { state: 'Unknown', message: 'The agent has not contacted the hub yet.' }
  return { state: VERDICTS[condition.status], message: condition.message }
}
