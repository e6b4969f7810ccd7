/**
 * What the hub prepares for an agent: rendered in a cluster without values of its own, it is what the hub would have
 * made.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { objectIdentity } from '../render-result.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderInCluster } from './render-in-cluster.ts'
import { renderVariant } from './render-variant.ts'
import type { Variant } from './render-variant.ts'

const CLUSTER: ClusterInputs = {
  name: 'store-1',
  labels: { env: 'prod', region: 'north' },
  annotations: {},
  claims: {},
  values: {},
  kubeVersion: 'v1.33.0',
}
const entropy = { randomBytes: (count: number) => new Uint8Array(count).fill(7), now: () => 0, generateKey: () => '' }
const filesOf = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
const CHART = {
  'app/Chart.yaml':
    'apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies: [{name: lib, version: 1.0.0, repository: "file://../lib"}]\n',
  'app/values.yaml': 'color: red\nport: 80\n',
  'app/templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {v: "{{ .Values.color }} {{ .Values.port }} {{ .Values.who }} {{ include "lib.word" . }}"}\n',
  'lib/Chart.yaml': 'apiVersion: v2\nname: lib\nversion: 1.0.0\ntype: library\n',
  'lib/templates/_word.tpl': '{{ define "lib.word" }}word{{ end }}',
  'env/prod.yaml': 'port: 8080\nwho: ${ .Cluster.Name }\n',
  'README.md': 'not delivered',
}
const KUSTOMIZED = {
  ...CHART,
  'site/kustomization.yaml':
    'resources: [../more]\npatches: [{path: patch.yaml}]\nnamePrefix: x-\nconfigMapGenerator: [{name: gen, files: [a=data/file.txt]}]\n',
  'site/patch.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop}\ndata: {region: "${ .Cluster.Labels.region }"}\n',
  'site/data/file.txt': 'for ${ .Cluster.Name }',
  'site/unread.yaml': 'unread: value ${ .Cluster.Labels.none }',
  'more/kustomization.yaml': 'resources: [sa.yaml]\n',
  'more/sa.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n',
}

/** What comes of the chart alone. */
const DELIVERED = [
  '.flotilla/helm.values.yaml',
  'app/Chart.yaml',
  'app/charts/lib/Chart.yaml',
  'app/charts/lib/templates/_word.tpl',
  'app/templates/cm.yaml',
  'app/values.yaml',
]

const LAYOUTS: Readonly<
  Record<string, { recipe: Partial<BundleRecipe>; files: Record<string, string>; delivered: string[] }>
> = {
  'a chart with its library, value files and templates': {
    recipe: { helm: { chart: 'app', releaseName: 'shop', valuesFiles: ['env/prod.yaml'], values: { color: 'blue' } } },
    files: CHART,
    delivered: [...DELIVERED, 'env/prod.yaml'],
  },
  'a chart with layers, namespace, labels, images and patches': {
    recipe: {
      helm: { chart: 'app', releaseName: 'shop' },
      targetNamespace: 'front-${ .Cluster.Labels.region }',
      labels: { team: 'shop' },
      patches: [{ kind: 'ConfigMap', name: 'shop', patch: { data: { extra: 'yes' } } }],
      variants: [
        { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } }, helm: { values: { who: 'prod' } } },
      ],
    },
    files: CHART,
    delivered: DELIVERED,
  },
  'a chart and a kustomization, with what that names': {
    recipe: { helm: { chart: 'app', releaseName: 'shop' }, kustomize: { dir: 'site' } },
    files: KUSTOMIZED,
    delivered: [
      ...DELIVERED,
      'more/kustomization.yaml',
      'more/sa.yaml',
      'site/data/file.txt',
      'site/kustomization.yaml',
      'site/patch.yaml',
    ],
  },
  'plain manifests beside templates': {
    recipe: { raw: { templates: 'Render' }, path: 'raw', helm: { values: { color: 'blue' } } },
    files: {
      'raw/sa.yaml': 'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: "${ .Cluster.Name }"}\n',
      'raw/templates/cm.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {v: "{{ .Values.color }}"}\n',
    },
    delivered: ['.flotilla/helm.values.yaml', 'manifests.yaml', 'templates/cm.yaml'],
  },
}

function variantOf(recipe: Partial<BundleRecipe>, files: Readonly<Record<string, string>>): Variant {
  const whole = { bundle: 'default/shop', templating: true, ...recipe }
  return renderVariant(whole, CLUSTER, { files: filesOf(files), entropy, frozen: {} })
}

for (const [name, { recipe, files, delivered }] of Object.entries(LAYOUTS)) {
  test(`${name}: the cluster makes what the hub would`, () => {
    const onHub = variantOf(recipe, files)
    const { result, reads } = variantOf({ ...recipe, at: 'Agent' }, files)
    assert.ok(result.ok === 'prepared', JSON.stringify(result))
    assert.deepEqual([...result.files.keys()].sort(), delivered)
    assert.deepEqual(Object.keys(reads), Object.keys(onHub.reads), 'clusters share it as they would share the objects')
    // As it travels.
    const recipeSent = JSON.parse(JSON.stringify(result.recipe)) as BundleRecipe
    const answer = renderInCluster(
      { recipe: recipeSent, files: result.files, frozen: {}, values: [], lookups: [], kubeVersion: 'v1.33.0' },
      { entropy },
    )
    assert.ok(
      answer.kind === 'Rendered' && answer.result.ok && onHub.result.ok === true,
      JSON.stringify([answer, onHub]),
    )
    const sorted = (objects: readonly Parameters<typeof objectIdentity>[0][]) =>
      objects.toSorted((a, b) => (objectIdentity(a) < objectIdentity(b) ? -1 : 1))
    assert.deepEqual(sorted(answer.result.objects), sorted(onHub.result.objects))
  })
}

test('content that nothing in a cluster can change is rendered on the hub, wherever it is asked for', () => {
  const raw = { 'cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n' }
  assert.equal(variantOf({ at: 'Agent' }, raw).result.ok, true)
  const kustomized = { ...raw, 'kustomization.yaml': 'resources: [cm.yaml]\n' }
  assert.equal(variantOf({ at: 'Agent' }, kustomized).result.ok, true)
})

const REFUSED: readonly [Partial<BundleRecipe>, Record<string, string>, RegExp][] = [
  [
    { helm: { chart: 'app', valuesFrom: [{ kind: 'Secret', name: 'db' }] } },
    CHART,
    /helm\.valuesFrom is read in the cluster, by its agent; set spec\.render\.at to Agent/,
  ],
  [{ at: 'Agent', helm: { chart: 'app', valuesFiles: ['none.yaml'] } }, CHART, /helm\.valuesFiles names "none\.yaml"/],
  [{ at: 'Agent', helm: { chart: 'app' } }, { ...CHART, 'app/Chart.yaml': 'name: [' }, /Chart\.yaml/],
  [
    { at: 'Agent', helm: { chart: 'app', valuesFiles: ['env/bad.yaml'] } },
    { ...CHART, 'env/bad.yaml': 'a: [' },
    /env\/bad\.yaml/,
  ],
  [
    { at: 'Agent', raw: { templates: 'Render' }, path: 'raw', allowSecrets: true },
    {
      'raw/templates/a.yaml': '',
      'raw/s.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: b}\n',
    },
    /Secret s has its content in the repository.*name it in helm\.valuesFrom/,
  ],
]

test('what is wrong with it is said on the hub', () => {
  for (const [recipe, files, words] of REFUSED) {
    const { result } = variantOf(recipe, files)
    assert.ok(result.ok === false, JSON.stringify(recipe))
    assert.match(result.problems[0]!.message, words)
  }
})

const VALUES: readonly [NonNullable<BundleRecipe['helm']>['valuesFrom'], (string | undefined)[], string | RegExp][] = [
  [[{ kind: 'ConfigMap', name: 'a' }], ['color: green'], 'green 80'],
  [
    [
      { kind: 'ConfigMap', name: 'a' },
      { kind: 'Secret', name: 'b' },
    ],
    ['color: green\nport: 1', 'port: 2'],
    'green 2',
  ],
  [[{ kind: 'Secret', name: 'a', optional: true }], [undefined], 'blue 80'],
  [[{ kind: 'Secret', name: 'a', targetPath: 'color' }], ['1.20'], '1.20 80'],
  [[{ kind: 'Secret', name: 'a', targetPath: 'color' }], ['a,b=c: {}\n'], 'a,b=c: {}\n 80'],
  [[{ kind: 'ConfigMap', name: 'a' }], ['port: null'], 'blue'],
  [
    [{ kind: 'Secret', name: 'a' }],
    ['hunter2: [hunter2'],
    /^helm\.valuesFrom: key values\.yaml of Secret a is not YAML with a map of values$/,
  ],
  [[{ kind: 'Secret', name: 'a', targetPath: 'a=b' }], ['x'], /targetPath "a=b" is no path of a value$/],
]

test('values of the cluster come over all others, in order; no sentence repeats one', () => {
  const files = {
    ...CHART,
    'app/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: {{ printf "%s %v" .Values.color (.Values.port | default "") | trimSuffix " " | quote }}}\n',
  }
  for (const [valuesFrom, values, expected] of VALUES) {
    const helm = { chart: 'app', values: { color: 'blue' }, valuesFrom }
    const { result } = variantOf({ at: 'Agent', helm }, files)
    assert.ok(result.ok === 'prepared')
    const answer = renderInCluster({ ...result, frozen: {}, values, lookups: [] }, { entropy })
    assert.ok(answer.kind === 'Rendered')
    if (answer.result.ok) assert.deepEqual(answer.result.objects[0]!['data'], { v: expected })
    else assert.match(answer.result.problems[0]!.message, expected as RegExp)
  }
})

test('a layer names values of the cluster beside those of the layers before it; named again, they keep their place', () => {
  const variants = [
    {
      name: 'all',
      helm: {
        valuesFrom: [
          { kind: 'ConfigMap' as const, name: 'b', optional: true },
          { kind: 'ConfigMap' as const, name: 'a', optional: true },
          { kind: 'Secret' as const, name: 'c-${ .Cluster.Name }' },
        ],
      },
    },
  ]
  const helm = { chart: 'app', valuesFrom: [{ kind: 'ConfigMap' as const, name: 'a' }] }
  const { result, origins } = variantOf({ at: 'Agent', helm, variants }, CHART)
  assert.ok(result.ok === 'prepared')
  assert.deepEqual(
    result.recipe.helm?.valuesFrom?.map(({ name, optional }) => [name, optional]),
    [
      ['a', true],
      ['b', true],
      ['c-store-1', undefined],
    ],
  )
  assert.ok(
    [...origins.values()].some((words) => words.startsWith('ConfigMap a, key values.yaml, read in the cluster')),
  )
})

test('options of templates count on the hub and in the cluster', () => {
  const chart = {
    'app/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 1.0.0\n',
    'app/crds/c.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-crds}\n',
    'app/values.schema.json': '{"required": ["none"]}',
    'app/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {v: "{{ .Capabilities.KubeVersion }} {{ .Capabilities.APIVersions.Has "a.io/v1" }} {{ .Release.Namespace }}"}\n',
  }
  const helm = {
    chart: 'app',
    skipCrds: true,
    skipSchemaValidation: true,
    kubeVersion: 'v1.29.0',
    apiVersions: ['a.io/v1'],
    namespace: 'seen',
  }
  const files = filesOf(chart)
  const rendered = (at: 'Hub' | 'Agent') => {
    const { result } = renderVariant({ bundle: 'x/web', at, helm }, CLUSTER, { files, entropy, frozen: {} })
    if (result.ok !== 'prepared') return result
    const answer = renderInCluster(
      { ...result, frozen: {}, values: [], lookups: [], kubeVersion: 'v1.33.0', apiVersions: ['v1'] },
      { entropy },
    )
    return answer.kind === 'Rendered' ? answer.result : answer
  }
  const told = JSON.stringify(rendered('Hub'))
  assert.match(told, /"v":"v1\.29\.0 true seen"/)
  assert.doesNotMatch(told, /from-crds/)
  const inCluster = JSON.stringify(rendered('Agent'))
  assert.match(inCluster, /v1\.29\.0 true seen/)
  assert.doesNotMatch(inCluster, /from-crds/)
})
