/** The rights that the dialect's controllers have in addition to all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

const ARGO = ['argoproj.io']
const OWN = ['flotilla.dev']

export const ARGO_CONTROLLER_RULES: readonly PolicyRule[] = [
  { apiGroups: ARGO, resources: ['applications', 'applicationsets', 'appprojects'], verbs: ['list', 'watch'] },
  { apiGroups: ARGO, resources: ['applications', 'applicationsets'], verbs: ['update'] },
  { apiGroups: ARGO, resources: ['applications/status', 'applicationsets/status'], verbs: ['update'] },
  // The Applications of a set, and what an Application of Applications has.
  { apiGroups: ARGO, resources: ['applications', 'applicationsets'], verbs: ['create', 'delete'] },
  { apiGroups: ARGO, resources: ['applications'], verbs: ['patch'] },
  // Decisions that a clusterDecisionResource generator names.
  { apiGroups: ['cluster.open-cluster-management.io'], resources: ['placementdecisions'], verbs: ['list'] },
  // Settings of Argo CD: ssh keys and certificates of servers.
  { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
  // The objects that an Application becomes.
  { apiGroups: OWN, resources: ['bundles', 'sources'], verbs: ['create', 'patch', 'delete'] },
  { apiGroups: OWN, resources: ['placements', 'rolloutplans'], verbs: ['create', 'patch'] },
  // A sync that a user asks for starts the Rollout that waits.
  { apiGroups: OWN, resources: ['rollouts'], verbs: ['patch'] },
  // A cluster Secret with credentials registers a cluster; its annotation becomes a window.
  { apiGroups: OWN, resources: ['clusters'], verbs: ['create', 'accept'] },
  { apiGroups: OWN, resources: ['clusterwindows'], verbs: ['create', 'patch', 'delete'] },
]
