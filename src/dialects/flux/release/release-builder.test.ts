/** The builder of HelmReleases, and what hostile options, charts and values do to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import { trackReads } from '../../../render/bundle/track-reads.ts'
import { buildRelease } from './release-builder.ts'

const CHART: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'values.yaml': 'word: chart\nkeep: 1\n',
  'a.yaml': 'word: a\nmap: {x: 1}\n',
  'b.yaml': 'map: {z: 2}\n',
  'crds/crd.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.example.com}\n',
  'templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, annotations: {helm.toolkit.fluxcd.io/driftDetection: disabled}}\ndata: {values: {{ .Values | toJson | quote }}, random: {{ randAlphaNum 8 }}}\n',
  'templates/hook.yaml':
    'apiVersion: batch/v1\nkind: Job\nmetadata: {name: before, annotations: {helm.sh/hook: pre-install}}\n',
  'templates/tests/one.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: one, annotations: {helm.sh/hook: test, helm.sh/hook-weight: "3"}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: two, annotations: {helm.sh/hook: test-success}}\n',
}
const BASE = { owner: { name: 'web', namespace: 'ns' }, release: { name: 'web', namespace: 'shop' }, chart: '' }

function run(options: JsonObject = {}, files = CHART, inputs: ReadonlyMap<string, unknown> = new Map()) {
  const cluster = { name: 'c', labels: {}, annotations: {}, claims: {}, values: {} }
  const random = { randomBytes: (length: number) => new Uint8Array(length), now: () => 0, generateKey: () => '' }
  return buildRelease({
    files: new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
    path: '',
    options: { ...BASE, ...options },
    inputs,
    cluster: trackReads(cluster),
    charts: { entropy: random, frozen: {} },
  })
}
const names = (objects: readonly UnknownObject[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
const values = (made: ReturnType<typeof run>) => {
  const found = made.objects.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: { values: string } }
  return JSON.parse(found.data.values) as JsonObject
}
const fails = (words: RegExp, ...given: Parameters<typeof run>) =>
  assert.throws(
    () => run(...given),
    (error: Error) => {
      assert.match(error.message, words)
      return true
    },
  )

test('objects, hooks and definitions of a chart; tests only where they are wanted', () => {
  const made = run()
  assert.deepEqual(names(made.objects), ['CustomResourceDefinition x.example.com', 'ConfigMap web', 'Job before'])
  assert.equal(made.objects[1]?.metadata.annotations?.['flotilla.dev/drift'], 'Ignore')
  assert.equal(Object.keys(made.frozen ?? {}).length, 1, 'random values are kept for the next render')
  assert.deepEqual(names(run({ crds: 'Skip' }).objects).length, 2)
  assert.equal(run({ crds: 'Replace' }).objects[0]?.metadata.annotations, undefined)
  const tested = run({ tests: { filters: [] } }).objects.filter(({ kind }) => kind === 'Pod')
  assert.deepEqual(
    tested.map(({ metadata }) => `${metadata.name} ${metadata.annotations?.['helm.sh/hook-weight'] ?? ''}`).sort(),
    ['one 100003', 'two 100000'],
  )
  const only = (filters: JsonObject[]) =>
    names(run({ tests: { filters } }).objects.filter(({ kind }) => kind === 'Pod')).join()
  assert.equal(only([{ name: 'one', exclude: true }]), 'Pod two')
  assert.equal(only([{ name: 'one', exclude: false }]), 'Pod one')
})

test('values files replace the values of the chart', () => {
  assert.deepEqual(values(run()), { word: 'chart', keep: 1 })
  assert.deepEqual(values(run({ valuesFiles: ['a.yaml', './b.yaml'] })), { word: 'a', map: { x: 1, z: 2 } })
  assert.deepEqual(values(run({ valuesFiles: ['none.yaml', 'b.yaml'], ignoreMissing: true })), { map: { z: 2 } })
  fails(/values file "none\.yaml" is not in the source/, { valuesFiles: ['none.yaml'] })
  fails(/values file "\.\.\/\.\.\/etc\/passwd" is not in the source/, { valuesFiles: ['../../etc/passwd'] })
})

test('values of Secrets are inputs, and a name of Object.prototype is none', () => {
  const valuesFrom = [{ kind: 'Secret', name: 's', valuesKey: 'k', targetPath: 'word' }]
  const inputs = new Map([['in', new Map([['k', 'hidden']])]])
  assert.equal(values(run({ valuesFrom, secrets: { s: 'in' } }, CHART, inputs))['word'], 'hidden')
  fails(/secrets "s" not found/, { valuesFrom })
  fails(/secrets "toString" not found/, { valuesFrom: [{ kind: 'Secret', name: 'toString' }] })
  fails(/configmaps "constructor" not found/, { valuesFrom: [{ kind: 'ConfigMap', name: 'constructor' }] })
})

test('post renderers change objects, and hooks only where they are meant to', () => {
  const patches = [{ target: { kind: '.*' }, patch: '- {op: add, path: /metadata/labels, value: {added: x}}' }]
  const labelled = (options: JsonObject) =>
    names(
      run({ postRenderers: [{ kustomize: { patches } }], ...options }).objects.filter(
        (one) => one.metadata.labels?.['added'],
      ),
    )
  assert.deepEqual(labelled({}), ['ConfigMap web'])
  assert.deepEqual(labelled({ rendersHooks: true }).sort(), ['ConfigMap web', 'Job before'])
  const older = {
    patchesJson6902: [{ target: { kind: 'ConfigMap', name: 'web' }, patch: [{ op: 'remove', path: '/data/random' }] }],
  }
  const made = run({ postRenderers: [{ kustomize: older }] }).objects.find(({ kind }) => kind === 'ConfigMap')
  assert.deepEqual(Object.keys((made as unknown as { data: object }).data), ['values'])
  const remote = [{ kustomize: { patches: [{ path: '/etc/passwd', target: { kind: 'ConfigMap' } }] } }]
  fails(/error while running post render on files/, { postRenderers: remote })
})

test('a chart in one directory is found; a source without a chart is refused', () => {
  const below = Object.fromEntries(Object.entries(CHART).map(([path, text]) => [`web/${path}`, text]))
  assert.equal(run({}, below).objects.length, 3)
  assert.equal(run({ chart: 'web' }, below).objects.length, 3)
  fails(/there is no Chart\.yaml in "charts\/x" of the source/, { chart: 'charts/x' }, below)
  fails(/no such template|error|chart/i, {}, { 'Chart.yaml': 'a: [' })
})

test('options that no HelmRelease compiles to are refused', () => {
  const wrong: readonly JsonObject[] = [
    { owner: 1 },
    { release: {} },
    { chart: 1 },
    { valuesFiles: [1] },
    { values: [] as never },
    { valuesFrom: [{ kind: 1 }] },
    { configMaps: { a: { b: 1 } } },
    { secrets: { a: 1 } },
    { postRenderers: [1] },
    { commonMetadata: { labels: { a: 1 } } },
    { tests: { filters: [1] } },
  ]
  for (const options of wrong) {
    assert.throws(() => run(options), RenderFailure, JSON.stringify(options))
  }
})
