// Tested by src/hub/home/controller-rights.sim.test.ts
/**
 * The rights of the hub's controllers. `controller-rights.sim.test.ts` compares them with the requests of the
 * controllers, in both directions: add a rule with the code that needs it.
 */
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { nonResourceRule, ruleFor } from './rule-builders.ts'

const OWN = 'flotilla.dev'

/** User of the controllers in the embedded API. On a kube-apiserver, the user of the hub's kubeconfig. */
export const CONTROLLERS_USER = 'system:flotilla:hub'

/** Rights in all namespaces. Rights for the kinds of a dialect are with the dialect. */
export const CONTROLLER_RULES: readonly PolicyRule[] = [
  // The caches of all controllers, and the list of blobs that objects name.
  ruleFor(
    ['list', 'watch'],
    OWN,
    'approvals',
    'assignments',
    'bundles',
    'clusterreports',
    'clusters',
    'clustersetbindings',
    'clustersets',
    'clusterwindows',
    'deliveries',
    'jointokens',
    'overrides',
    'placementdecisions',
    'placements',
    'projects',
    'releases',
    'rolloutplans',
    'rollouts',
    'sources',
    'windows',
  ),
  // Rules on rendered content.
  ruleFor(
    ['list', 'watch'],
    'admissionregistration.k8s.io',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ),
  // A cache may be behind: an object that exists already, or that decides about a Release, is read again.
  ruleFor(['get'], OWN, 'bundles', 'releases', 'rollouts', 'sources'),
  ruleFor(['create', 'update', 'delete'], OWN, 'assignments', 'placementdecisions'),
  ruleFor(['create', 'delete'], OWN, 'releases', 'rollouts'),
  ruleFor(['delete'], OWN, 'approvals'),
  // Finalizers, and the end of a cluster that was decommissioned.
  ruleFor(['update'], OWN, 'bundles', 'clusters', 'deliveries'),
  ruleFor(['delete'], OWN, 'clusters'),
  // A webhook of a git server asks for a fetch.
  ruleFor(['patch'], OWN, 'sources'),
  ruleFor(
    ['update'],
    OWN,
    'bundles/status',
    'clusters/status',
    'clusterwindows/status',
    'deliveries/status',
    'jointokens/status',
    'placements/status',
    'projects/status',
    'releases/status',
    'rollouts/status',
    'sources/status',
    'windows/status',
  ),
  // Inputs of Bundles in their namespaces, and the keys and stored values of Bundles beside them.
  ruleFor(['get'], '', 'configmaps'),
  ruleFor(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'], '', 'secrets'),
  ruleFor(['get', 'create', 'update'], '', 'events'),
  // The place of the audit chain that the hub signs; the records themselves are not readable.
  nonResourceRule('/audit/head'),
]

/** Rights in the namespace of the hub: liveness of gateways, the heads of the journal, and the health of the hub. */
export const CONTROLLER_SYSTEM_RULES: readonly PolicyRule[] = [
  ruleFor(['list', 'watch'], 'coordination.k8s.io', 'leases'),
  ruleFor(['create', 'patch'], '', 'configmaps'),
]
