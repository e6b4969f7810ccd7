// Tested by src/dialects/ocm/faces/managed-cluster.sim.test.ts
/** The changes of a Cluster and of a ManagedCluster that give both the same values. Pure. */
import { compact } from '../../../core/compact.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { taintPass } from '../clusters/cluster-passes.ts'
import type { OcmCondition } from '../clusters/cluster-passes.ts'
import { CLUSTER_SET_LABEL } from '../kinds.ts'
import type { ManagedCluster } from '../kinds.ts'
import { fieldsOfCluster, formatSynced, isOwnTaint, LEASES_UNTIL_OFFLINE, SYNCED_ANNOTATION } from './sync-faces.ts'
import type { SharedFields } from './sync-faces.ts'

const DENIED = 'Denied on the ManagedCluster (spec.hubAcceptsClient is false).'
const REMOVED = 'The ManagedCluster was deleted.'

/** The merge patch that gives a Cluster these values; a denial ends certificates and leaves what runs. */
export function clusterPatch(cluster: Cluster, fields: SharedFields, now: number): object {
  const own = fieldsOfCluster(cluster)
  const { accepted } = cluster.spec
  const gone = Object.keys(own.labels).filter((label) => !Object.hasOwn(fields.labels, label))
  const refusal = { verdict: accepted ? 'Revoked' : 'Rejected', at: formatTime(now), reason: DENIED }
  const acceptance = fields.isAccepted ? { accepted: true, refused: null } : { refused: refusal }
  const isLeaseChanged = own.leaseDurationSeconds !== fields.leaseDurationSeconds
  return {
    metadata: {
      resourceVersion: cluster.metadata.resourceVersion,
      labels: { ...Object.fromEntries(gone.map((label) => [label, null])), ...fields.labels },
    },
    spec: {
      taints: withTimes(Object.values(fields.taints), now),
      ...(own.isAccepted === fields.isAccepted ? {} : acceptance),
      ...compact({
        offlineAfterSeconds: isLeaseChanged ? fields.leaseDurationSeconds * LEASES_UNTIL_OFFLINE : undefined,
      }),
    },
  }
}

/** The merge patch for a Cluster whose ManagedCluster was deleted: the cluster leaves, and what runs stays. */
export function leavingPatch({ metadata }: Cluster, now: number): object {
  return {
    metadata: { resourceVersion: metadata.resourceVersion },
    spec: { decommission: { policy: 'Orphan', at: formatTime(now), reason: REMOVED } },
  }
}

/** Gives a ManagedCluster these values, with the taints that follow from its conditions. */
export function changeFace(
  face: ManagedCluster,
  fields: SharedFields,
  at: { readonly now: number; readonly conditions: readonly OcmCondition[] },
): void {
  face.metadata.labels = { ...fields.labels }
  face.metadata.annotations = { ...face.metadata.annotations, [SYNCED_ANNOTATION]: formatSynced(fields) }
  const taints = [...Object.values(fields.taints), ...(face.spec.taints ?? []).filter(isOwnTaint)]
  face.spec = { ...face.spec, hubAcceptsClient: fields.isAccepted, leaseDurationSeconds: fields.leaseDurationSeconds }
  const status = { ...face.status, conditions: at.conditions } as ManagedCluster['status'] & object
  const judged = taintPass({ ...face, spec: { ...face.spec, taints }, status }).taints ?? []
  const timed = withTimes(judged as NonNullable<ManagedCluster['spec']['taints']>, at.now)
  if (timed.length > 0) face.spec.taints = timed
  else delete face.spec.taints
}

/** A cluster without a set belongs to the set `default`, as Open Cluster Management's webhook writes it. */
export function withDefaultSet(fields: SharedFields): SharedFields {
  if (Object.hasOwn(fields.labels, CLUSTER_SET_LABEL)) return fields
  return { ...fields, labels: { ...fields.labels, [CLUSTER_SET_LABEL]: 'default' } }
}

type Taint = NonNullable<ManagedCluster['spec']['taints']>[number]

function withTimes(taints: readonly Taint[], now: number): Taint[] {
  return taints.map((taint) =>
    taint.timeAdded === undefined ? { ...taint, timeAdded: formatTime(now) } : { ...taint },
  )
}
