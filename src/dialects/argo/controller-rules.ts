/** The rights of the dialect's controllers, besides those of all controllers of a hub. */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'

const ARGO = ['argoproj.io']
const OWN = ['flotilla.dev']

export const ARGO_CONTROLLER_RULES: readonly PolicyRule[] = [
  { apiGroups: ARGO, resources: ['applications', 'appprojects'], verbs: ['list', 'watch'] },
  { apiGroups: ARGO, resources: ['applications', 'applications/status'], verbs: ['update'] },
  // The objects that an Application becomes.
  {
    apiGroups: OWN,
    resources: ['bundles', 'placements', 'rolloutplans', 'sources'],
    verbs: ['create', 'patch', 'delete'],
  },
  // A sync that a user asks for starts the Rollout that waits.
  { apiGroups: OWN, resources: ['rollouts'], verbs: ['patch'] },
]
