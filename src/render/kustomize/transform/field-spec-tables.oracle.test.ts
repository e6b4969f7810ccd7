/** The tables against the real binary: every kind with every path, so that a row too many shows like one too few. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { findBinary } from '../../../testing/testenv.ts'
import { buildKustomization, buildText } from '../build.ts'
import {
  COMMON_ANNOTATIONS,
  COMMON_LABELS,
  NAMESPACES,
  NAME_REFERENCES,
  REPLICAS,
  VAR_REFERENCES,
} from './field-spec-tables.ts'
import { createFileTree } from '../loader.ts'
import { splitPath } from '../nodes/node.ts'

const kubectl = findBinary('kubectl')
const skip = kubectl === undefined ? 'kubectl is not on this machine: run `npm run testenv`' : false

type Json = Record<string, unknown>

function compare(files: Record<string, unknown>): void {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'kustomize-tables-')))
  try {
    const texts = Object.entries(files).map(([name, content]) => {
      const documents = Array.isArray(content) ? content : [content]
      return [name, documents.map((document) => JSON.stringify(document)).join('\n---\n')] as const
    })
    for (const [name, text] of texts) writeFileSync(join(root, name), text)
    const wanted = execFileSync(kubectl!, ['kustomize', root], {
      encoding: 'utf8',
      maxBuffer: 1 << 30,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const tree = createFileTree(new Map(texts.map(([name, text]) => [`/d/${name}`, utf8(text)])))
    const got = buildText(buildKustomization(tree, '/d').resources)
    // Whole texts are too long to read: the first objects that differ tell enough.
    const [wantedObjects, gotObjects] = [wanted.split('---\n'), got.split('---\n')]
    const at = wantedObjects.findIndex((text, i) => text !== gotObjects[i])
    assert.equal(gotObjects[at], wantedObjects[at])
    assert.equal(gotObjects.length, wantedObjects.length)
    assert.ok(gotObjects.length > 10)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function nested(path: string, value: unknown): Json {
  return splitPath(path.replaceAll('[]', ''), '/').reduceRight<unknown>(
    (inner, key) => ({ [key]: inner }),
    value,
  ) as Json
}

function merged(a: unknown, b: unknown): unknown {
  if (typeof a !== 'object' || typeof b !== 'object' || !a || !b || Array.isArray(a) || Array.isArray(b)) return b
  const result: Json = { ...(a as Json) }
  for (const [key, value] of Object.entries(b)) result[key] = key in result ? merged(result[key], value) : value
  return result
}

function object(apiVersion: string, kind: string, name: string, ...parts: Json[]): Json {
  return parts.reduce<unknown>(merged, { apiVersion, kind, metadata: { name } }) as Json
}

// Kinds with a group that the tables may ask for, and the same kinds in another group.
const TYPES: readonly (readonly [string, string])[] = [
  'Pod PodTemplate ReplicationController Service ServiceAccount Node Namespace ConfigMap PersistentVolume PersistentVolumeClaim'
    .split(' ')
    .map((kind) => ['v1', kind] as const),
  ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet'].flatMap((kind) => [
    ['apps/v1', kind] as const,
    ['extensions/v1beta1', kind] as const,
  ]),
  ['Job', 'CronJob'].flatMap((kind) => [['batch/v1', kind] as const, ['other/v1', kind] as const]),
  [
    ['networking.k8s.io/v1', 'Ingress'],
    ['networking.k8s.io/v1', 'NetworkPolicy'],
    ['networking.k8s.io/v1', 'IngressClass'],
    ['policy/v1', 'PodDisruptionBudget'],
    ['storage.k8s.io/v1', 'StorageClass'],
    ['autoscaling/v2', 'HorizontalPodAutoscaler'],
    ['rbac.authorization.k8s.io/v1', 'Role'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRole'],
    ['rbac.authorization.k8s.io/v1', 'RoleBinding'],
    ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'],
    ['apiregistration.k8s.io/v1', 'APIService'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
    ['admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration'],
    ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
    ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding'],
    ['serving.knative.dev/v1', 'Service'],
    ['example.com/v1', 'Thing'],
  ] as const,
].flat()

test('names are followed in exactly the fields that the binary follows', { skip }, () => {
  const targets = NAME_REFERENCES.map(({ group, version, kind }) =>
    object(
      group === '' ? version || 'apps/v1' : `${group.split('/')[0]}/${version || 'v1'}`,
      kind,
      `target-${kind.toLowerCase()}`,
    ),
  )
  const paths = new Map<string, Set<string>>()
  for (const { kind, fieldSpecs } of NAME_REFERENCES) {
    for (const { path } of fieldSpecs) paths.set(path, (paths.get(path) ?? new Set()).add(kind))
  }
  // Few objects with all paths: where several kinds share a path, each has its turn in an object of its own.
  const referrers = TYPES.flatMap(([apiVersion, kind]) =>
    [0, 1, 2, 3].map((turn) => {
      const fields = [...paths].map(([path, kinds]) => {
        const names = [...kinds].map((target) => `target-${target.toLowerCase()}`)
        const name = names[turn % names.length]!
        if (path.endsWith('resourceNames')) return nested(path, [...names, 'other'])
        if (path === 'subjects') return nested(path, [{ kind: 'ServiceAccount', name }])
        return nested(path, path.endsWith('/service') ? { name } : name)
      })
      return object(apiVersion, kind, `r${turn}-${apiVersion.replace('/', '-')}`, ...fields)
    }),
  )
  compare({
    'kustomization.yaml': { resources: ['t.yaml', 'r.yaml'], namePrefix: 'p-' },
    't.yaml': targets,
    'r.yaml': referrers,
  })
})

test('labels, annotations, replicas and images reach exactly the fields that the binary reaches', { skip }, () => {
  const bare = TYPES.map(([apiVersion, kind]) => object(apiVersion, kind, `bare-${apiVersion.replace('/', '-')}`))
  const specs = [...COMMON_LABELS, ...COMMON_ANNOTATIONS]
  const full = TYPES.map(([apiVersion, kind]) =>
    object(
      apiVersion,
      kind,
      `full-${apiVersion.replace('/', '-')}`,
      ...[...new Set(specs.map(({ path }) => path))]
        .filter((path) => path !== 'spec/selector' && !path.includes('[]'))
        .map((path) => nested(path, { old: 'x' })),
    ),
  )
  const images = TYPES.map(([apiVersion, kind]) =>
    object(apiVersion, kind, `image-${apiVersion.replace('/', '-')}`, {
      spec: {
        volumes: [{ image: { reference: 'img:1' } }],
        template: { spec: { volumes: [{ image: { reference: 'img:1' } }], containers: [{ image: 'img:1' }] } },
        jobTemplate: { spec: { template: { spec: { volumes: [{ image: { reference: 'img:1' } }] } } } },
      },
    }),
  )
  compare({
    'kustomization.yaml': {
      resources: ['o.yaml'],
      commonLabels: { all: '1' },
      labels: [{ pairs: { template: '1' }, includeTemplates: true }, { pairs: { own: '1' } }],
      commonAnnotations: { note: '1' },
      images: [{ name: 'img', newTag: '2' }],
      replicas: REPLICAS.map(({ kind }) => ({
        name: `bare-${kind === 'ReplicationController' ? 'v1' : 'apps-v1'}`,
        count: 7,
      })),
    },
    'o.yaml': [...bare, ...full, ...images],
  })
})

test('vars are replaced in exactly the fields where the binary replaces them', { skip }, () => {
  const paths = [...new Set(VAR_REFERENCES.map(({ path }) => path))].filter((path) => path.startsWith('spec/'))
  const objects = TYPES.map(([apiVersion, kind]) =>
    object(apiVersion, kind, `v-${apiVersion.replace('/', '-')}`, ...paths.map((path) => nested(path, ['$(X)', 'x']))),
  )
  compare({
    'kustomization.yaml': {
      resources: ['o.yaml', 'x.yaml'],
      vars: [{ name: 'X', objref: { apiVersion: 'v1', kind: 'Secret', name: 'value' } }],
    },
    'x.yaml': object('v1', 'Secret', 'value'),
    'o.yaml': objects,
  })
})

test('namespaces go to exactly the kinds that the binary takes for namespaced', { skip }, () => {
  const groups: Record<string, string> = {
    'admissionregistration.k8s.io':
      'MutatingWebhookConfiguration ValidatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy',
    'apiextensions.k8s.io': 'CustomResourceDefinition',
    'apiregistration.k8s.io': 'APIService',
    apps: 'Deployment ControllerRevision',
    'certificates.k8s.io': 'CertificateSigningRequest ClusterTrustBundle',
    'flowcontrol.apiserver.k8s.io': 'FlowSchema PriorityLevelConfiguration',
    'networking.k8s.io': 'Ingress IngressClass NetworkPolicy IPAddress ServiceCIDR',
    'node.k8s.io': 'RuntimeClass',
    policy: 'PodDisruptionBudget PodSecurityPolicy',
    'rbac.authorization.k8s.io': 'Role RoleBinding ClusterRole ClusterRoleBinding',
    'resource.k8s.io': 'DeviceClass ResourceClaim ResourceSlice',
    'scheduling.k8s.io': 'PriorityClass',
    'storage.k8s.io': 'CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass',
    'authentication.k8s.io': 'TokenReview',
    'authorization.k8s.io': 'SubjectAccessReview LocalSubjectAccessReview',
    '': 'Namespace Node PersistentVolume ComponentStatus NodeProxyOptions Pod Secret Endpoints Event Binding',
  }
  const objects = Object.entries(groups).flatMap(([group, kinds]) =>
    ['v1', 'v1beta1', 'v1beta2', 'v1beta3', 'v1alpha1', 'v2'].flatMap((version) =>
      kinds
        .split(' ')
        .map((kind) =>
          object(
            group === '' ? version : `${group}/${version}`,
            kind,
            'o',
            ...NAMESPACES.filter(({ path }) => path.startsWith('spec/')).map(({ path }) => nested(path, 'old')),
          ),
        ),
    ),
  )
  // Objects of the same kind and version must not meet under one name.
  const unique = objects.filter((item) => item['kind'] !== 'Namespace' || item['apiVersion'] === 'v1')
  compare({ 'kustomization.yaml': { resources: ['o.yaml'], namespace: 'target' }, 'o.yaml': unique })
})

const KEYS =
  'name ip type uid containerPort protocol port mountPath devicePath topologyKey whenUnsatisfiable key'.split(' ')
const POD_LISTS =
  'containers initContainers ephemeralContainers hostAliases imagePullSecrets topologySpreadConstraints volumes tolerations'
const MERGE_PATHS: Record<string, string[]> = {
  'v1 Pod': [
    ...inPod('spec'),
    'status/conditions',
    'status/podIPs',
    'metadata/ownerReferences',
    'metadata/managedFields',
  ],
  'v1 PodTemplate': inPod('template/spec'),
  'v1 ReplicationController': inPod('spec/template/spec'),
  'apps/v1 Deployment': [...inPod('spec/template/spec'), 'status/conditions', 'metadata/ownerReferences'],
  'apps/v1 StatefulSet': [...inPod('spec/template/spec'), 'spec/volumeClaimTemplates'],
  'apps/v1 DaemonSet': inPod('spec/template/spec'),
  'apps/v1 ReplicaSet': inPod('spec/template/spec'),
  'extensions/v1beta1 Deployment': inPod('spec/template/spec'),
  'batch/v1 Job': inPod('spec/template/spec'),
  'batch/v1 CronJob': inPod('spec/jobTemplate/spec/template/spec'),
  'batch/v1beta1 CronJob': inPod('spec/jobTemplate/spec/template/spec'),
  'v1 Service': ['spec/ports', 'status/conditions', 'status/loadBalancer/ingress', 'spec/externalIPs'],
  'v1 ServiceAccount': ['secrets', 'imagePullSecrets'],
  'v1 Node': ['spec/taints', 'status/addresses', 'status/conditions'],
  'v1 Namespace': ['status/conditions'],
  'v1 PersistentVolumeClaim': ['status/conditions'],
  'v1 Endpoints': ['subsets'],
  'networking.k8s.io/v1 Ingress': ['spec/rules', 'spec/tls'],
  'rbac.authorization.k8s.io/v1 Role': ['rules'],
  'rbac.authorization.k8s.io/v1 RoleBinding': ['subjects'],
  'admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration': ['webhooks'],
  'admissionregistration.k8s.io/v1 MutatingWebhookConfiguration': ['webhooks'],
  'admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy': ['spec/validations', 'spec/variables'],
  'storage.k8s.io/v1 CSINode': ['spec/drivers'],
  'policy/v1 PodDisruptionBudget': ['status/conditions'],
  'apiregistration.k8s.io/v1 APIService': ['status/conditions'],
  'apiextensions.k8s.io/v1 CustomResourceDefinition': ['spec/versions', 'status/conditions'],
  'autoscaling/v2 HorizontalPodAutoscaler': ['spec/metrics', 'status/conditions'],
  'autoscaling/v2beta2 HorizontalPodAutoscaler': ['spec/metrics', 'status/conditions'],
  'example.com/v1 Thing': ['spec/containers'],
}

function inPod(pod: string): string[] {
  return POD_LISTS.split(' ').map((list) => `${pod}/${list}`)
}

const INNER_LISTS = ['env', 'ports', 'volumeMounts', 'volumeDevices', 'envFrom']

test('lists are merged by exactly the keys that the binary uses', { skip }, () => {
  const items: Json[] = []
  const patches: Json[] = []
  const item = (mark: string): Json => Object.fromEntries(KEYS.map((key) => [key, `${mark}-${key}`]))
  for (const [type, paths] of Object.entries(MERGE_PATHS)) {
    const [apiVersion, kind] = type.split(' ') as [string, string]
    // The pods of other kinds are the same type: a few keys show that it is reached.
    const isOtherPod = paths.length > 6 && type !== 'v1 Pod'
    for (const key of isOtherPod ? ['name', 'containerPort', 'mountPath', 'ip'] : KEYS) {
      const same = { ...item('patch'), [key]: `one-${key}`, added: true }
      const pair = key === 'containerPort' || key === 'port' ? { ...same, protocol: 'one-protocol' } : same
      const base = [item('zero'), item('one')]
      const patch = [pair, item('new')]
      const lists = (list: readonly Json[]): Json[] =>
        paths.map((path) => {
          const inner = Object.fromEntries(INNER_LISTS.map((name) => [name, list]))
          return nested(path, path.endsWith('ontainers') ? [...list, { name: 'c', ...inner }] : list)
        })
      items.push(object(apiVersion, kind, key.toLowerCase(), ...lists(base)))
      patches.push(object(apiVersion, kind, key.toLowerCase(), ...lists(patch)))
    }
  }
  compare({
    'kustomization.yaml': { resources: ['o.yaml'], patches: [{ path: 'p.yaml' }] },
    'o.yaml': items,
    'p.yaml': patches,
  })
})
