/** The rights that the dialect's controllers have in addition to all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

const CLUSTER = ['cluster.open-cluster-management.io']
const POLICY = ['policy.open-cluster-management.io']
const APPS = ['apps.open-cluster-management.io']
const WORK = ['work.open-cluster-management.io']
const ADDON = ['addon.open-cluster-management.io']
const OWN = ['flotilla.dev']

export const OCM_CONTROLLER_RULES: readonly PolicyRule[] = [
  {
    apiGroups: CLUSTER,
    resources: [
      'addonplacementscores',
      'managedclusters',
      'managedclustersetbindings',
      'managedclustersets',
      'placementdecisions',
      'placements',
    ],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: CLUSTER,
    resources: [
      'managedclusters/status',
      'managedclustersetbindings/status',
      'managedclustersets/status',
      'placementdecisions/status',
      'placements/status',
    ],
    verbs: ['update'],
  },
  { apiGroups: CLUSTER, resources: ['managedclusters'], verbs: ['create', 'update', 'delete'] },
  { apiGroups: CLUSTER, resources: ['managedclustersets'], verbs: ['create', 'patch'] },
  { apiGroups: CLUSTER, resources: ['placementdecisions'], verbs: ['create', 'update', 'delete'] },
  // A policy asks for this right when the face of a cluster has the label of a set.
  { apiGroups: CLUSTER, resources: ['managedclustersets/join'], verbs: ['create'] },
  { apiGroups: WORK, resources: ['manifestworks'], verbs: ['list', 'watch', 'update', 'delete'] },
  { apiGroups: WORK, resources: ['manifestworks/status'], verbs: ['update'] },
  { apiGroups: WORK, resources: ['manifestworkreplicasets'], verbs: ['list', 'watch', 'update'] },
  { apiGroups: WORK, resources: ['manifestworkreplicasets/status'], verbs: ['update'] },
  { apiGroups: ADDON, resources: ['addondeploymentconfigs', 'addontemplates'], verbs: ['list', 'watch'] },
  { apiGroups: ADDON, resources: ['clustermanagementaddons'], verbs: ['list', 'watch'] },
  { apiGroups: ADDON, resources: ['managedclusteraddons'], verbs: ['list', 'watch', 'create', 'patch', 'delete'] },
  {
    apiGroups: ADDON,
    resources: ['clustermanagementaddons/status', 'managedclusteraddons/status'],
    verbs: ['update'],
  },
  // The work of an add-on, whose template may name an executor.
  { apiGroups: WORK, resources: ['manifestworks'], verbs: ['create', 'patch', 'execute-as'] },
  // What a ManifestWorkReplicaSet becomes.
  { apiGroups: OWN, resources: ['bundles', 'placements', 'rolloutplans'], verbs: ['create', 'patch', 'delete'] },
  { apiGroups: POLICY, resources: ['placementbindings', 'policies', 'policysets'], verbs: ['list', 'watch'] },
  { apiGroups: POLICY, resources: ['policies/status', 'policysets/status'], verbs: ['update'] },
  // What templates of the hub in a Policy read, in the namespace of the Policy.
  { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
  // Whether the ServiceAccount of a Policy may read them in another namespace.
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  { apiGroups: APPS, resources: ['placementrules'], verbs: ['list', 'watch'] },
  { apiGroups: APPS, resources: ['placementrules/status'], verbs: ['update'] },
  { apiGroups: OWN, resources: ['deliveries'], verbs: ['create', 'patch', 'delete'] },
  // A ManagedCluster that a user accepted accepts its Cluster.
  { apiGroups: OWN, resources: ['clusters'], verbs: ['patch', 'accept'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch', 'create'] },
]
