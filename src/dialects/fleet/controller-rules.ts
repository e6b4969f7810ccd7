/** The rights that the dialect's controllers have in addition to all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

const FLEET = ['fleet.cattle.io']
const OWN = ['flotilla.dev']

export const FLEET_CONTROLLER_RULES: readonly PolicyRule[] = [
  {
    apiGroups: FLEET,
    resources: ['bundles', 'clustergroups', 'clusters', 'gitreporestrictions', 'gitrepos', 'helmops'],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: FLEET,
    resources: ['bundles/status', 'clustergroups/status', 'clusters/status', 'gitrepos/status', 'helmops/status'],
    verbs: ['update'],
  },
  {
    apiGroups: FLEET,
    resources: ['bundlenamespacemappings', 'clusterregistrations', 'clusterregistrationtokens'],
    verbs: ['list', 'watch'],
  },
  {
    apiGroups: FLEET,
    resources: ['clusterregistrations/status', 'clusterregistrationtokens/status'],
    verbs: ['update'],
  },
  // A ClusterRegistrationToken becomes a JoinToken, and goes when it expires.
  { apiGroups: FLEET, resources: ['clusterregistrationtokens'], verbs: ['update', 'delete'] },
  { apiGroups: OWN, resources: ['jointokens'], verbs: ['create', 'delete'] },
  // A BundleNamespaceMapping selects namespaces by their labels.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
  { apiGroups: FLEET, resources: ['bundles'], verbs: ['create', 'patch', 'delete'] },
  { apiGroups: FLEET, resources: ['clusters'], verbs: ['update'] },
  // The objects that a GitRepo becomes.
  {
    apiGroups: OWN,
    resources: ['bundles', 'placements', 'rolloutplans', 'sources'],
    verbs: ['create', 'patch', 'delete'],
  },
  // `paused` counts for a running Rollout, too.
  { apiGroups: OWN, resources: ['rollouts'], verbs: ['patch'] },
  // A Cluster of Fleet with a kubeconfig is registered: naming the Secret needs the right to accept.
  { apiGroups: OWN, resources: ['clusters'], verbs: ['create', 'accept'] },
]
