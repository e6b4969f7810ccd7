import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { judgeAvailability } from '../../plan/fleet/availability.ts'
import type { Availability } from '../../plan/fleet/availability.ts'
import { LIVENESS_INTERVAL_MS } from '../../wire/link/liveness.ts'
import type { ClusterAvailabilityPorts } from './ports.ts'

// After three missed summaries, the gateway counts as absent and not its clusters.
const FRESH_WITHIN_MS = 3 * LIVENESS_INTERVAL_MS

/** The present availability of a cluster. */
export function judgeCluster(
  cluster: Cluster,
  ports: Pick<ClusterAvailabilityPorts, 'viewsOf' | 'reportOf'>,
): Availability {
  const previous = availableCondition(cluster)
  return judgeAvailability(
    compact({
      offlineAfterMs: cluster.spec.offlineAfterSeconds * 1000,
      freshWithinMs: FRESH_WITHIN_MS,
      views: ports.viewsOf(cluster.spec.id),
      reported: ports.reportOf(cluster) !== undefined,
      previous,
    }),
  )
}

/** Whether the recorded condition differs from the present availability. */
export function verdictDiffers(
  cluster: Cluster,
  ports: Pick<ClusterAvailabilityPorts, 'viewsOf' | 'reportOf'>,
): boolean {
  return (
    cluster.spec.accepted &&
    !cluster.spec.refused &&
    (availableCondition(cluster) ?? 'Unknown') !== judgeCluster(cluster, ports).state
  )
}

function availableCondition(cluster: Cluster): Availability['state'] | undefined {
  const status = findCondition(cluster.status?.conditions, 'Available')?.status
  if (status === undefined) return undefined
  return status === 'True' ? 'Available' : status === 'False' ? 'Offline' : 'Unknown'
}
