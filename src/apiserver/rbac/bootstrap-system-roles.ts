import { ruleFor, nonResourceRule, READ } from './rule-builders.ts'
import type { BootstrapBinding, BootstrapRole } from './bootstrap-roles.ts'
import type { Subject } from '../../kinds/builtin/rbac.ts'

/**
 * Kubernetes' roles of its own components, as far as something here does their work or a chart names them: those of
 * kubelets, nodes and clouds are left out.
 */

/** The roles of components. */
export const COMPONENT_ROLES: readonly BootstrapRole[] = [
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      nonResourceRule(
        '/.well-known/openid-configuration',
        '/.well-known/openid-configuration/',
        '/openid/v1/jwks',
        '/openid/v1/jwks/',
      ),
    ],
  },
  { name: 'system:kube-aggregator', rules: [ruleFor(READ, '', 'endpoints', 'services')] },
  {
    name: 'system:kube-controller-manager',
    rules: [
      ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
      ruleFor(['create'], 'coordination.k8s.io', 'leases'),
      { ...ruleFor(['get', 'update'], 'coordination.k8s.io', 'leases'), resourceNames: ['kube-controller-manager'] },
      ruleFor(['create'], '', 'secrets', 'serviceaccounts'),
      ruleFor(['delete'], '', 'secrets'),
      ruleFor(['get'], '', 'configmaps', 'namespaces', 'secrets', 'serviceaccounts'),
      ruleFor(['update'], '', 'secrets', 'serviceaccounts'),
      ruleFor(['create'], 'authentication.k8s.io', 'tokenreviews'),
      ruleFor(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
      ruleFor(['list', 'watch'], '*', '*'),
      ruleFor(['create'], '', 'serviceaccounts/token'),
    ],
  },
  {
    name: 'system:kube-scheduler',
    rules: [
      ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
      ruleFor(['create'], 'coordination.k8s.io', 'leases'),
      {
        ...ruleFor(['get', 'list', 'update', 'watch'], 'coordination.k8s.io', 'leases'),
        resourceNames: ['kube-scheduler'],
      },
      ruleFor(
        ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        'coordination.k8s.io',
        'leasecandidates',
      ),
      ruleFor(READ, '', 'nodes'),
      ruleFor(['delete', 'get', 'list', 'watch'], '', 'pods'),
      ruleFor(['create'], '', 'bindings', 'pods/binding'),
      ruleFor(['patch', 'update'], '', 'pods/status'),
      ruleFor(READ, '', 'replicationcontrollers', 'services'),
      ruleFor(READ, ['apps', 'extensions'], 'replicasets'),
      ruleFor(READ, 'apps', 'statefulsets'),
      ruleFor(READ, 'policy', 'poddisruptionbudgets'),
      ruleFor(READ, '', 'persistentvolumeclaims', 'persistentvolumes'),
      ruleFor(['create'], 'authentication.k8s.io', 'tokenreviews'),
      ruleFor(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
      ruleFor(READ, 'storage.k8s.io', 'csinodes'),
      ruleFor(READ, 'storage.k8s.io', 'volumeattachments'),
      ruleFor(READ, '', 'namespaces'),
      ruleFor(READ, 'storage.k8s.io', 'csidrivers'),
      ruleFor(READ, 'storage.k8s.io', 'csistoragecapacities'),
      ruleFor(READ, 'resource.k8s.io', 'deviceclasses'),
      ruleFor(['get', 'list', 'patch', 'update', 'watch'], 'resource.k8s.io', 'resourceclaims'),
      ruleFor(['get', 'list', 'patch', 'update', 'watch'], 'resource.k8s.io', 'resourceclaims/status'),
      ruleFor(['update'], '', 'pods/finalizers'),
      ruleFor(READ, 'resource.k8s.io', 'resourceslices'),
      ruleFor(['create', 'delete'], 'resource.k8s.io', 'resourceclaims'),
      ruleFor(['patch', 'update'], 'resource.k8s.io', 'resourceclaims/binding'),
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      ruleFor(['get', 'list', 'patch', 'update', 'watch'], '', 'persistentvolumes'),
      ruleFor(READ, 'storage.k8s.io', 'storageclasses'),
      ruleFor(['get', 'list', 'patch', 'update', 'watch'], '', 'persistentvolumeclaims'),
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      ruleFor(['create', 'delete', 'get', 'list', 'watch'], '', 'persistentvolumes'),
      ruleFor(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
      ruleFor(READ, 'storage.k8s.io', 'storageclasses'),
      ruleFor(['watch'], '', 'events'),
      ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
    ],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-approver',
    rules: [
      {
        ...ruleFor(['approve'], 'certificates.k8s.io', 'signers'),
        resourceNames: ['kubernetes.io/kube-apiserver-client'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:legacy-unknown-approver',
    rules: [
      { ...ruleFor(['approve'], 'certificates.k8s.io', 'signers'), resourceNames: ['kubernetes.io/legacy-unknown'] },
    ],
  },
]

// By the name of the service account in kube-system that has the role.
const CONTROLLERS: Readonly<Record<string, BootstrapRole['rules']>> = {
  'clusterrole-aggregation-controller': [
    ruleFor(['escalate', 'get', 'list', 'patch', 'update', 'watch'], 'rbac.authorization.k8s.io', 'clusterroles'),
  ],
  'cronjob-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], 'batch', 'cronjobs'),
    ruleFor(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'batch', 'jobs'),
    ruleFor(['update'], 'batch', 'cronjobs/status'),
    ruleFor(['update'], 'batch', 'cronjobs/finalizers'),
    ruleFor(['delete', 'list', 'watch'], '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'daemon-set-controller': [
    ruleFor(READ, ['apps', 'extensions'], 'daemonsets'),
    ruleFor(['update'], ['apps', 'extensions'], 'daemonsets/status'),
    ruleFor(['update'], ['apps', 'extensions'], 'daemonsets/finalizers'),
    ruleFor(['list', 'watch'], '', 'nodes'),
    ruleFor(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    ruleFor(['create'], '', 'pods/binding'),
    ruleFor(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'apps', 'controllerrevisions'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'deployment-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], ['apps', 'extensions'], 'deployments'),
    ruleFor(['update'], ['apps', 'extensions'], 'deployments/status'),
    ruleFor(['update'], ['apps', 'extensions'], 'deployments/finalizers'),
    ruleFor(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], ['apps', 'extensions'], 'replicasets'),
    ruleFor(['get', 'list', 'update', 'watch'], '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'disruption-controller': [
    ruleFor(READ, ['apps', 'extensions'], 'deployments'),
    ruleFor(READ, ['apps', 'extensions'], 'replicasets'),
    ruleFor(READ, '', 'replicationcontrollers'),
    ruleFor(READ, 'policy', 'poddisruptionbudgets'),
    ruleFor(READ, 'apps', 'statefulsets'),
    ruleFor(['update'], 'policy', 'poddisruptionbudgets/status'),
    ruleFor(['patch', 'update'], '', 'pods/status'),
    ruleFor(['get'], '*', '*/scale'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'endpoint-controller': [
    ruleFor(READ, '', 'pods', 'services'),
    ruleFor(['create', 'delete', 'get', 'list', 'update', 'watch'], '', 'endpoints'),
    ruleFor(['create'], '', 'endpoints/restricted'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'endpointslice-controller': [
    ruleFor(READ, '', 'nodes', 'pods', 'services'),
    ruleFor(['update'], '', 'services/finalizers'),
    ruleFor(['create', 'delete', 'get', 'list', 'update', 'watch'], 'discovery.k8s.io', 'endpointslices'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'generic-garbage-collector': [
    ruleFor(['delete', 'get', 'list', 'patch', 'update', 'watch'], '*', '*'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'horizontal-pod-autoscaler': [
    ruleFor(READ, 'autoscaling', 'horizontalpodautoscalers'),
    ruleFor(['update'], 'autoscaling', 'horizontalpodautoscalers/status'),
    ruleFor(['get', 'update'], '*', '*/scale'),
    ruleFor(['list', 'watch'], '', 'pods'),
    ruleFor(['list', 'watch'], 'metrics.k8s.io', 'pods'),
    ruleFor(READ, 'custom.metrics.k8s.io', '*'),
    ruleFor(READ, 'external.metrics.k8s.io', '*'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'job-controller': [
    ruleFor(['get', 'list', 'patch', 'update', 'watch'], 'batch', 'jobs'),
    ruleFor(['update'], 'batch', 'jobs/status'),
    ruleFor(['update'], 'batch', 'jobs/finalizers'),
    ruleFor(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'namespace-controller': [
    ruleFor(['delete', 'get', 'list', 'watch'], '', 'namespaces'),
    ruleFor(['update'], '', 'namespaces/finalize', 'namespaces/status'),
    ruleFor(['delete', 'deletecollection', 'get', 'list', 'watch'], '*', '*'),
  ],
  'persistent-volume-binder': [
    ruleFor(['create', 'delete', 'get', 'list', 'update', 'watch'], '', 'persistentvolumes'),
    ruleFor(['update'], '', 'persistentvolumes/status'),
    ruleFor(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
    ruleFor(['update'], '', 'persistentvolumeclaims/status'),
    ruleFor(['create', 'delete', 'get', 'list', 'watch'], '', 'pods'),
    ruleFor(READ, 'storage.k8s.io', 'storageclasses'),
    ruleFor(['list', 'watch'], '', 'nodes'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
    ruleFor(['watch'], '', 'events'),
  ],
  'pod-garbage-collector': [
    ruleFor(['delete', 'list', 'watch'], '', 'pods'),
    ruleFor(READ, '', 'nodes'),
    ruleFor(['patch'], '', 'pods/status'),
  ],
  'pv-protection-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], '', 'persistentvolumes'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'pvc-protection-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
    ruleFor(['update'], '', 'persistentvolumeclaims/status'),
    ruleFor(READ, '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'replicaset-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], ['apps', 'extensions'], 'replicasets'),
    ruleFor(['update'], ['apps', 'extensions'], 'replicasets/status'),
    ruleFor(['update'], ['apps', 'extensions'], 'replicasets/finalizers'),
    ruleFor(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'replication-controller': [
    ruleFor(['get', 'list', 'update', 'watch'], '', 'replicationcontrollers'),
    ruleFor(['update'], '', 'replicationcontrollers/status'),
    ruleFor(['update'], '', 'replicationcontrollers/finalizers'),
    ruleFor(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'resourcequota-controller': [
    ruleFor(['list', 'watch'], '*', '*'),
    ruleFor(['update'], '', 'resourcequotas/status'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'root-ca-cert-publisher': [
    ruleFor(['create', 'update'], '', 'configmaps'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'service-account-controller': [
    ruleFor(['create'], '', 'serviceaccounts'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'service-controller': [
    ruleFor(READ, '', 'services'),
    ruleFor(['patch', 'update'], '', 'services/status'),
    ruleFor(['list', 'watch'], '', 'nodes'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'statefulset-controller': [
    ruleFor(['list', 'watch'], '', 'pods'),
    ruleFor(READ, 'apps', 'statefulsets'),
    ruleFor(['update'], 'apps', 'statefulsets/status'),
    ruleFor(['update'], 'apps', 'statefulsets/finalizers'),
    ruleFor(['create', 'delete', 'get', 'patch', 'update'], '', 'pods'),
    ruleFor(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'apps', 'controllerrevisions'),
    ruleFor(['create', 'get', 'list', 'watch'], '', 'persistentvolumeclaims'),
    ruleFor(['delete', 'update'], '', 'persistentvolumeclaims'),
    ruleFor(['update'], '', 'pods/finalizers'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'ttl-after-finished-controller': [
    ruleFor(['delete', 'get', 'list', 'watch'], 'batch', 'jobs'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'validatingadmissionpolicy-status-controller': [
    ruleFor(READ, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    ruleFor(['get', 'patch', 'update'], 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    ruleFor(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
}

/** The roles of Kubernetes' controllers; a cluster without any does not need them. */
export const CONTROLLER_ROLES: readonly BootstrapRole[] = Object.entries(CONTROLLERS).map(([name, rules = []]) => ({
  name: `system:controller:${name}`,
  rules,
}))

const RBAC = 'rbac.authorization.k8s.io'
const bound = (role: string, subject: Subject): BootstrapBinding => ({ name: role, role, subjects: [subject] })

/** Which component has which role. */
export const COMPONENT_BINDINGS: readonly BootstrapBinding[] = [
  bound('system:kube-controller-manager', { kind: 'User', apiGroup: RBAC, name: 'system:kube-controller-manager' }),
  bound('system:kube-scheduler', { kind: 'User', apiGroup: RBAC, name: 'system:kube-scheduler' }),
  bound('system:volume-scheduler', { kind: 'User', apiGroup: RBAC, name: 'system:kube-scheduler' }),
  bound('system:service-account-issuer-discovery', { kind: 'Group', apiGroup: RBAC, name: 'system:serviceaccounts' }),
]

/** Each controller has its own. */
export const CONTROLLER_BINDINGS: readonly BootstrapBinding[] = Object.keys(CONTROLLERS).map((name) =>
  bound(`system:controller:${name}`, { kind: 'ServiceAccount', name, namespace: 'kube-system' }),
)
