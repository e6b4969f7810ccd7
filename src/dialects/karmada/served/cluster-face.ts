// Tested by src/dialects/karmada/served/compile-binding.test.ts
/** A Cluster in the words of Karmada. Pure. */
import { compact } from '../../../core/compact.ts'
import { plural } from '../../../core/text/name-some.ts'
import { jsonEqual } from '../../../core/json.ts'
import { findCondition } from '../../../core/conditions.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { TEMPLATE_KINDS } from '../templates/template-kinds.ts'
import { capacityFields, quotaRooms } from '../capacity/reported-capacity.ts'
import type { Capacity } from '../capacity/reported-capacity.ts'
import type { QuotaCluster } from '../schedule/cluster-snapshot.ts'
import type { KarmadaTaint } from '../types.ts'
import type { KarmadaClusterFace } from './kinds.ts'

/** Labels of a Cluster that say where it is. The hub sets them; claims of agents place nothing. */
const PROVIDER_LABEL = 'cluster.karmada.io/provider'
const REGION_LABEL = 'topology.kubernetes.io/region'
const ZONE_LABEL = 'topology.kubernetes.io/zone'

const UNREACHABLE = 'cluster.karmada.io/unreachable'
const CORDONED = 'flotilla.dev/cordoned'
/** The effects of taints. Content that runs stays under each of them. */
const EFFECTS: Readonly<Record<string, string>> = {
  NoSelect: 'NoSchedule',
  NoSelectIfNew: 'NoSchedule',
  PreferNoSelect: 'PreferNoSchedule',
}

/** Whether a cluster leaves the fleet, or was refused. */
export function isLeaving({ metadata, spec }: Cluster): boolean {
  return metadata.deletionTimestamp !== undefined || spec.decommission !== undefined
}

/** Whether the agent of a cluster is out of reach. */
export function isUnreachable({ status }: Cluster): boolean {
  return findCondition(status?.conditions, 'Available')?.status !== 'True'
}

/** Why no replicas move: more than half of the clusters are out of reach. */
export function heldByLoss(away: number, all: number): string | undefined {
  if (away * 2 <= all) return undefined
  return `${away} of ${plural(all, 'cluster')} are out of reach, which is more than half: no replicas are moved.`
}

/** The cluster as it would be out of reach. */
export function outOfReach(cluster: Cluster): Cluster {
  const conditions = (cluster.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
  return { ...cluster, status: { ...cluster.status, conditions } }
}

interface Known {
  readonly capacity: Capacity | undefined
  readonly found: QuotaCluster
}
const plain = new WeakMap<Cluster, Known>()
const measured = new WeakMap<Cluster, Known>()

/** The cluster as Karmada's scheduler reads it; the same object for the same Cluster and the same free resources. */
export function schedulerCluster(cluster: Cluster, capacity?: Capacity): QuotaCluster {
  const known = capacity ? measured : plain
  const before = known.get(cluster)
  if (before && (before.capacity === capacity || jsonEqual(before.capacity ?? null, capacity ?? null)))
    return before.found
  const { metadata, spec } = cluster
  const { name, labels } = metadata
  const { resourceModels, resourceSummary } = capacity ? capacityFields(capacity) : {}
  const found: QuotaCluster = {
    metadata: compact({
      name,
      labels,
      deletionTimestamp: isLeaving(cluster) ? (metadata.deletionTimestamp ?? spec.decommission?.at) : undefined,
    }),
    spec: { ...placeOf(cluster), taints: [...taintsOf(cluster)], ...compact({ resourceModels }) },
    status: { apiEnablements: ENABLEMENTS, ...compact({ resourceSummary }) },
    ...(capacity ? { quotaRooms: quotaRooms(capacity) } : {}),
  }
  known.set(cluster, { capacity, found })
  return found
}

/** The agent does not report which kinds its cluster serves: an object that cannot be applied is reported as failed. */
const ENABLEMENTS = Object.entries(
  Object.groupBy(TEMPLATE_KINDS, (kind) => apiVersionOf(kind)) as Record<string, readonly { kind: string }[]>,
).map(([groupVersion, kinds]) => ({ groupVersion, resources: kinds.map(({ kind }) => ({ kind })) }))

function placeOf({ metadata }: Cluster): { provider?: string; region?: string; zones?: string[] } {
  const { labels = {} } = metadata
  const zone = labels[ZONE_LABEL]
  return compact({ provider: labels[PROVIDER_LABEL], region: labels[REGION_LABEL], zones: zone ? [zone] : undefined })
}

function taintsOf(cluster: Cluster): readonly KarmadaTaint[] {
  const own = (cluster.spec.taints ?? []).map(({ key, value, effect, timeAdded }) =>
    compact({ key, value, effect: EFFECTS[effect] ?? effect, timeAdded }),
  )
  return [
    ...own,
    ...(isUnreachable(cluster) ? [{ key: UNREACHABLE, effect: 'NoSchedule' }] : []),
    ...(cluster.spec.cordon ? [{ key: CORDONED, effect: 'NoSchedule' }] : []),
  ]
}

function summaryOf(capacity: Capacity) {
  const { allocatable, allocated } = capacityFields(capacity).resourceSummary
  return { allocatable, allocated }
}

/** The face of a Cluster: what the hub writes. */
export function faceOf(
  cluster: Cluster,
  capacity?: Capacity,
): Pick<KarmadaClusterFace, 'metadata' | 'spec' | 'status'> {
  const { metadata, spec, status } = cluster
  const available = findCondition(status?.conditions, 'Available')
  const isReady = available?.status === 'True'
  const taints = [...taintsOf(cluster)]
  return {
    metadata: compact({ name: metadata.name, labels: metadata.labels }),
    spec: compact({
      id: spec.id === '' ? undefined : spec.id,
      syncMode: 'Pull' as const,
      ...placeOf(cluster),
      taints: taints.length > 0 ? taints : undefined,
    }),
    status: compact({
      kubernetesVersion: status?.kubernetesVersion,
      resourceSummary: capacity && summaryOf(capacity),
      conditions: available && [
        {
          type: 'Ready',
          status: isReady ? ('True' as const) : ('False' as const),
          reason: isReady ? 'ClusterReady' : 'ClusterNotReachable',
          message: isReady
            ? 'cluster is healthy and ready to accept workloads'
            : available.message || 'cluster is not reachable',
          lastTransitionTime: available.lastTransitionTime,
        },
      ],
    }),
  }
}
