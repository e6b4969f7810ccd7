// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** The kinds of Open Cluster Management as far as the commands read them, without their schemas. */
import type { JsonObject } from '../../../../core/json.ts'
import type { Condition, KubeObject, ResourceType } from '../../../../kinds/meta.ts'

const CLUSTERS = 'cluster.open-cluster-management.io'

/** The label of a cluster with the name of its set. */
export const CLUSTER_SET_LABEL = `${CLUSTERS}/clusterset`
/** The label of a PlacementDecision with the name of its Placement. */
export const PLACEMENT_LABEL = `${CLUSTERS}/placement`

interface WithConditions {
  conditions?: readonly Condition[]
}

export interface ManagedCluster extends KubeObject {
  spec: { hubAcceptsClient?: boolean }
  status?: WithConditions & {
    capacity?: Readonly<Record<string, unknown>>
    version?: { kubernetes?: string }
  }
}

export interface OcmPlacement extends KubeObject {
  spec?: {
    clusterSets?: readonly string[]
    numberOfClusters?: number
    predicates?: readonly {
      requiredClusterSelector?: { labelSelector?: { matchExpressions?: readonly object[] } }
    }[]
  }
  status?: WithConditions & { numberOfSelectedClusters?: number }
}

interface OcmPlacementDecision extends KubeObject {
  status?: { decisions?: readonly { clusterName: string }[] }
}

export interface ManifestWork extends KubeObject {
  spec: { workload?: { manifests?: readonly JsonObject[] } }
  status?: WithConditions
}

export interface ReplicaSet extends KubeObject {
  spec: { manifestWorkTemplate?: ManifestWork['spec']; placementRefs?: readonly object[] }
}

interface SetBinding extends KubeObject {
  spec: { clusterSet: string }
}

function resource<T extends KubeObject>(
  kind: string,
  version: string,
  scope: ResourceType['scope'] = 'Namespaced',
): ResourceType<T> {
  return { group: CLUSTERS, version, kind, plural: `${kind.toLowerCase()}s`, scope }
}

export const MANAGED_CLUSTERS = resource<ManagedCluster>('ManagedCluster', 'v1', 'Cluster')
export const CLUSTER_SETS = resource<KubeObject>('ManagedClusterSet', 'v1beta2', 'Cluster')
export const SET_BINDINGS = resource<SetBinding>('ManagedClusterSetBinding', 'v1beta2')
export const PLACEMENTS = resource<OcmPlacement>('Placement', 'v1beta1')
export const DECISIONS = resource<OcmPlacementDecision>('PlacementDecision', 'v1beta1')
export const WORKS: ResourceType<ManifestWork> = {
  group: 'work.open-cluster-management.io',
  version: 'v1',
  kind: 'ManifestWork',
  plural: 'manifestworks',
  scope: 'Namespaced',
}

export const REPLICA_SETS: ResourceType<ReplicaSet> = {
  group: 'work.open-cluster-management.io',
  version: 'v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  plural: 'manifestworkreplicasets',
  scope: 'Namespaced',
}

export interface InstalledAddon extends KubeObject {
  spec?: { installNamespace?: string }
  status?: WithConditions
}

const ADDON_GROUP = { group: 'addon.open-cluster-management.io', version: 'v1alpha1' }
export const ADDONS: ResourceType<KubeObject> = {
  ...ADDON_GROUP,
  kind: 'ClusterManagementAddOn',
  plural: 'clustermanagementaddons',
  scope: 'Cluster',
}
export const INSTALLED_ADDONS: ResourceType<InstalledAddon> = {
  ...ADDON_GROUP,
  kind: 'ManagedClusterAddOn',
  plural: 'managedclusteraddons',
  scope: 'Namespaced',
}
