import type { PolicyRule, Subject } from '../../kinds/builtin/rbac.ts'
import { CONTROLLER_RULES, CONTROLLER_SYSTEM_RULES, CONTROLLERS_USER } from './controller-rules.ts'
import { ruleFor, nonResourceRule, READ } from './rule-builders.ts'

/**
 * The roles and bindings that exist from the start: Kubernetes' own as clients expect them, and the roles of the hub's
 * parts.
 */

/** A cluster role to be made at the first start. */
export interface BootstrapRole {
  readonly name: string
  readonly rules?: readonly PolicyRule[]
  readonly labels?: Readonly<Record<string, string>>
  /** Labels of the roles it is made of. */
  readonly aggregates?: Readonly<Record<string, string>>
}

/** Who has a role from the start. */
export interface BootstrapBinding {
  readonly name: string
  readonly role: string
  readonly subjects: readonly Subject[]
}

/** A role in one namespace, with who has it. */
export interface BootstrapLocal extends BootstrapBinding {
  readonly namespace: string
  readonly rules: readonly PolicyRule[]
}

const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']
const READ_WRITE = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const OWN = 'flotilla.dev'

const aggregateTo = (role: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true' })
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name })
const user = (name: string): Subject => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name })

const HEALTH = ['/healthz', '/livez', '/readyz', '/version', '/version/']

const VIEW: readonly PolicyRule[] = [
  ruleFor(
    READ,
    '',
    'configmaps',
    'endpoints',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'pods',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'serviceaccounts',
    'services',
    'services/status',
  ),
  ruleFor(
    READ,
    '',
    'bindings',
    'limitranges',
    'namespaces/status',
    'pods/log',
    'pods/status',
    'replicationcontrollers/status',
    'resourcequotas',
    'resourcequotas/status',
  ),
  ruleFor(READ, '', 'namespaces'),
  ruleFor(READ, ['', 'events.k8s.io'], 'events'),
  ruleFor(READ, 'discovery.k8s.io', 'endpointslices'),
  ruleFor(
    READ,
    'apps',
    'controllerrevisions',
    'daemonsets',
    'daemonsets/status',
    'deployments',
    'deployments/scale',
    'deployments/status',
    'replicasets',
    'replicasets/scale',
    'replicasets/status',
    'statefulsets',
    'statefulsets/scale',
    'statefulsets/status',
  ),
  ruleFor(READ, 'autoscaling', 'horizontalpodautoscalers', 'horizontalpodautoscalers/status'),
  ruleFor(READ, 'batch', 'cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'),
  ruleFor(READ, 'policy', 'poddisruptionbudgets', 'poddisruptionbudgets/status'),
  ruleFor(READ, 'networking.k8s.io', 'ingresses', 'ingresses/status', 'networkpolicies'),
]

const EDIT: readonly PolicyRule[] = [
  ruleFor(READ, '', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'),
  ruleFor(['impersonate'], '', 'serviceaccounts'),
  ruleFor(WRITE, '', 'pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'),
  ruleFor(['create'], '', 'pods/eviction'),
  ruleFor(
    WRITE,
    '',
    'configmaps',
    'persistentvolumeclaims',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'secrets',
    'serviceaccounts',
    'services',
    'services/proxy',
  ),
  ruleFor(['create'], '', 'serviceaccounts/token'),
  ruleFor(WRITE, ['', 'events.k8s.io'], 'events'),
  ruleFor(
    WRITE,
    'apps',
    'daemonsets',
    'deployments',
    'deployments/rollback',
    'deployments/scale',
    'replicasets',
    'replicasets/scale',
    'statefulsets',
    'statefulsets/scale',
  ),
  ruleFor(WRITE, 'autoscaling', 'horizontalpodautoscalers'),
  ruleFor(WRITE, 'batch', 'cronjobs', 'jobs'),
  ruleFor(WRITE, 'policy', 'poddisruptionbudgets'),
  ruleFor(WRITE, 'networking.k8s.io', 'ingresses', 'networkpolicies'),
  ruleFor(READ_WRITE, 'coordination.k8s.io', 'leases'),
]

/** Kubernetes' own cluster roles. */
export const KUBERNETES_ROLES: readonly BootstrapRole[] = [
  {
    name: 'cluster-admin',
    rules: [ruleFor(['*'], '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }],
  },
  { name: 'admin', aggregates: aggregateTo('admin') },
  { name: 'edit', aggregates: aggregateTo('edit'), labels: aggregateTo('admin') },
  { name: 'view', aggregates: aggregateTo('view'), labels: aggregateTo('edit') },
  {
    name: 'system:aggregate-to-admin',
    labels: aggregateTo('admin'),
    rules: [
      ruleFor(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
      ruleFor(READ_WRITE, 'rbac.authorization.k8s.io', 'rolebindings', 'roles'),
    ],
  },
  { name: 'system:aggregate-to-edit', labels: aggregateTo('edit'), rules: EDIT },
  { name: 'system:aggregate-to-view', labels: aggregateTo('view'), rules: VIEW },
  {
    name: 'system:discovery',
    rules: [nonResourceRule('/api', '/api/*', '/apis', '/apis/*', '/openapi', '/openapi/*', ...HEALTH)],
  },
  {
    name: 'system:basic-user',
    rules: [
      ruleFor(['create'], 'authorization.k8s.io', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews'),
      ruleFor(['create'], 'authentication.k8s.io', 'selfsubjectreviews'),
    ],
  },
  { name: 'system:public-info-viewer', rules: [nonResourceRule(...HEALTH)] },
  {
    name: 'system:monitoring',
    rules: [
      nonResourceRule(
        '/healthz',
        '/healthz/*',
        '/livez',
        '/livez/*',
        '/metrics',
        '/metrics/slis',
        '/readyz',
        '/readyz/*',
      ),
      ruleFor(['get'], '', 'nodes/metrics'),
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      ruleFor(['create'], 'authentication.k8s.io', 'tokenreviews'),
      ruleFor(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
    ],
  },
]

/** Who has Kubernetes' own cluster roles. */
export const KUBERNETES_BINDINGS: readonly BootstrapBinding[] = [
  { name: 'cluster-admin', role: 'cluster-admin', subjects: [group('system:masters')] },
  { name: 'system:discovery', role: 'system:discovery', subjects: [group('system:authenticated')] },
  { name: 'system:basic-user', role: 'system:basic-user', subjects: [group('system:authenticated')] },
  {
    name: 'system:public-info-viewer',
    role: 'system:public-info-viewer',
    subjects: [group('system:authenticated'), group('system:unauthenticated')],
  },
  { name: 'system:monitoring', role: 'system:monitoring', subjects: [group('system:monitoring')] },
]

/** Cluster roles of a hub: of its gateway and controllers, and the meaning of view, edit and admin for our kinds. */
export const HUB_ROLES: readonly BootstrapRole[] = [
  {
    name: 'system:flotilla:gateway',
    rules: [
      // A token may accept its cluster at the first join. With patch the gateway records a new sealing key; the policy
      // of kinds/policies/gateway-policy.ts refuses every other change.
      ruleFor([...READ, 'create', 'patch', 'accept'], OWN, 'clusters'),
      ruleFor(['patch'], OWN, 'clusters/status'),
      ruleFor(['get'], OWN, 'jointokens'),
      ruleFor(['update'], OWN, 'jointokens/status'),
      ruleFor(['list', 'watch'], OWN, 'assignments'),
      ruleFor(['get', 'create', 'update', 'delete'], OWN, 'clusterreports'),
    ],
  },
  { name: CONTROLLERS_USER, rules: CONTROLLER_RULES },
  {
    name: 'flotilla:aggregate-to-view',
    labels: aggregateTo('view'),
    rules: [
      ruleFor(
        READ,
        OWN,
        'approvals',
        'bundles',
        'deliveries',
        'placements',
        'placementdecisions',
        'releases',
        'rolloutplans',
        'rollouts',
        '*/status',
      ),
      ruleFor(READ, 'view.flotilla.dev', '*'),
    ],
  },
  {
    name: 'flotilla:aggregate-to-edit',
    labels: aggregateTo('edit'),
    // A Rollout without the approvals of its plan would be a way around them, so an editor can change Rollouts only.
    rules: [ruleFor(WRITE, OWN, 'bundles', 'placements'), ruleFor(['update', 'patch'], OWN, 'rollouts')],
  },
  {
    // Bind it to users who may open rings; view, edit and admin do not include it.
    name: 'flotilla:approver',
    rules: [
      ruleFor([...READ, 'create', 'delete'], OWN, 'approvals'),
      ruleFor([...READ, 'approve'], OWN, 'rolloutplans', 'rollouts'),
    ],
  },
  {
    // Reports of all workloads of a cluster; view, edit and admin do not include it.
    name: 'flotilla:auditor',
    rules: [ruleFor(['create'], 'view.flotilla.dev', 'clusters/compliance', 'clusters/evidence')],
  },
]

/** Rules of hub roles of earlier releases that no longer apply, by role. */
export const WITHDRAWN_RULES: Readonly<Record<string, readonly PolicyRule[]>> = {
  'flotilla:aggregate-to-edit': [ruleFor(WRITE, OWN, 'bundles', 'placements', 'rollouts')],
  'system:flotilla:gateway': [
    ruleFor([...READ, 'create', 'accept'], OWN, 'clusters'),
    ruleFor(['get', 'patch', 'update'], OWN, 'clusters/status'),
    ruleFor(READ, OWN, 'jointokens'),
    ruleFor(['get', 'patch', 'update'], OWN, 'jointokens/status'),
    ruleFor(READ, OWN, 'assignments'),
    ruleFor([...READ, 'create', 'update', 'delete'], OWN, 'clusterreports'),
    ruleFor(['get', 'create', 'update', 'patch'], 'coordination.k8s.io', 'leases'),
  ],
}

/** Who has the hub's own cluster roles. */
export const HUB_BINDINGS: readonly BootstrapBinding[] = [
  {
    name: 'system:flotilla:gateway',
    role: 'system:flotilla:gateway',
    subjects: [user('system:flotilla:gateway')],
  },
  { name: CONTROLLERS_USER, role: CONTROLLERS_USER, subjects: [user(CONTROLLERS_USER)] },
]

/** Roles of a hub in its own namespace: gateways record in Leases which clusters are alive, controllers read them. */
export const HUB_LOCALS: readonly BootstrapLocal[] = [
  {
    name: 'system:flotilla:gateway',
    role: 'system:flotilla:gateway',
    namespace: 'flotilla-system',
    rules: [ruleFor(['get', 'create', 'update'], 'coordination.k8s.io', 'leases')],
    subjects: [user('system:flotilla:gateway')],
  },
  {
    name: CONTROLLERS_USER,
    role: CONTROLLERS_USER,
    namespace: 'flotilla-system',
    rules: CONTROLLER_SYSTEM_RULES,
    subjects: [user(CONTROLLERS_USER)],
  },
]
