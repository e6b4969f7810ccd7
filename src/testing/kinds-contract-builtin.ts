import type { UnknownObject } from '../kinds/meta.ts'

/** One object of each of Kubernetes' own kinds, to compare our serving with a real server's. */
export const BUILTIN_OBJECTS: readonly UnknownObject[] = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shown' } },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'shown', namespace: 'default' },
    data: { a: 'b' },
    binaryData: { c: 'ZA==' },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shown', namespace: 'default' },
    type: 'Opaque',
    data: { a: '', b: 'Yg==' },
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'shown', namespace: 'default' } },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'shown', namespace: 'default' },
    spec: { holderIdentity: 'me', leaseDurationSeconds: 15, renewTime: '2026-11-16T00:00:00.000000Z' },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'shown', namespace: 'default' },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', fieldPath: 'spec.containers{web}' },
    type: 'Normal',
    reason: 'Started',
    message: 'started',
    source: { component: 'kubelet', host: 'node-1' },
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'shown' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'shown', namespace: 'default' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'shown' },
    subjects: [
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' },
      { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'bob' },
      { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    ],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'shown', namespace: 'default' },
    spec: {
      selector: {
        matchLabels: { app: 'web' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
      },
      template: {
        metadata: { labels: { app: 'web', tier: 'a' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'web:1',
              imagePullPolicy: 'IfNotPresent',
              ports: [{ containerPort: 80 }],
              env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }],
            },
            { name: 'log', image: 'log:2', imagePullPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
          ],
          imagePullSecrets: [{ name: 'registry' }],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  },
]
