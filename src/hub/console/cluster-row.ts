/** A Cluster as a row of the console's list. */
import { parseTime } from '../../core/time/time.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { apartBadge, apartMessage, badgesOfCluster, stateOfCluster } from '../../plan/fleet/cluster-badges.ts'
import type { FleetRow } from './fleet-row.ts'

/** The row of a cluster. The CLI prints the same state and counts. */
export function clusterRow(cluster: Cluster): FleetRow {
  const { metadata, spec, status } = cluster
  const apart = apartBadge(cluster)
  // lastSeen is written rarely while the agent is in contact, so it says nothing then.
  const isHeard = status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false
  return {
    name: metadata.name,
    state: stateOfCluster(cluster) ?? apart ?? 'Pending',
    isApart: apart !== undefined,
    isHeard,
    since: seconds(status?.since),
    seen: isHeard ? 0 : seconds(status?.lastSeen),
    certificate: seconds(status?.certificate?.notAfter),
    ready: status?.bundles?.ready ?? 0,
    bundles: status?.bundles?.total ?? 0,
    version: status?.kubernetesVersion ?? '',
    agent: status?.agentVersion ?? '',
    waitsFor: status?.waitsFor ?? '',
    badges: badgesOfCluster(cluster).join(','),
    message: apartMessage(cluster) ?? status?.message ?? (spec.accepted ? '' : 'The cluster waits to be accepted.'),
    labels: metadata.labels ?? {},
  }
}

function seconds(time: string | undefined): number {
  if (time === undefined) return 0
  const ms = parseTime(time)
  return ms === undefined ? 0 : Math.floor(ms / 1000)
}
