/**
 * Specs of Kubernetes' own kinds, each spoiled in one way, or whole where one might think otherwise; grouped by what
 * they are about.
 */
import type { JsonObject } from '../../../core/json.ts'

/** An object to be created, without its name. */
export interface InvalidSpec {
  readonly apiVersion: string
  readonly kind: string
  readonly spec: JsonObject
}

const spoiled = (apiVersion: string, kind: string, spec: JsonObject): InvalidSpec => ({ apiVersion, kind, spec })
const container = (more: JsonObject = {}, name = 'a'): JsonObject => ({ name, image: 'a', ...more })
const pod = (spec: JsonObject) => spoiled('v1', 'Pod', { containers: [container()], ...spec })
const only = (more: JsonObject) => pod({ containers: [container(more)] })
const init = (more: JsonObject) => pod({ initContainers: [container(more, 'i')] })

const TWO_VOLUMES = ['v', 'w'].map((name) => ({ name, emptyDir: {} }))
const CLAIMED = [{ name: 'v', persistentVolumeClaim: { claimName: 'p' } }]
const mounting = (...volumeMounts: readonly JsonObject[]) =>
  pod({ volumes: TWO_VOLUMES, containers: [container({ volumeMounts })] })
const having = (more: JsonObject) => pod({ volumes: CLAIMED, containers: [container(more)] })
const volume = (more: JsonObject) => pod({ volumes: [{ name: 'v', ...more }] })
const file = (item: JsonObject) => volume({ configMap: { name: 'c', items: [item] } })
const projected = (...sources: readonly JsonObject[]) => volume({ projected: { sources } })
const NO_VOLUME = { containers: [container({ volumeMounts: [{ name: 'x', mountPath: '/x' }] })] }
const V = { name: 'v', mountPath: '/x' }
const D = { name: 'v', devicePath: '/d' }

const ports = (...list: readonly JsonObject[]) => only({ ports: list.map((port) => ({ containerPort: 80, ...port })) })
const variable = (more: JsonObject) => only({ env: [{ name: 'A', ...more }] })
const from = (valueFrom: JsonObject) => variable({ valueFrom })
const NAME = { fieldRef: { fieldPath: 'metadata.name' } }

const GET = { httpGet: { port: 80 } }
const probe = (more: JsonObject, field = 'livenessProbe') => only({ [field]: more })

const SELECTOR = { matchLabels: { a: 'b' } }
const template = (spec: JsonObject = {}, labels: JsonObject = { a: 'b' }): JsonObject => ({
  metadata: { labels },
  spec: { containers: [container()], ...spec },
})
const workload =
  (kind: string) =>
  (spec: JsonObject, of = template()) =>
    spoiled('apps/v1', kind, { selector: SELECTOR, template: of, ...spec })
const [deployment, replicaSet, daemonSet, plainSet] = ['Deployment', 'ReplicaSet', 'DaemonSet', 'StatefulSet'].map(
  workload,
) as [Workload, Workload, Workload, Workload]
type Workload = ReturnType<typeof workload>
const statefulSet: Workload = (spec, of) => plainSet({ serviceName: 's', ...spec }, of)
const ALL_WORKLOADS: readonly Workload[] = [deployment, replicaSet, daemonSet, statefulSet]
const rolling = (rollingUpdate: JsonObject) => deployment({ strategy: { rollingUpdate } })

const task = (spec: JsonObject): JsonObject => ({
  spec: { restartPolicy: 'Never', containers: [container()], ...spec },
})
const job = (spec: JsonObject, of: JsonObject = {}) => spoiled('batch/v1', 'Job', { template: task(of), ...spec })
const cronJob = (spec: JsonObject, of: JsonObject = {}) =>
  spoiled('batch/v1', 'CronJob', { schedule: '* * * * *', jobTemplate: { spec: { template: task(of) } }, ...spec })

const service = (spec: JsonObject) => spoiled('v1', 'Service', { ports: [{ port: 80 }], ...spec })
const servicePort = (more: JsonObject) => service({ ports: [{ port: 80, ...more }] })
const ingress = (spec: JsonObject) => spoiled('networking.k8s.io/v1', 'Ingress', spec)
const TO = { service: { name: 's', port: { number: 80 } } }
const route = (path: string, pathType = 'Prefix') =>
  ingress({ rules: [{ http: { paths: [{ path, pathType, backend: TO }] } }] })
const policy = (spec: JsonObject) => spoiled('networking.k8s.io/v1', 'NetworkPolicy', { podSelector: {}, ...spec })
const scaler = (spec: JsonObject) =>
  spoiled('autoscaling/v2', 'HorizontalPodAutoscaler', {
    maxReplicas: 2,
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
    ...spec,
  })
const budget = (spec: JsonObject) => spoiled('policy/v1', 'PodDisruptionBudget', { selector: SELECTOR, ...spec })
const CLAIM = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const claim = (spec: JsonObject) => spoiled('v1', 'PersistentVolumeClaim', { ...CLAIM, ...spec })
const CLAIMS = { volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: CLAIM }] }
const mountsClaim = (name: string) =>
  statefulSet(CLAIMS, template({ containers: [container({ volumeMounts: [{ name, mountPath: '/d' }] })] }))

/** By what they are about. */
export const INVALID_SPECS: Readonly<Record<string, readonly InvalidSpec[]>> = {
  'mounts name volumes that are there, and each path once': [
    pod(NO_VOLUME),
    init({ volumeMounts: [{ name: 'x', mountPath: '/x' }] }),
    deployment({}, template(NO_VOLUME)),
    cronJob({}, NO_VOLUME),
    mountsClaim('d'),
    mountsClaim('e'),
    mounting(V, { ...V, name: 'w' }),
    mounting(V, { ...V, mountPath: '/y' }),
    mounting({ ...V, mountPath: '' }),
    mounting({ ...V, name: '' }),
    mounting({ ...V, subPath: '/a' }),
    mounting({ ...V, subPath: 'a/../b' }),
    mounting({ ...V, subPath: 'a', subPathExpr: 'b' }),
    mounting({ ...V, mountPropagation: 'X' }),
    mounting({ ...V, mountPropagation: 'Bidirectional' }),
    having({ volumeDevices: [{ ...D, name: 'x' }] }),
    having({ volumeDevices: [D, D] }),
    having({ volumeMounts: [{ name: 'v', mountPath: '/d' }], volumeDevices: [D] }),
    pod({ volumes: TWO_VOLUMES, containers: [container({ volumeDevices: [D] })] }),
  ],
  'volumes have names and one source each': [
    pod({ volumes: [TWO_VOLUMES[0], TWO_VOLUMES[0]] }),
    pod({ volumes: [{ name: 'A', emptyDir: {} }] }),
    pod({ volumes: [{ name: '', emptyDir: {} }] }),
    volume({}),
    volume({ emptyDir: {}, configMap: { name: 'c' } }),
    volume({ hostPath: { path: '/a' }, secret: { secretName: 'c' } }),
    volume({ configMap: {} }),
    volume({ configMap: { name: 'c', defaultMode: 1000 } }),
    volume({ secret: {} }),
    volume({ secret: { secretName: 'c', items: [{ key: 'a', path: 'a', mode: -1 }] } }),
    volume({ persistentVolumeClaim: { claimName: '' } }),
    volume({ hostPath: { path: '' } }),
    volume({ hostPath: { path: '/a/../b' } }),
    volume({ hostPath: { path: '/a', type: 'X' } }),
    volume({ nfs: { server: '', path: 'a' } }),
    volume({ csi: { driver: '' } }),
    volume({ emptyDir: { medium: 'X' } }),
    file({ key: '', path: '' }),
    file({ key: 'a', path: '/a' }),
    file({ key: 'a', path: '../a' }),
    projected({}),
    projected({ configMap: {} }),
    projected({ configMap: { name: 'a' }, secret: { name: 'b' } }),
    projected({ serviceAccountToken: { path: 'a' } }),
  ],
  'containers have names of their own': [
    init({ name: 'a' }),
    pod({ containers: [container(), container()] }),
    pod({ initContainers: [container({}, 'i'), container({}, 'i')] }),
    only({ name: 'A_b' }),
    only({ name: '' }),
    pod({ containers: [] }),
    only({ image: ' a' }),
    only({ imagePullPolicy: 'X' }),
    only({ terminationMessagePolicy: 'X' }),
    only({ restartPolicy: 'Always' }),
    init({ livenessProbe: GET }),
    init({ lifecycle: { preStop: { exec: { command: ['a'] } } } }),
    init({ restartPolicy: 'Sometimes' }),
    init({ restartPolicy: 'Always', livenessProbe: GET }),
  ],
  'ports are numbers with names of their own': [
    ports({ containerPort: 0 }),
    ports({ containerPort: 70_000 }),
    ports({ protocol: 'X' }),
    ports({ name: 'a' }, { containerPort: 81, name: 'a' }),
    ports({ name: 'A_much_too_long_name' }),
    ports({ name: '80' }),
    ports({ hostPort: 70_000 }),
    ports({ hostPort: 80 }, { containerPort: 81, hostPort: 80 }),
    pod({ containers: ['a', 'b'].map((name) => container({ ports: [{ containerPort: 80, hostPort: 80 }] }, name)) }),
    pod({ hostNetwork: true, containers: [container({ ports: [{ containerPort: 80, hostPort: 81 }] })] }),
  ],
  'variables have one value': [
    from({}),
    variable({ value: 'x', valueFrom: NAME }),
    from({ ...NAME, secretKeyRef: { name: 's', key: 'k' } }),
    ...['', 'metadata.xyz', 'spec.replicas', "metadata.labels['a']", 'metadata.labels'].map((fieldPath) =>
      from({ fieldRef: { fieldPath } }),
    ),
    from({ secretKeyRef: { name: '', key: 'k' } }),
    from({ secretKeyRef: { name: 's', key: '' } }),
    from({ secretKeyRef: { name: 's', key: 'a b' } }),
    from({ configMapKeyRef: { name: 's' } }),
    from({ configMapKeyRef: { name: 'S', key: 'a' } }),
    from({ resourceFieldRef: { resource: 'x' } }),
    from({ resourceFieldRef: {} }),
    variable({ name: '' }),
    variable({ name: 'a=b' }),
    variable({ name: 'a b' }),
    only({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] }),
    only({ envFrom: [{ prefix: 'a=', configMapRef: { name: 'a' } }] }),
    only({ envFrom: [{ configMapRef: { name: 'A' } }] }),
  ],
  'probes and hooks have one handler': [
    probe({}),
    probe({ ...GET, tcpSocket: { port: 80 } }),
    ...[0, 70_000, 'A_B'].map((port) => probe({ httpGet: { port } })),
    probe({ httpGet: { port: 80, scheme: 'X' } }),
    probe({ tcpSocket: { port: 0 } }),
    probe({ grpc: { port: 0 } }),
    ...['periodSeconds', 'timeoutSeconds', 'initialDelaySeconds', 'failureThreshold'].map((field) =>
      probe({ ...GET, [field]: -1 }),
    ),
    probe({ ...GET, successThreshold: 2 }),
    probe({ ...GET, successThreshold: 2 }, 'startupProbe'),
    probe({ ...GET, terminationGracePeriodSeconds: 5 }, 'readinessProbe'),
    probe({ ...GET, terminationGracePeriodSeconds: 0 }),
    only({ lifecycle: { preStop: { exec: { command: ['a'] }, ...GET } } }),
    only({ lifecycle: { preStop: {} } }),
    only({ lifecycle: { preStop: { exec: {} } } }),
  ],
  'requests fit into limits': [
    only({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } }),
    only({ resources: { requests: { cpu: '-1' } } }),
    only({ resources: { limits: { nonsense: '1' } } }),
    only({ resources: { limits: { 'a.b/gpu': '1' }, requests: { 'a.b/gpu': '2' } } }),
    only({ resources: { requests: { 'a.b/gpu': '2' } } }),
    only({ resources: { limits: { 'a.b/gpu': '1.5' } } }),
  ],
  'a pod says what is known': [
    only({ securityContext: { runAsUser: -1 } }),
    only({ securityContext: { procMount: 'X' } }),
    only({ securityContext: { seccompProfile: { type: 'X' } } }),
    only({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    pod({ securityContext: { runAsUser: -1 } }),
    pod({ securityContext: { fsGroup: -1 } }),
    pod({ securityContext: { fsGroupChangePolicy: 'X' } }),
    pod({ restartPolicy: 'X' }),
    pod({ dnsPolicy: 'X' }),
    pod({ dnsPolicy: 'None' }),
    pod({ activeDeadlineSeconds: 0 }),
    pod({ terminationGracePeriodSeconds: -1 }),
    pod({ nodeSelector: { 'a b': 'c' } }),
    pod({ nodeSelector: { a: 'b c' } }),
    ...['nodeName', 'hostname', 'subdomain', 'serviceAccountName'].map((field) => pod({ [field]: 'A_' })),
    pod({ imagePullSecrets: [{}] }),
    pod({ hostAliases: [{ ip: 'x', hostnames: ['a'] }] }),
    pod({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['A_'] }] }),
    pod({ hostPID: true, shareProcessNamespace: true }),
    pod({ readinessGates: [{ conditionType: 'a b' }] }),
  ],
  'a pod says where it may run': [
    ...[
      { key: 'a', operator: 'X' },
      { key: 'a', operator: 'Exists', value: 'b' },
      { operator: 'Equal', value: 'b' },
      { key: 'a', operator: 'Exists', effect: 'X' },
      { key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 1 },
      { key: 'a b', operator: 'Exists' },
    ].map((toleration) => pod({ tolerations: [toleration] })),
    ...[
      { maxSkew: 0, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'X' },
      { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 },
    ].map((constraint) => pod({ topologySpreadConstraints: [constraint] })),
    ...[[], [{ matchExpressions: [{ key: 'a', operator: 'In' }] }]].map((nodeSelectorTerms) =>
      pod({
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      }),
    ),
    pod({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] } },
    }),
    pod({
      affinity: {
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, podAffinityTerm: { topologyKey: 'a' } }],
        },
      },
    }),
  ],
  'workloads have pods that run for ever, and choose them': [
    ...ALL_WORKLOADS.map((of) => of({}, template({ restartPolicy: 'Never' }))),
    ...ALL_WORKLOADS.map((of) => of({}, template({ activeDeadlineSeconds: 5 }))),
    ...ALL_WORKLOADS.map((of) => of({}, template({}, { a: 'c' }))),
    deployment({ selector: {} }),
    deployment({}, template({}, { a: 'b', c: 'd e' })),
  ],
  'workloads have numbers that make sense': [
    ...[deployment, replicaSet, statefulSet].map((of) => of({ replicas: -1 })),
    ...ALL_WORKLOADS.map((of) => of({ minReadySeconds: -1 })),
    deployment({ revisionHistoryLimit: -1 }),
    deployment({ progressDeadlineSeconds: 0 }),
    deployment({ progressDeadlineSeconds: 5, minReadySeconds: 10 }),
    deployment({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
    rolling({ maxSurge: 0, maxUnavailable: 0 }),
    rolling({ maxSurge: '0%', maxUnavailable: 0 }),
    rolling({ maxUnavailable: '150%' }),
    rolling({ maxUnavailable: 'x' }),
    rolling({ maxSurge: -1 }),
    daemonSet({ updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } }),
    daemonSet({ updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } } }),
    statefulSet({ updateStrategy: { rollingUpdate: { partition: -1 } } }),
    statefulSet({ podManagementPolicy: 'X' }),
  ],
  'jobs end': [
    ...['parallelism', 'completions', 'backoffLimit', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'].map((field) =>
      job({ [field]: -1 }),
    ),
    job({ completionMode: 'X' }),
    job({ completionMode: 'Indexed' }),
    job({ completionMode: 'Indexed', completions: 5, parallelism: 200_000 }),
    job({ podReplacementPolicy: 'X' }),
    job({}, { restartPolicy: 'X' }),
    job({ backoffLimitPerIndex: 1 }),
    job(
      { podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }] } },
      { restartPolicy: 'OnFailure' },
    ),
    ...['', 'x', '* * * *', '@hourly', 'TZ=UTC * * * * *'].map((schedule) => cronJob({ schedule })),
    cronJob({ concurrencyPolicy: 'X' }),
    cronJob({ startingDeadlineSeconds: -1 }),
    cronJob({ successfulJobsHistoryLimit: -1 }),
    cronJob({}, { restartPolicy: 'Always' }),
  ],
  'services lead somewhere': [
    service({ ports: [{ port: 0 }] }),
    service({ ports: [{ port: 70_000 }] }),
    service({ ports: ['a', 'a'].map((name, index) => ({ port: 80 + index, name })) }),
    ...[{ protocol: 'X' }, { targetPort: 0 }, { targetPort: 'A_B' }, { name: 'A_' }, { nodePort: 30_000 }].map(
      servicePort,
    ),
    ...['type', 'sessionAffinity', 'internalTrafficPolicy'].map((field) => service({ [field]: 'X' })),
    service({ selector: { 'a b': 'c' } }),
    service({ selector: { a: 'b c' } }),
    service({ externalTrafficPolicy: 'Local' }),
    service({ type: 'NodePort', externalTrafficPolicy: 'X' }),
    service({ clusterIP: 'x' }),
    service({ type: 'NodePort', clusterIP: 'None' }),
    service({ externalIPs: ['x'] }),
    service({ type: 'ExternalName', externalName: 'A_' }),
    service({ loadBalancerSourceRanges: ['10.0.0.0/8'] }),
  ],
  'requests from outside are led to services': [
    ...['A_', '1.2.3.4', '*.a'].map((host) => ingress({ rules: [{ host }] })),
    ingress({ rules: [{ http: { paths: [] } }] }),
    route('a'),
    route('/a//b'),
    route('/a', 'X'),
    ingress({ defaultBackend: { service: { name: 'S_', port: { number: 80 } } } }),
    ingress({ defaultBackend: { service: { name: 's', port: { number: 80, name: 'a' } } } }),
    ingress({ defaultBackend: { ...TO, resource: { kind: 'A', name: 'a' } } }),
    ingress({ defaultBackend: { service: { name: 's', port: { number: 70_000 } } } }),
    ingress({ defaultBackend: TO, tls: [{ hosts: ['A_'] }] }),
    ingress({ defaultBackend: TO, ingressClassName: 'A_' }),
    policy({ policyTypes: ['X'] }),
    policy({ ingress: [{ from: [{}] }] }),
    policy({ ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} }] }] }),
    policy({ ingress: [{ ports: [{ port: 0 }] }] }),
  ],
  'scalers, budgets and claims have numbers that make sense': [
    scaler({ minReplicas: 3 }),
    scaler({ metrics: [{ type: 'Resource' }] }),
    ...[-1, '150%', 'x'].map((minAvailable) => budget({ minAvailable })),
    claim({ accessModes: ['X'] }),
    claim({ volumeMode: 'X' }),
    claim({ storageClassName: 'A_' }),
    ...['0', '-1'].map((storage) => claim({ resources: { requests: { storage } } })),
  ],
}
