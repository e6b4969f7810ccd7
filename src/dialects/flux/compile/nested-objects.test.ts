import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import type { KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { findingText } from '../../read-fields.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { compileNested } from './nested-objects.ts'
import type { NestedScene } from './nested-objects.ts'

const PARENT = build(
  Kustomization,
  'flux-system/root',
  { spec: { sourceRef: { kind: 'GitRepository', name: 'fleet' }, kubeConfig: { secretRef: { name: 'store-1' } } } },
  { uid: 'uid-root' },
)

const child = (name: string, more: JsonObject = {}, version = 'v1'): UnknownObject => ({
  apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
  kind: 'Kustomization',
  metadata: { name, ...(more['metadata'] as object) },
  spec: { interval: '1m', ...(more['spec'] as object) },
})

function compiled(objects: readonly UnknownObject[], scene: Partial<NestedScene> = {}, parent = PARENT) {
  const { desired, findings } = compileNested(parent, objects, {
    target: { placement: 'stores' },
    find: () => undefined,
    ...scene,
  })
  return { objects: desired.map(({ object }) => object), said: findings.map(findingText) }
}

const annotation = ({ metadata }: KubeObject) => metadata.annotations?.['flotilla.dev/placement']

test('a nested Kustomization is for the clusters of its parent, unless it names its own', () => {
  const own = child('own', { metadata: { annotations: { 'flotilla.dev/placement': 'labs' } } })
  const remote = child('remote', { spec: { kubeConfig: { secretRef: { name: 'other' } } } })
  const { objects } = compiled([child('apps'), own, remote])
  assert.deepEqual(objects.map(annotation), ['stores', 'labs', undefined])
  const [apps] = compiled([child('apps')], { target: { cluster: 'store-1' } }).objects
  assert.deepEqual((apps!.spec as JsonObject)['kubeConfig'], { secretRef: { name: 'store-1' } })
  assert.equal(apps!.metadata.namespace, 'flux-system')
  assert.equal(apps!.metadata.ownerReferences, undefined, 'the garbage collector leaves it when the parent is deleted')
})

test('the ServiceAccount and the rollout plan of the outer Kustomization hold for nested ones', () => {
  const annotations = { 'flotilla.dev/rollout-plan': 'rings' }
  const parent: Kustomization = {
    ...PARENT,
    metadata: { ...PARENT.metadata, annotations },
    spec: { ...PARENT.spec, serviceAccountName: 'tenant' },
  }
  const same = child('same', { metadata: { annotations }, spec: { serviceAccountName: 'tenant' } })
  const source = { ...child('git'), apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' }
  const inherited = compiled([child('apps'), same, source], {}, parent)
  assert.deepEqual(
    inherited.objects.map(({ metadata, spec }) => [
      metadata.annotations?.['flotilla.dev/rollout-plan'],
      (spec as JsonObject)['serviceAccountName'],
    ]),
    [
      ['rings', 'tenant'],
      ['rings', 'tenant'],
      [undefined, undefined],
    ],
  )
  assert.deepEqual(inherited.said, [])
  const admin = child('admin', { spec: { serviceAccountName: 'admin' } })
  const fast = child('fast', { metadata: { annotations: { 'flotilla.dev/rollout-plan': 'at-once' } } })
  assert.deepEqual(compiled([admin, fast], {}, parent), {
    objects: [],
    said: [
      'Kustomization admin of the build is left out: its spec.serviceAccountName is "admin", and the outer Kustomization has "tenant"',
      'Kustomization fast of the build is left out: its annotation flotilla.dev/rollout-plan is "at-once", and the outer Kustomization has "rings"',
    ],
  })
  const free = compiled([admin])
  assert.equal((free.objects[0]!.spec as JsonObject)['serviceAccountName'], 'admin')
})

test('a repository sets no annotation of the hub on nested objects besides the placement', () => {
  const annotations = {
    'flotilla.dev/placement': 'labs',
    'flotilla.dev/secrets': 'Allow',
    'flotilla.dev/rollout-plan': 'at-once',
    'flotilla.dev/nested-in': 'other',
    'example.com/team': 'a',
  }
  const { objects, said } = compiled([child('apps', { metadata: { annotations } })])
  const { 'flotilla.dev/compiled': _compiled, ...written } = objects[0]!.metadata.annotations ?? {}
  assert.deepEqual(written, {
    'flotilla.dev/placement': 'labs',
    'example.com/team': 'a',
    'flotilla.dev/nested-in': 'root',
  })
  assert.deepEqual(said, [
    'flotilla.dev/secrets, flotilla.dev/rollout-plan, flotilla.dev/nested-in of Kustomization apps of the build has no effect; annotate the object on the hub instead',
  ])
})

test('older versions are read, and what is not served is left out with a finding', () => {
  const older = compiled([child('apps', {}, 'v1beta2')])
  assert.deepEqual(
    older.objects.map(({ apiVersion }) => apiVersion),
    ['kustomize.toolkit.fluxcd.io/v1'],
  )
  assert.match(compiled([child('apps', {}, 'v2')]).said[0]!, /left out: version v2 is not served/)
  const release = { ...child('web'), apiVersion: 'helm.toolkit.fluxcd.io/v2', kind: 'HelmRelease' }
  assert.deepEqual(compiled([release]).objects[0]?.metadata.annotations?.['flotilla.dev/placement'], 'stores')
  const alert = { ...child('web'), apiVersion: 'notification.toolkit.fluxcd.io/v1', kind: 'Alert' }
  assert.deepEqual(compiled([alert]).said, ['Alert web of the build is left out: the kind is not served'])
  const other = child('apps', { metadata: { namespace: 'kube-system' } })
  assert.deepEqual(compiled([other]).objects, [], 'a build writes to no other namespace of the hub')
  const many = Array.from({ length: 501 }, (_, at) => child(`a${at}`))
  assert.match(compiled(many).said[0]!, /^the build has 501 objects of Flux, and at most 500 are supported/)
})

test('an object of an earlier parent of the same name is written again', () => {
  const [apps] = compiled([child('apps')]).objects
  assert.equal(compiled([child('apps')], { find: () => apps }).objects.length, 1)
  const other = {
    metadata: { name: 'apps', annotations: { 'flotilla.dev/nested-in': 'other' } },
  } as unknown as KubeObject
  assert.match(compiled([child('apps')], { find: () => other }).said[0]!, /an object of this name is there already/)
})

test('objects that are there already stay; those of gotk-sync are not mentioned', () => {
  const theirs = { metadata: { name: 'x', uid: 'uid-x' } } as KubeObject
  const find = () => theirs
  assert.match(compiled([child('apps')], { find }).said[0]!, /left out: an object of this name is there already/)
  const source: UnknownObject = {
    apiVersion: 'source.toolkit.fluxcd.io/v1',
    kind: GitRepository.kind,
    metadata: { name: 'fleet' },
    spec: {},
  }
  assert.deepEqual(compiled([child('root'), source], { find }), { objects: [], said: [] })
})
