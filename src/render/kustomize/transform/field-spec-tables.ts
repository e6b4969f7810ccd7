/**
 * The default fields of the transformers. The rows are composed from the Kubernetes API: where pod specs are, and which
 * of their fields refer to objects. Kustomize chooses the covered kinds; field-spec-tables.oracle.test.ts confirms with
 * the binary that the rows are complete.
 */
import type { FieldSpec } from './field-spec.ts'
import type { Gvk } from '../resources/resource-id.ts'

/** A kind, and the fields that name its objects. */
export interface NameReference extends Gvk {
  readonly fieldSpecs: readonly FieldSpec[]
}

function spec(path: string, type: Partial<Gvk> = {}, create = false): FieldSpec {
  return { group: '', version: '', kind: '', ...type, path, create }
}

const TEMPLATE = 'spec/template'
const JOB_TEMPLATE = 'spec/jobTemplate'

// Where kinds keep their pod spec.
const POD_SPECS: Readonly<Record<string, string>> = {
  Pod: 'spec',
  PodTemplate: 'template/spec',
  Deployment: `${TEMPLATE}/spec`,
  ReplicaSet: `${TEMPLATE}/spec`,
  DaemonSet: `${TEMPLATE}/spec`,
  StatefulSet: `${TEMPLATE}/spec`,
  ReplicationController: `${TEMPLATE}/spec`,
  Job: `${TEMPLATE}/spec`,
  CronJob: `${JOB_TEMPLATE}/spec/template/spec`,
}

function inPods(kinds: string, fields: readonly string[], podType: Partial<Gvk> = {}): FieldSpec[] {
  return kinds
    .split(' ')
    .flatMap((kind) =>
      fields.map((field) => spec(`${POD_SPECS[kind]}/${field}`, { kind, ...(kind === 'Pod' ? podType : {}) })),
    )
}

const ENV_KINDS = 'Pod PodTemplate Deployment ReplicaSet DaemonSet StatefulSet Job CronJob'
const NAMED_KINDS = 'Pod StatefulSet Deployment ReplicationController CronJob Job DaemonSet'

function envFields(what: 'configMap' | 'secret'): string[] {
  return ['containers', 'initContainers'].flatMap((list) => [
    `${list}/env/valueFrom/${what}KeyRef/name`,
    `${list}/envFrom/${what}Ref/name`,
  ])
}

const CORE = { group: '', version: 'v1' }
const RBAC = 'rbac.authorization.k8s.io'
const WEBHOOKS = 'admissionregistration.k8s.io'

/** Fields that refer to objects by name. */
export const NAME_REFERENCES: readonly NameReference[] = [
  ...['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map((kind) => ({
    group: '',
    version: '',
    kind,
    fieldSpecs: [spec('spec/scaleTargetRef/name', { kind: 'HorizontalPodAutoscaler' })],
  })),
  {
    ...CORE,
    kind: 'ConfigMap',
    fieldSpecs: [
      ...inPods(
        ENV_KINDS,
        ['volumes/configMap/name', ...envFields('configMap'), 'volumes/projected/sources/configMap/name'],
        { version: 'v1' },
      ),
      spec('spec/configSource/configMap', { kind: 'Node' }),
      spec('rules/resourceNames', { kind: 'Role' }),
      spec('rules/resourceNames', { kind: 'ClusterRole' }),
      spec('metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap', { kind: 'Ingress' }),
    ],
  },
  {
    ...CORE,
    kind: 'Secret',
    fieldSpecs: [
      ...inPods(
        ENV_KINDS,
        [
          'volumes/secret/secretName',
          ...envFields('secret'),
          'imagePullSecrets/name',
          'volumes/projected/sources/secret/name',
        ],
        { version: 'v1' },
      ),
      spec('spec/tls/secretName', { kind: 'Ingress' }),
      ...['ingress.kubernetes.io\\/auth-secret', 'nginx.ingress.kubernetes.io\\/auth-secret'].map((name) =>
        spec(`metadata/annotations/${name}`, { kind: 'Ingress' }),
      ),
      spec('metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret', { kind: 'Ingress' }),
      spec('imagePullSecrets/name', { kind: 'ServiceAccount' }),
      ...['secretName', 'adminSecretName', 'userSecretName', 'secretRef'].map((name) =>
        spec(`parameters/${name}`, { kind: 'StorageClass' }),
      ),
      spec('rules/resourceNames', { kind: 'Role' }),
      spec('rules/resourceNames', { kind: 'ClusterRole' }),
      spec(`${TEMPLATE}/spec/containers/env/valueFrom/secretKeyRef/name`, {
        group: 'serving.knative.dev',
        version: 'v1',
        kind: 'Service',
      }),
      spec('spec/azureFile/secretName', { kind: 'PersistentVolume' }),
    ],
  },
  {
    ...CORE,
    kind: 'Service',
    fieldSpecs: [
      spec('spec/serviceName', { kind: 'StatefulSet', group: 'apps' }),
      ...['rules/http/paths/backend/serviceName', 'backend/serviceName'].map((path) =>
        spec(`spec/${path}`, { kind: 'Ingress' }),
      ),
      ...['rules/http/paths/backend/service/name', 'defaultBackend/service/name'].map((path) =>
        spec(`spec/${path}`, { kind: 'Ingress' }),
      ),
      spec('spec/service/name', { kind: 'APIService', group: 'apiregistration.k8s.io' }),
      spec('webhooks/clientConfig/service', { kind: 'ValidatingWebhookConfiguration', group: WEBHOOKS }),
      spec('webhooks/clientConfig/service', { kind: 'MutatingWebhookConfiguration', group: WEBHOOKS }),
    ],
  },
  {
    group: RBAC,
    version: '',
    kind: 'Role',
    fieldSpecs: [spec('roleRef/name', { kind: 'RoleBinding', group: RBAC })],
  },
  {
    group: RBAC,
    version: '',
    kind: 'ClusterRole',
    fieldSpecs: ['RoleBinding', 'ClusterRoleBinding'].map((kind) => spec('roleRef/name', { kind, group: RBAC })),
  },
  {
    ...CORE,
    kind: 'ServiceAccount',
    fieldSpecs: [
      ...['RoleBinding', 'ClusterRoleBinding'].map((kind) => spec('subjects', { kind, group: RBAC })),
      ...inPods(NAMED_KINDS, ['serviceAccountName']),
    ],
  },
  {
    ...CORE,
    kind: 'PersistentVolumeClaim',
    fieldSpecs: inPods(NAMED_KINDS, ['volumes/persistentVolumeClaim/claimName']),
  },
  {
    ...CORE,
    kind: 'PersistentVolume',
    fieldSpecs: [
      spec('spec/volumeName', { kind: 'PersistentVolumeClaim' }),
      spec('rules/resourceNames', { kind: 'ClusterRole' }),
    ],
  },
  {
    group: 'storage.k8s.io',
    version: 'v1',
    kind: 'StorageClass',
    fieldSpecs: [
      spec('spec/storageClassName', { kind: 'PersistentVolume' }),
      spec('spec/storageClassName', { kind: 'PersistentVolumeClaim' }),
      spec('spec/volumeClaimTemplates/spec/storageClassName', { kind: 'StatefulSet' }),
    ],
  },
  {
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    fieldSpecs: inPods(NAMED_KINDS, ['priorityClassName']),
  },
  {
    // The group is written with its version in the original, so that this row never matches.
    group: 'networking.k8s.io/v1',
    version: 'v1',
    kind: 'IngressClass',
    fieldSpecs: [spec('spec/ingressClassName', { kind: 'Ingress' })],
  },
  {
    group: WEBHOOKS,
    version: '',
    kind: 'ValidatingAdmissionPolicy',
    fieldSpecs: [spec('spec/policyName', { kind: 'ValidatingAdmissionPolicyBinding', group: WEBHOOKS })],
  },
]

function templateMetadata(what: 'labels' | 'annotations', statefulSet: Partial<Gvk>): FieldSpec[] {
  const make = (path: string, type: Partial<Gvk>): FieldSpec => spec(`${path}/metadata/${what}`, type, true)
  return [
    spec(`metadata/${what}`, {}, true),
    make(TEMPLATE, { version: 'v1', kind: 'ReplicationController' }),
    ...['Deployment', 'ReplicaSet', 'DaemonSet'].map((kind) => make(TEMPLATE, { kind })),
    make(TEMPLATE, { kind: 'StatefulSet', ...statefulSet }),
    make(TEMPLATE, { group: 'batch', kind: 'Job' }),
    make(JOB_TEMPLATE, { group: 'batch', kind: 'CronJob' }),
    make(`${JOB_TEMPLATE}/spec/template`, { group: 'batch', kind: 'CronJob' }),
  ]
}

const CLAIM_LABELS = [spec('spec/volumeClaimTemplates[]/metadata/labels', { group: 'apps', kind: 'StatefulSet' }, true)]

function affinitySelectors(kind: string): FieldSpec[] {
  const terms = ['podAffinity', 'podAntiAffinity'].flatMap((what) => [
    `affinity/${what}/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm`,
    `affinity/${what}/requiredDuringSchedulingIgnoredDuringExecution`,
  ])
  return [...terms, 'topologySpreadConstraints'].map((path) =>
    spec(`${TEMPLATE}/spec/${path}/labelSelector/matchLabels`, { group: 'apps', kind }),
  )
}

/** Fields that get labels together with the selectors. */
export const COMMON_LABELS: readonly FieldSpec[] = [
  spec('spec/selector', { version: 'v1', kind: 'Service' }, true),
  spec('spec/selector', { version: 'v1', kind: 'ReplicationController' }, true),
  spec('spec/selector/matchLabels', { kind: 'Deployment' }, true),
  ...affinitySelectors('Deployment'),
  spec('spec/selector/matchLabels', { kind: 'ReplicaSet' }, true),
  spec('spec/selector/matchLabels', { kind: 'DaemonSet' }, true),
  spec('spec/selector/matchLabels', { group: 'apps', kind: 'StatefulSet' }, true),
  ...affinitySelectors('StatefulSet'),
  spec('spec/selector/matchLabels', { group: 'batch', kind: 'Job' }),
  spec(`${JOB_TEMPLATE}/spec/selector/matchLabels`, { group: 'batch', kind: 'CronJob' }),
  spec('spec/selector/matchLabels', { group: 'policy', kind: 'PodDisruptionBudget' }),
  ...['podSelector', 'ingress/from/podSelector', 'egress/to/podSelector'].map((path) =>
    spec(`spec/${path}/matchLabels`, { group: 'networking.k8s.io', kind: 'NetworkPolicy' }),
  ),
  ...templateMetadata('labels', { group: 'apps' }),
  ...CLAIM_LABELS,
]

/** Fields that get labels with `includeTemplates`. */
export const TEMPLATE_LABELS: readonly FieldSpec[] = [...templateMetadata('labels', { group: 'apps' }), ...CLAIM_LABELS]

/** Fields that get annotations. */
export const COMMON_ANNOTATIONS: readonly FieldSpec[] = templateMetadata('annotations', {})

/** Fields that hold the namespace, beside the object's own. */
export const NAMESPACES: readonly FieldSpec[] = [
  spec('metadata/name', { kind: 'Namespace' }, true),
  spec('spec/service/namespace', { group: 'apiregistration.k8s.io', kind: 'APIService' }, true),
  spec('spec/conversion/webhook/clientConfig/service/namespace', {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
  }),
]

/** Fields with names that get a prefix or suffix. */
export const NAMES: readonly FieldSpec[] = [spec('metadata/name')]

/** Fields with images, beside every list called containers or initContainers. */
export const IMAGES: readonly FieldSpec[] = ['spec', `${TEMPLATE}/spec`].flatMap((pod) =>
  ['containers[]/image', 'initContainers[]/image', 'volumes[]/image/reference'].map((path) =>
    spec(`${pod}/${path}`, {}, true),
  ),
)

/** Fields with replica counts. */
export const REPLICAS: readonly FieldSpec[] = ['Deployment', 'ReplicationController', 'ReplicaSet', 'StatefulSet'].map(
  (kind) => spec('spec/replicas', { kind }, true),
)

function containerVars(kind: string, pod: string): FieldSpec[] {
  return ['containers', 'initContainers'].flatMap((list) =>
    ['args', 'command', 'env/value', 'volumeMounts/mountPath'].map((field) =>
      spec(`${pod}/${list}/${field}`, { kind }),
    ),
  )
}

const VAR_KINDS = ['CronJob', 'DaemonSet', 'Deployment', 'Job', 'Pod', 'ReplicaSet', 'StatefulSet']

/** Fields in which `$(NAME)` is replaced. */
export const VAR_REFERENCES: readonly FieldSpec[] = [
  ...VAR_KINDS.flatMap((kind) => containerVars(kind, POD_SPECS[kind]!)),
  // A slip of the original: pods have their volumes one level deeper.
  spec(`${JOB_TEMPLATE}/spec/template/volumes/nfs/server`, { kind: 'CronJob' }),
  ...['DaemonSet', 'Deployment', 'Job', 'Pod', 'ReplicaSet'].map((kind) =>
    spec(`${POD_SPECS[kind]}/volumes/nfs/server`, { kind }),
  ),
  spec(`${TEMPLATE}/metadata/annotations`, { kind: 'Deployment' }),
  ...['rules/host', 'tls/hosts', 'tls/secretName'].map((path) => spec(`spec/${path}`, { kind: 'Ingress' })),
  ...['port', 'targetPort'].map((path) => spec(`spec/ports/${path}`, { kind: 'Service' })),
  spec('spec/volumeClaimTemplates/spec/nfs/server', { kind: 'StatefulSet' }),
  spec('spec/nfs/server', { kind: 'PersistentVolume' }),
  spec('metadata/labels'),
  spec('metadata/annotations'),
]
