import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { findingText } from '../../read-fields.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { readGitRepository } from './compile-git-repository.ts'
import { compileKustomization, readKustomization } from './compile-kustomization.ts'
import type { KustomizationScene } from './compile-kustomization.ts'

const kustomization = (spec: JsonObject, annotations: Record<string, string> = {}) =>
  build(
    Kustomization,
    'flux-system/apps',
    { spec: { interval: '10m', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' }, ...spec } },
    { annotations },
  )

const repository = (spec: JsonObject = {}) =>
  readGitRepository(build(GitRepository, 'flux-system/fleet', { spec: { interval: '5m', url: 'x', ...spec } })).spec

const SCENE: KustomizationScene = {
  target: { placement: 'all' },
  source: repository(),
  allowsSecrets: false,
  configMaps: {},
  secrets: [],
}

function compiled(object: Kustomization, scene: Partial<KustomizationScene> = {}) {
  return compileKustomization(object, readKustomization(object).spec, { ...SCENE, ...scene }).map(
    ({ object: one }) => one,
  )
}

const bundle = (spec: JsonObject, annotations?: Record<string, string>, scene?: Partial<KustomizationScene>) =>
  compiled(kustomization(spec, annotations), scene).at(-1)!.spec as Bundle['spec']

test('a Kustomization is a Bundle that the builder builds', () => {
  assert.deepEqual(bundle({ path: './apps', namePrefix: 'a-', wait: true }), {
    source: { name: 'gitrepository-fleet' },
    builder: {
      name: 'flux',
      options: { name: 'apps', namespace: 'flux-system', spec: { path: './apps', namePrefix: 'a-' } },
    },
    placement: 'all',
    apply: { force: true, timeout: '9m30s' },
    delete: { removed: 'Delete', unplaced: 'Delete', bundleDeleted: 'Delete' },
  })
})

test('prune, deletionPolicy and suspend decide what is deleted', () => {
  const policies = (spec: JsonObject) => {
    const { removed, unplaced, bundleDeleted } = bundle(spec).delete ?? {}
    return `${removed} ${unplaced} ${bundleDeleted}`
  }
  assert.equal(policies({ prune: true }), 'Delete Delete Delete')
  assert.equal(policies({ prune: false }), 'Orphan Orphan Orphan')
  assert.equal(policies({ prune: false, deletionPolicy: 'Delete' }), 'Orphan Orphan Delete')
  assert.equal(policies({ prune: true, deletionPolicy: 'Orphan' }), 'Delete Delete Orphan')
  assert.equal(policies({ prune: true, deletionPolicy: 'WaitForTermination' }), 'Delete Delete Delete')
  assert.equal(policies({ prune: true, suspend: true }), 'Delete Delete Orphan')
})

test('without wait and healthChecks no object counts for Ready', () => {
  const check = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'apps' }
  assert.deepEqual(bundle({}).health, [{ ignore: true }])
  assert.equal(bundle({ healthChecks: [check] }).health, undefined)
  assert.equal(bundle({ wait: true }).health, undefined)
})

test('options, dependencies, rings and the service account', () => {
  const made = bundle(
    {
      force: true,
      timeout: '2m',
      serviceAccountName: 'deployer',
      dependsOn: [{ name: 'base' }, { name: 'judged', readyExpr: 'true' }],
    },
    { 'flotilla.dev/rollout-plan': 'rings' },
    { depends: ['flux-system/kustomization-base'] },
  )
  assert.deepEqual(made.apply, { force: true, timeout: '2m0s', immutable: 'Recreate' })
  assert.deepEqual(made.executor, { namespace: 'flux-system', name: 'deployer' })
  assert.deepEqual(made.dependsOn, [{ bundle: 'flux-system/kustomization-base' }])
  assert.deepEqual(made.rollout, { plan: 'rings' })
})

test('a Kustomization that names its cluster has a Placement of its own', () => {
  const [placement, made] = compiled(kustomization({}), { target: { cluster: 'store-1' } })
  assert.equal(placement!.metadata.name, 'kustomization-apps')
  assert.deepEqual((placement!.spec as JsonObject)['predicates'], [{ cel: ['cluster.metadata.name == "store-1"'] }])
  assert.equal((made!.spec as Bundle['spec']).placement, 'kustomization-apps')
})

test('values of Secrets are inputs, those of ConfigMaps are options', () => {
  const made = bundle(
    { postBuild: { substitute: { a: '1' } } },
    {},
    { configMaps: { vars: { b: '2' } }, secrets: ['s'] },
  )
  assert.deepEqual(made.inputs, [{ name: 'secret_0', secret: { name: 's' } }])
  const { configMaps, secrets } = made.builder!.options as JsonObject
  assert.deepEqual([configMaps, secrets], [{ vars: { b: '2' } }, { s: 'secret_0' }])
})

test('included repositories stand apart until the build', () => {
  const source = repository({ include: [{ repository: { name: 'lib' }, fromPath: 'base' }] })
  const made = bundle({}, {}, { source })
  assert.deepEqual(made.source?.include, [{ source: 'gitrepository-lib', at: '.flotilla-include/0' }])
  assert.deepEqual((made.builder!.options as JsonObject)['include'], [
    { at: '.flotilla-include/0', from: 'base', to: 'lib' },
  ])
})

test('what cannot be meant is refused', () => {
  const problems = (spec: JsonObject) => readKustomization(kustomization(spec)).findings.map(findingText)
  assert.deepEqual(problems({}), [])
  assert.match(problems({ deletionPolicy: 'Keep' })[0]!, /^spec\.deletionPolicy is "Keep"; use one of MirrorPrune/)
  assert.match(problems({ interval: '0s' })[0]!, /^spec\.interval is "0s"/)
  assert.match(problems({ kubeConfig: { configMapRef: { name: 'x' } } })[0]!, /configMapRef is refused/)
  assert.match(problems({ retryInterval: '1m' })[0]!, /^spec\.retryInterval has no effect/)
})
