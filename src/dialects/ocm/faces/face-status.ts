/** The status of a ManagedCluster, from the Cluster that it shows. Pure. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { parseQuantity } from '../../../core/text/quantity.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { acceptancePass } from '../clusters/cluster-passes.ts'
import type { OcmCondition } from '../clusters/cluster-passes.ts'
import type { ManagedCluster } from '../kinds.ts'
import { LEASES_UNTIL_OFFLINE } from './sync-faces.ts'

/** The conditions that follow from a Cluster. Conditions of other writers stay. */
export function faceConditions(cluster: Cluster, face: ManagedCluster): readonly OcmCondition[] {
  const accepted = findCondition(acceptancePass(face).conditions, 'HubAcceptedManagedCluster')
  const isJoined = cluster.status?.certificate !== undefined
  return [
    ...(accepted ? [accepted] : []),
    ...(isJoined ? [JOINED, availableCondition(cluster), clockCondition(cluster, face)] : []),
  ]
}

const JOINED: OcmCondition = {
  type: 'ManagedClusterJoined',
  status: 'True',
  reason: 'ManagedClusterJoined',
  message: 'Managed cluster joined',
}

function availableCondition({ status }: Cluster): OcmCondition {
  const type = 'ManagedClusterConditionAvailable'
  const available = findCondition(status?.conditions, 'Available')
  if (available?.status === 'True') {
    return { type, status: 'True', reason: 'ManagedClusterAvailable', message: 'Managed cluster is available' }
  }
  return {
    type,
    status: 'Unknown',
    reason: 'ManagedClusterLeaseUpdateStopped',
    message: 'Registration agent stopped updating its lease.',
  }
}

function clockCondition({ status }: Cluster, { spec }: ManagedCluster): OcmCondition {
  const type = 'ManagedClusterConditionClockSynced'
  const skew = Math.abs(status?.clockSkewSeconds ?? 0)
  if (skew < LEASES_UNTIL_OFFLINE * spec.leaseDurationSeconds) {
    return {
      type,
      status: 'True',
      reason: 'ManagedClusterClockSynced',
      message: 'The clock of the managed cluster is synced with the hub.',
    }
  }
  return {
    type,
    status: 'False',
    reason: 'ManagedClusterClockOutOfSync',
    message:
      'The clock of hub and agent is out of sync. This may cause the Unknown status and affect agent functionalities.',
  }
}

type Reported = Pick<NonNullable<ManagedCluster['status']>, 'allocatable' | 'capacity' | 'clusterClaims' | 'version'>
type Claims = NonNullable<NonNullable<Cluster['status']>['claims']>

/**
 * What a Cluster reports: claims, the version, and the resources of its nodes. Open Cluster Management refuses claims
 * without a value.
 */
export function reportedStatus({ status = {} }: Cluster): Reported {
  const claims = (status.claims ?? []).filter(({ value }) => value !== '')
  return compact({
    clusterClaims: claims.length > 0 ? claims : undefined,
    version: status.kubernetesVersion === undefined ? undefined : { kubernetes: status.kubernetesVersion },
    capacity: resourcesIn(claims, 'flotilla.dev/capacity.'),
    allocatable: resourcesIn(claims, 'flotilla.dev/allocatable.'),
  })
}

/** The sums over all nodes, which the agent reports as claims; undefined where it may not read nodes. */
function resourcesIn(claims: Claims, prefix: string): Record<string, string> | undefined {
  const found = claims.filter(({ name, value }) => name.startsWith(prefix) && parseQuantity(value) !== undefined)
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map(({ name, value }) => [name.slice(prefix.length), value]))
}

/** The label of a namespace that belongs to a cluster. */
export const NAMESPACE_LABEL = 'open-cluster-management.io/cluster-name'
const MAX_NAMESPACE = 63

/** Whether the namespace with the name of an accepted cluster belongs to the cluster. */
export function namespaceCondition(
  cluster: string,
  namespace: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } } | undefined,
): OcmCondition {
  const type = 'ClusterNamespaceReady'
  if (!isNamespaceName(cluster)) {
    return {
      type,
      status: 'False',
      reason: 'InvalidNamespaceName',
      message: `${JSON.stringify(cluster)} is not a valid name of a namespace: a cluster whose name has dots or more than ${MAX_NAMESPACE} characters has no namespace of its own, and ManifestWorks cannot name it.`,
    }
  }
  if (namespace && namespace.metadata.labels?.[NAMESPACE_LABEL] !== cluster) {
    const effect = isForeignNamespace(cluster, namespace)
      ? 'ManifestWorks in the namespace are not delivered.'
      : 'Users who may write ManifestWorks in the namespace reach the cluster.'
    return {
      type,
      status: 'False',
      reason: 'NamespaceTaken',
      message: `Namespace ${JSON.stringify(cluster)} existed before the cluster, and the hub did not create it. ${effect} Label the namespace ${NAMESPACE_LABEL}=${cluster} to confirm that it belongs to the cluster.`,
    }
  }
  return {
    type,
    status: namespace ? 'True' : 'False',
    reason: namespace ? 'NamespaceReady' : 'NamespaceMissing',
    message: namespace
      ? `Namespace ${JSON.stringify(cluster)} belongs to the cluster.`
      : `Namespace ${JSON.stringify(cluster)} does not exist yet.`,
  }
}

/** Whether a namespace can have the name of a cluster. */
export function isNamespaceName(name: string): boolean {
  return name.length <= MAX_NAMESPACE && !name.includes('.')
}

const SYSTEM_NAMESPACE = /^(?:default|kube-.*|flotilla-.*|open-cluster-management(?:-.*)?)$/

/**
 * Whether a namespace with the name of a cluster certainly belongs to another purpose: it is a namespace of the system,
 * or of another cluster, and no administrator has confirmed that it belongs to this one.
 */
export function isForeignNamespace(
  cluster: string,
  { metadata }: { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } },
): boolean {
  const owner = metadata.labels?.[NAMESPACE_LABEL]
  return owner !== cluster && (owner !== undefined || SYSTEM_NAMESPACE.test(cluster))
}
