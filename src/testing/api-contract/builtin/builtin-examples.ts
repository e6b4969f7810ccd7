import type { ObjectMeta } from '../../../kinds/meta.ts'

/** One example of every built-in kind, chosen so that as many defaults as possible are filled in. */

/** An example; `status` is written through its subresource afterwards. */
export interface BuiltinExample {
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly metadata?: Partial<ObjectMeta>
  }
  readonly status?: object
}

const labels = { app: 'web' }
const template = (spec: object): object => ({ metadata: { labels }, spec })

const CONTAINERS = {
  containers: [
    {
      name: 'web',
      image: 'registry.example/web:1.2',
      ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
      env: [
        { name: 'A', value: '1' },
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      envFrom: [{ configMapRef: { name: 'c' } }],
      resources: { limits: { cpu: '1', memory: '64Mi' }, requests: { cpu: '500m' } },
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'dns' }, periodSeconds: 3 },
      startupProbe: { grpc: { port: 99 } },
      lifecycle: { preStop: { httpGet: { port: 80, path: '/bye' } } },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    },
    { name: 'log', image: 'log' },
    { name: 'pinned', image: `log@sha256:${'0'.repeat(64)}` },
  ],
  initContainers: [{ name: 'setup', image: 'setup:latest', restartPolicy: 'Always' }],
  volumes: [
    { name: 'tmp' },
    { name: 'secret', secret: { secretName: 's' } },
    { name: 'config', configMap: { name: 'c', items: [{ key: 'a', path: 'b' }] } },
    { name: 'all', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
    { name: 'info', downwardAPI: { items: [{ path: 'l', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { name: 'host', hostPath: { path: '/var/log' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'data' } },
  ],
  imagePullSecrets: [{ name: 'registry' }],
  serviceAccountName: 'robot',
  nodeSelector: { disk: 'ssd' },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
  ],
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: labels } } },
      ],
    },
  },
}

const SIMPLE = { containers: [{ name: 'web', image: 'web:1' }] }
const selector = { matchLabels: labels }

function example(apiVersion: string, kind: string, fields: object, status?: object): BuiltinExample {
  return { object: { apiVersion, kind, ...fields }, ...(status ? { status } : {}) }
}

const CORE: readonly BuiltinExample[] = [
  example('v1', 'ConfigMap', { data: { a: 'b' }, binaryData: { c: 'ZA==' } }),
  example('v1', 'Secret', { data: { a: '', b: 'Yg==' }, stringData: { c: 'd' } }),
  example('v1', 'ServiceAccount', { imagePullSecrets: [{ name: 'registry' }], secrets: [{ name: 'token' }] }),
  example('v1', 'Namespace', { metadata: { labels: { team: 'a' } } }),
  example('v1', 'Endpoints', {
    subsets: [
      {
        addresses: [{ ip: '10.1.0.1' }, { ip: '10.1.0.2' }],
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ],
      },
    ],
  }),
  example('v1', 'LimitRange', {
    spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' } }] },
  }),
  example(
    'v1',
    'Node',
    {
      metadata: { labels: { 'node-role.kubernetes.io/worker': '' } },
      spec: { podCIDR: '10.2.0.0/24' },
    },
    {
      conditions: [{ type: 'Ready', status: 'True' }],
      addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
      nodeInfo: {
        kubeletVersion: 'v1.36.0',
        osImage: 'Debian',
        kernelVersion: '6.1',
        containerRuntimeVersion: 'containerd://2',
        machineID: '',
        systemUUID: '',
        bootID: '',
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  ),
  example(
    'v1',
    'PersistentVolume',
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
        hostPath: { path: '/x' },
        storageClassName: 'slow',
      },
    },
    { phase: 'Available' },
  ),
  example(
    'v1',
    'PersistentVolumeClaim',
    {
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        storageClassName: 'slow',
        volumeName: 'pv-1',
      },
    },
    { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  ),
  example(
    'v1',
    'Pod',
    { metadata: { labels }, spec: CONTAINERS },
    {
      phase: 'Running',
      podIP: '10.3.0.7',
      podIPs: [{ ip: '10.3.0.7' }],
      conditions: [
        { type: 'Initialized', status: 'True' },
        { type: 'Ready', status: 'False' },
      ],
      initContainerStatuses: [
        {
          name: 'setup',
          image: 'setup',
          imageID: '',
          ready: true,
          started: true,
          restartCount: 1,
          state: { running: {} },
        },
      ],
      containerStatuses: [
        { name: 'web', image: 'web', imageID: '', ready: true, restartCount: 0, state: { running: {} } },
        {
          name: 'log',
          image: 'log',
          imageID: '',
          ready: false,
          restartCount: 3,
          state: { waiting: { reason: 'CrashLoopBackOff' } },
          lastState: { terminated: { exitCode: 1, finishedAt: '2020-01-01T00:00:00Z' } },
        },
        {
          name: 'pinned',
          image: 'p',
          imageID: '',
          ready: false,
          restartCount: 0,
          state: { terminated: { exitCode: 2 } },
        },
      ],
    },
  ),
  example('v1', 'PodTemplate', { template: template(SIMPLE) }),
  example('v1', 'ReplicationController', { spec: { template: template(SIMPLE) } }, { replicas: 1, readyReplicas: 1 }),
  example(
    'v1',
    'ResourceQuota',
    { spec: { hard: { 'limits.cpu': '4', 'requests.cpu': '2', pods: '10' } } },
    {
      hard: { 'limits.cpu': '4', 'requests.cpu': '2', pods: '10' },
      used: { 'limits.cpu': '1', 'requests.cpu': '500m', pods: '1' },
    },
  ),
  example('v1', 'Service', {
    spec: {
      selector: labels,
      ports: [
        { port: 80, name: 'w' },
        { port: 53, protocol: 'UDP', name: 'd' },
      ],
    },
  }),
  example(
    'v1',
    'Service',
    {
      metadata: { name: 'balanced' },
      spec: {
        type: 'LoadBalancer',
        selector: labels,
        sessionAffinity: 'ClientIP',
        ports: [{ port: 80, targetPort: 'web' }],
      },
    },
    { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'lb.example' }] } },
  ),
  example('v1', 'Service', { metadata: { name: 'headless' }, spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
  example('v1', 'Service', {
    metadata: { name: 'outside' },
    spec: { type: 'ExternalName', externalName: 'a.example' },
  }),
  example('v1', 'Event', {
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'NAMESPACE', fieldPath: 'spec.containers{web}' },
    type: 'Normal',
    reason: 'Started',
    message: 'started',
    source: { component: 'kubelet', host: 'node-1' },
  }),
]

const WORKLOADS: readonly BuiltinExample[] = [
  example('apps/v1', 'ControllerRevision', {
    revision: 3,
    data: { any: { thing: 1 } },
  }),
  example(
    'apps/v1',
    'DaemonSet',
    { spec: { selector, template: template(CONTAINERS) } },
    { desiredNumberScheduled: 3, currentNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1 },
  ),
  example(
    'apps/v1',
    'Deployment',
    {
      spec: {
        selector: { ...selector, matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] },
        template: template(CONTAINERS),
      },
    },
    { observedGeneration: 1, replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 },
  ),
  example('apps/v1', 'Deployment', {
    metadata: { name: 'recreated' },
    spec: { replicas: 0, strategy: { type: 'Recreate' }, selector, template: template(SIMPLE) },
  }),
  example('apps/v1', 'ReplicaSet', { spec: { selector, template: template(SIMPLE) } }, { replicas: 1 }),
  example(
    'apps/v1',
    'StatefulSet',
    {
      spec: {
        serviceName: 'web',
        selector,
        template: template(SIMPLE),
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    },
    { replicas: 1, readyReplicas: 1 },
  ),
  example(
    'batch/v1',
    'Job',
    { spec: { template: template({ ...SIMPLE, restartPolicy: 'Never' }) } },
    {
      active: 0,
      startTime: '2026-01-01T00:00:00Z',
      completionTime: '2026-01-01T00:01:40Z',
      succeeded: 1,
      conditions: [
        { type: 'SuccessCriteriaMet', status: 'True', lastTransitionTime: '2026-01-01T00:01:40Z' },
        { type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:01:40Z' },
      ],
      uncountedTerminatedPods: {},
    },
  ),
  example('batch/v1', 'CronJob', {
    spec: {
      schedule: '*/5 * * * *',
      jobTemplate: { spec: { template: { spec: { ...SIMPLE, restartPolicy: 'OnFailure' } } } },
    },
  }),
  example('autoscaling/v2', 'HorizontalPodAutoscaler', {
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  }),
  example('autoscaling/v1', 'HorizontalPodAutoscaler', {
    metadata: { name: 'first' },
    spec: {
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 60,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    },
  }),
  example('policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: '50%', selector } }),
]

const webhook = {
  name: 'a.example.dev',
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  clientConfig: { service: { name: 's', namespace: 'n' } },
  rules: [{ operations: ['CREATE'], apiGroups: ['example.dev'], apiVersions: ['v1'], resources: ['things'] }],
}
const constraints = {
  resourceRules: [{ operations: ['CREATE'], apiGroups: ['example.dev'], apiVersions: ['v1'], resources: ['things'] }],
}
const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'shown' }

/** A certificate request, as its field wants it. */
export const REQUEST = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlHUE1FTUNBUUF3RURFT01Bd0dBMVVFQXd3RmMyaHZkMjR3',
  'S2pBRkJnTXJaWEFESVFDclBhRmxPN1ZHY0xkTApkbytkZ0Y2R3lIK3pycnFmZG5IcU04Lzg3aWNOaDZBQU1BVUdBeXRsY0FO',
  'QkFNd29DTHluRWlMZndBYjIwYnltCjMrRGtDUzVLSm9OQUsvSlFWdHR3UFJSWHRyK080dDcxWjFNQ2pyYWNuaXdFM0d5QVhJ',
  'L2JLeUZHSExuSUpxaE4KekFrPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K',
].join('')

const CLUSTER: readonly BuiltinExample[] = [
  example('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', { webhooks: [webhook] }),
  example('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', { webhooks: [webhook] }),
  example('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', {
    spec: {
      matchConstraints: constraints,
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: 'true' }],
    },
  }),
  example('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', {
    spec: {
      policyName: 'shown',
      validationActions: ['Deny'],
      paramRef: { name: 'p', namespace: 'n', parameterNotFoundAction: 'Allow' },
      matchResources: { namespaceSelector: { matchLabels: { no: 'where' } } },
    },
  }),
  example('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', {
    spec: {
      matchConstraints: constraints,
      reinvocationPolicy: 'Never',
      mutations: [
        { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{metadata: Object.metadata{}}' } },
      ],
    },
  }),
  example('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', { spec: { policyName: 'shown' } }),
  example('apiregistration.k8s.io/v1', 'APIService', {
    metadata: { name: 'v1.shown.example.dev' },
    spec: {
      group: 'shown.example.dev',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
    },
  }),
  example('certificates.k8s.io/v1', 'CertificateSigningRequest', {
    spec: { request: REQUEST, signerName: 'example.dev/any', usages: ['client auth'], expirationSeconds: 3600 },
  }),
  example('coordination.k8s.io/v1', 'Lease', {
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-11-16T00:00:00.000000Z' },
  }),
  example('discovery.k8s.io/v1', 'EndpointSlice', {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }, { addresses: ['10.1.0.2'] }],
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ],
  }),
  example('events.k8s.io/v1', 'Event', {
    metadata: { name: 'newer' },
    eventTime: '2026-11-16T00:00:00.000000Z',
    reportingController: 'example.dev/a',
    reportingInstance: 'a-1',
    action: 'Pull',
    reason: 'Pulled',
    type: 'Warning',
    note: 'said',
    regarding: { kind: 'Pod', name: 'p', namespace: 'NAMESPACE' },
  }),
  example('flowcontrol.apiserver.k8s.io/v1', 'PriorityLevelConfiguration', {
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing: {} } } },
  }),
  example('flowcontrol.apiserver.k8s.io/v1', 'FlowSchema', {
    spec: { priorityLevelConfiguration: { name: 'shown' }, distinguisherMethod: { type: 'ByUser' } },
  }),
  example('networking.k8s.io/v1', 'IngressClass', {
    spec: { controller: 'example.dev/ingress', parameters: { kind: 'Parameters', name: 'p', apiGroup: 'example.dev' } },
  }),
  example(
    'networking.k8s.io/v1',
    'Ingress',
    {
      spec: {
        ingressClassName: 'shown',
        tls: [{ hosts: ['a.example'], secretName: 's' }],
        rules: [
          {
            host: 'a.example',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
            },
          },
          { host: 'b.example' },
        ],
      },
    },
    { loadBalancer: { ingress: [{ ip: '192.0.2.7' }] } },
  ),
  example('networking.k8s.io/v1', 'IPAddress', {
    metadata: { name: '192.168.7.7' },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'none' } },
  }),
  example('networking.k8s.io/v1', 'NetworkPolicy', {
    spec: { podSelector: selector, egress: [{ ports: [{ port: 53 }] }] },
  }),
  example('networking.k8s.io/v1', 'ServiceCIDR', { spec: { cidrs: ['10.97.0.0/24'] } }),
  example('node.k8s.io/v1', 'RuntimeClass', { handler: 'runc', scheduling: { nodeSelector: { a: 'b' } } }),
  example('rbac.authorization.k8s.io/v1', 'ClusterRole', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  }),
  example('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', {
    roleRef: { kind: 'ClusterRole', name: 'shown', apiGroup: '' },
    subjects: [{ kind: 'Group', name: 'g' }],
  }),
  example('rbac.authorization.k8s.io/v1', 'Role', {
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  }),
  example('rbac.authorization.k8s.io/v1', 'RoleBinding', {
    roleRef: role,
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' },
      { kind: 'User', name: 'bob' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    ],
  }),
  example('resource.k8s.io/v1', 'DeviceClass', {
    spec: { selectors: [{ cel: { expression: "device.driver == 'a.example'" } }] },
  }),
  example('resource.k8s.io/v1', 'ResourceClaim', {
    spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'shown' } }] } },
  }),
  example('resource.k8s.io/v1', 'ResourceClaimTemplate', {
    spec: { spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'shown' } }] } } },
  }),
  example('resource.k8s.io/v1', 'ResourceSlice', {
    spec: {
      driver: 'a.example',
      nodeName: 'node-1',
      pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
      devices: [{ name: 'd0', attributes: { index: { int: 1 } } }],
    },
  }),
  example('scheduling.k8s.io/v1', 'PriorityClass', { value: 1000, description: 'high' }),
  example('storage.k8s.io/v1', 'CSIDriver', { spec: { tokenRequests: [{ audience: 'a' }] } }),
  example('storage.k8s.io/v1', 'CSINode', { spec: { drivers: [{ name: 'a.example', nodeID: 'n' }] } }),
  example('storage.k8s.io/v1', 'CSIStorageCapacity', { storageClassName: 'slow', capacity: '1Gi' }),
  example('storage.k8s.io/v1', 'StorageClass', {
    metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'a.example',
  }),
  example('storage.k8s.io/v1', 'VolumeAttachment', {
    spec: { attacher: 'a.example', nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } },
  }),
  example('storage.k8s.io/v1', 'VolumeAttributesClass', { driverName: 'a.example', parameters: { iops: '1' } }),
]

/** All examples; objects without a name are called `shown`. */
export const BUILTIN_EXAMPLES: readonly BuiltinExample[] = [...CORE, ...WORKLOADS, ...CLUSTER]
