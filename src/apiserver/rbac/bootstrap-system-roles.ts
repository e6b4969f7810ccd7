import { on, paths, READ } from './rule-builders.ts'
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
      paths(
        '/.well-known/openid-configuration',
        '/.well-known/openid-configuration/',
        '/openid/v1/jwks',
        '/openid/v1/jwks/',
      ),
    ],
  },
  { name: 'system:kube-aggregator', rules: [on(READ, '', 'endpoints', 'services')] },
  {
    name: 'system:kube-controller-manager',
    rules: [
      on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
      on(['create'], 'coordination.k8s.io', 'leases'),
      { ...on(['get', 'update'], 'coordination.k8s.io', 'leases'), resourceNames: ['kube-controller-manager'] },
      on(['create'], '', 'secrets', 'serviceaccounts'),
      on(['delete'], '', 'secrets'),
      on(['get'], '', 'configmaps', 'namespaces', 'secrets', 'serviceaccounts'),
      on(['update'], '', 'secrets', 'serviceaccounts'),
      on(['create'], 'authentication.k8s.io', 'tokenreviews'),
      on(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
      on(['list', 'watch'], '*', '*'),
      on(['create'], '', 'serviceaccounts/token'),
    ],
  },
  {
    name: 'system:kube-scheduler',
    rules: [
      on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
      on(['create'], 'coordination.k8s.io', 'leases'),
      { ...on(['get', 'list', 'update', 'watch'], 'coordination.k8s.io', 'leases'), resourceNames: ['kube-scheduler'] },
      on(
        ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        'coordination.k8s.io',
        'leasecandidates',
      ),
      on(READ, '', 'nodes'),
      on(['delete', 'get', 'list', 'watch'], '', 'pods'),
      on(['create'], '', 'bindings', 'pods/binding'),
      on(['patch', 'update'], '', 'pods/status'),
      on(READ, '', 'replicationcontrollers', 'services'),
      on(READ, ['apps', 'extensions'], 'replicasets'),
      on(READ, 'apps', 'statefulsets'),
      on(READ, 'policy', 'poddisruptionbudgets'),
      on(READ, '', 'persistentvolumeclaims', 'persistentvolumes'),
      on(['create'], 'authentication.k8s.io', 'tokenreviews'),
      on(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
      on(READ, 'storage.k8s.io', 'csinodes'),
      on(READ, 'storage.k8s.io', 'volumeattachments'),
      on(READ, '', 'namespaces'),
      on(READ, 'storage.k8s.io', 'csidrivers'),
      on(READ, 'storage.k8s.io', 'csistoragecapacities'),
      on(READ, 'resource.k8s.io', 'deviceclasses'),
      on(['get', 'list', 'patch', 'update', 'watch'], 'resource.k8s.io', 'resourceclaims'),
      on(['get', 'list', 'patch', 'update', 'watch'], 'resource.k8s.io', 'resourceclaims/status'),
      on(['update'], '', 'pods/finalizers'),
      on(READ, 'resource.k8s.io', 'resourceslices'),
      on(['create', 'delete'], 'resource.k8s.io', 'resourceclaims'),
      on(['patch', 'update'], 'resource.k8s.io', 'resourceclaims/binding'),
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      on(['get', 'list', 'patch', 'update', 'watch'], '', 'persistentvolumes'),
      on(READ, 'storage.k8s.io', 'storageclasses'),
      on(['get', 'list', 'patch', 'update', 'watch'], '', 'persistentvolumeclaims'),
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      on(['create', 'delete', 'get', 'list', 'watch'], '', 'persistentvolumes'),
      on(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
      on(READ, 'storage.k8s.io', 'storageclasses'),
      on(['watch'], '', 'events'),
      on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
    ],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-approver',
    rules: [
      { ...on(['approve'], 'certificates.k8s.io', 'signers'), resourceNames: ['kubernetes.io/kube-apiserver-client'] },
    ],
  },
  {
    name: 'system:certificates.k8s.io:legacy-unknown-approver',
    rules: [{ ...on(['approve'], 'certificates.k8s.io', 'signers'), resourceNames: ['kubernetes.io/legacy-unknown'] }],
  },
]

// By the name of the service account in kube-system that has the role.
const CONTROLLERS: Readonly<Record<string, BootstrapRole['rules']>> = {
  'clusterrole-aggregation-controller': [
    on(['escalate', 'get', 'list', 'patch', 'update', 'watch'], 'rbac.authorization.k8s.io', 'clusterroles'),
  ],
  'cronjob-controller': [
    on(['get', 'list', 'update', 'watch'], 'batch', 'cronjobs'),
    on(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'batch', 'jobs'),
    on(['update'], 'batch', 'cronjobs/status'),
    on(['update'], 'batch', 'cronjobs/finalizers'),
    on(['delete', 'list', 'watch'], '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'daemon-set-controller': [
    on(READ, ['apps', 'extensions'], 'daemonsets'),
    on(['update'], ['apps', 'extensions'], 'daemonsets/status'),
    on(['update'], ['apps', 'extensions'], 'daemonsets/finalizers'),
    on(['list', 'watch'], '', 'nodes'),
    on(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    on(['create'], '', 'pods/binding'),
    on(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'apps', 'controllerrevisions'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'deployment-controller': [
    on(['get', 'list', 'update', 'watch'], ['apps', 'extensions'], 'deployments'),
    on(['update'], ['apps', 'extensions'], 'deployments/status'),
    on(['update'], ['apps', 'extensions'], 'deployments/finalizers'),
    on(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], ['apps', 'extensions'], 'replicasets'),
    on(['get', 'list', 'update', 'watch'], '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'disruption-controller': [
    on(READ, ['apps', 'extensions'], 'deployments'),
    on(READ, ['apps', 'extensions'], 'replicasets'),
    on(READ, '', 'replicationcontrollers'),
    on(READ, 'policy', 'poddisruptionbudgets'),
    on(READ, 'apps', 'statefulsets'),
    on(['update'], 'policy', 'poddisruptionbudgets/status'),
    on(['patch', 'update'], '', 'pods/status'),
    on(['get'], '*', '*/scale'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'endpoint-controller': [
    on(READ, '', 'pods', 'services'),
    on(['create', 'delete', 'get', 'list', 'update', 'watch'], '', 'endpoints'),
    on(['create'], '', 'endpoints/restricted'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'endpointslice-controller': [
    on(READ, '', 'nodes', 'pods', 'services'),
    on(['update'], '', 'services/finalizers'),
    on(['create', 'delete', 'get', 'list', 'update', 'watch'], 'discovery.k8s.io', 'endpointslices'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'generic-garbage-collector': [
    on(['delete', 'get', 'list', 'patch', 'update', 'watch'], '*', '*'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'horizontal-pod-autoscaler': [
    on(READ, 'autoscaling', 'horizontalpodautoscalers'),
    on(['update'], 'autoscaling', 'horizontalpodautoscalers/status'),
    on(['get', 'update'], '*', '*/scale'),
    on(['list', 'watch'], '', 'pods'),
    on(['list', 'watch'], 'metrics.k8s.io', 'pods'),
    on(READ, 'custom.metrics.k8s.io', '*'),
    on(READ, 'external.metrics.k8s.io', '*'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'job-controller': [
    on(['get', 'list', 'patch', 'update', 'watch'], 'batch', 'jobs'),
    on(['update'], 'batch', 'jobs/status'),
    on(['update'], 'batch', 'jobs/finalizers'),
    on(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'namespace-controller': [
    on(['delete', 'get', 'list', 'watch'], '', 'namespaces'),
    on(['update'], '', 'namespaces/finalize', 'namespaces/status'),
    on(['delete', 'deletecollection', 'get', 'list', 'watch'], '*', '*'),
  ],
  'persistent-volume-binder': [
    on(['create', 'delete', 'get', 'list', 'update', 'watch'], '', 'persistentvolumes'),
    on(['update'], '', 'persistentvolumes/status'),
    on(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
    on(['update'], '', 'persistentvolumeclaims/status'),
    on(['create', 'delete', 'get', 'list', 'watch'], '', 'pods'),
    on(READ, 'storage.k8s.io', 'storageclasses'),
    on(['list', 'watch'], '', 'nodes'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
    on(['watch'], '', 'events'),
  ],
  'pod-garbage-collector': [
    on(['delete', 'list', 'watch'], '', 'pods'),
    on(READ, '', 'nodes'),
    on(['patch'], '', 'pods/status'),
  ],
  'pv-protection-controller': [
    on(['get', 'list', 'update', 'watch'], '', 'persistentvolumes'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'pvc-protection-controller': [
    on(['get', 'list', 'update', 'watch'], '', 'persistentvolumeclaims'),
    on(['update'], '', 'persistentvolumeclaims/status'),
    on(READ, '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'replicaset-controller': [
    on(['get', 'list', 'update', 'watch'], ['apps', 'extensions'], 'replicasets'),
    on(['update'], ['apps', 'extensions'], 'replicasets/status'),
    on(['update'], ['apps', 'extensions'], 'replicasets/finalizers'),
    on(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'replication-controller': [
    on(['get', 'list', 'update', 'watch'], '', 'replicationcontrollers'),
    on(['update'], '', 'replicationcontrollers/status'),
    on(['update'], '', 'replicationcontrollers/finalizers'),
    on(['create', 'delete', 'list', 'patch', 'watch'], '', 'pods'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'resourcequota-controller': [
    on(['list', 'watch'], '*', '*'),
    on(['update'], '', 'resourcequotas/status'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'root-ca-cert-publisher': [
    on(['create', 'update'], '', 'configmaps'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'service-account-controller': [
    on(['create'], '', 'serviceaccounts'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'service-controller': [
    on(READ, '', 'services'),
    on(['patch', 'update'], '', 'services/status'),
    on(['list', 'watch'], '', 'nodes'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'statefulset-controller': [
    on(['list', 'watch'], '', 'pods'),
    on(READ, 'apps', 'statefulsets'),
    on(['update'], 'apps', 'statefulsets/status'),
    on(['update'], 'apps', 'statefulsets/finalizers'),
    on(['create', 'delete', 'get', 'patch', 'update'], '', 'pods'),
    on(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'], 'apps', 'controllerrevisions'),
    on(['create', 'get', 'list', 'watch'], '', 'persistentvolumeclaims'),
    on(['delete', 'update'], '', 'persistentvolumeclaims'),
    on(['update'], '', 'pods/finalizers'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'ttl-after-finished-controller': [
    on(['delete', 'get', 'list', 'watch'], 'batch', 'jobs'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
  ],
  'validatingadmissionpolicy-status-controller': [
    on(READ, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    on(['get', 'patch', 'update'], 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    on(['create', 'patch', 'update'], ['', 'events.k8s.io'], 'events'),
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
