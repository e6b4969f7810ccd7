/** Bundles of every style for single clusters: what comes out, what was read, and what a mistake says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeProblems } from '../render-result.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderVariant } from './render-variant.ts'
import { renderVariants } from './render-variants.ts'

const ENTROPY = { randomBytes: (n: number) => new Uint8Array(n), now: () => 0, generateKey: () => '' }

const filesOf = (files: Readonly<Record<string, string>>) =>
  new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))

const cluster = (
  name: string,
  labels: Record<string, string> = {},
  more: Partial<ClusterInputs> = {},
): ClusterInputs => ({
  name,
  labels,
  annotations: {},
  claims: {},
  values: {},
  ...more,
})

const configMap = (name: string, data = 'a: b', more = '') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}data:\n  ${data}\n`

function render(recipe: Partial<BundleRecipe>, files: Readonly<Record<string, string>>, at = cluster('c1')) {
  const variant = renderVariant({ bundle: 'ns/app', ...recipe }, at, {
    files: filesOf(files),
    entropy: ENTROPY,
    frozen: {},
  })
  const { result } = variant
  return {
    ...variant,
    objects: result.ok === true ? result.objects : [],
    said: result.ok === false ? describeProblems(result.problems) : '',
  }
}

const names = (objects: readonly UnknownObject[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? '-'}/${metadata.name}`).sort()

test('a directory of manifests: what counts, what does not, and where a mistake is', () => {
  const files = {
    'app/a.yaml': configMap('a'),
    'app/sub/b.yml': configMap('b', 'a: b', '  namespace: other\n'),
    'app/c.json': JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } }),
    'app/readme.md': '# no',
    'app/.github/w.yaml': 'on: push',
    'app/chart/Chart.yaml': 'name: nested',
    'app/values.yaml': 'a: 1',
    'other/z.yaml': configMap('z'),
  }
  const { objects, reads, style } = render({ path: 'app', ignore: ['values.yaml'] }, files)
  assert.deepEqual(names(objects), ['ConfigMap default/a', 'ConfigMap other/b', 'Namespace -/x'])
  assert.deepEqual([reads, style], [{}, 'Raw'])
  assert.equal(
    render({ path: 'app' }, files).said,
    'app/values.yaml, document 1, line 1, column 1: the object has no apiVersion',
  )
  assert.equal(render({ path: 'none' }, files).said, '"none" holds no .yaml, .yml or .json file')
  assert.equal(render({ path: '../x' }, files).said, 'spec.source.path names "../x", which is outside the repository')
  assert.match(
    render({ path: 'a' }, { 'a/1.yaml': configMap('a'), 'a/2.yaml': configMap('a') }).said,
    /v1 ConfigMap default\/a is defined more than once; remove the duplicate/,
  )
})

test('namespaces, labels, images and patches', () => {
  const pod = JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'a', image: 'nginx:1' },
            { name: 'b', image: 'quay.io/x/y@sha256:1' },
          ],
        },
      },
    },
  })
  const files = { 'a/d.json': pod, 'a/cr.yaml': 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n' }
  const { objects } = render(
    {
      path: 'a',
      defaultNamespace: 'shop',
      labels: { team: 'pos' },
      images: [{ from: 'docker.io', to: 'reg.local/hub' }],
      patches: [{ kind: 'Deployment', name: 'web', patch: { spec: { replicas: 3, template: { metadata: null } } } }],
    },
    files,
  )
  assert.deepEqual(names(objects), ['Deployment shop/web', 'Thing shop/t'])
  const web = objects.find(({ kind }) => kind === 'Deployment')!
  assert.deepEqual(web.metadata.labels, { team: 'pos' })
  assert.deepEqual(web['spec'], {
    replicas: 3,
    template: {
      spec: {
        containers: [
          { name: 'a', image: 'reg.local/hub/library/nginx:1' },
          { name: 'b', image: 'quay.io/x/y@sha256:1' },
        ],
      },
    },
  })
  const forced = render(
    { path: 'a', targetNamespace: 'shop' },
    { 'a/n.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n' },
  )
  assert.match(forced.said, /^Namespace x has no namespace, and spec\.targetNamespace puts everything into shop/)
  const patch = { kind: 'Deployment', name: 'wob', patch: {} }
  assert.equal(
    render({ path: 'a', patches: [patch] }, files).said,
    'a patch is for Deployment wob, and there is no such object',
  )
})

test('variants and overrides are layers; selectors count as read', () => {
  const recipe: Partial<BundleRecipe> = {
    path: 'chart',
    helm: { values: { replicas: 1, image: { tag: 'a', repo: 'r' } }, valuesFiles: ['../values/common.yaml'] },
    variants: [
      { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } }, helm: { values: { replicas: 3 } } },
      {
        name: 'eu',
        clusterSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: ['eu'] }] },
        helm: { values: { image: { tag: 'eu' } } },
      },
      { name: 'off', clusterSelector: { matchLabels: { env: 'lab' } }, skip: true },
    ],
    overrides: [{ name: 'hot', clusters: ['c7'], helm: { values: { image: { tag: 'fix' } } } }],
  }
  const files = {
    'chart/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
    'chart/values.yaml': 'replicas: 0\ncolor: red\n',
    'chart/templates/cm.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n  namespace: {{ .Release.Namespace }}\ndata:\n  all: "{{ .Values.replicas }} {{ .Values.image.repo }}:{{ .Values.image.tag }} {{ .Values.color }} {{ .Values.common }}"\n`,
    'values/common.yaml': 'common: yes-it-is\nreplicas: 9\n',
  }
  const all = (at: ClusterInputs) => {
    const { objects, said, reads } = render(recipe, files, at)
    return [(objects[0]?.['data'] as { all: string } | undefined)?.all ?? said, reads]
  }
  assert.deepEqual(all(cluster('c1', { env: 'dev', region: 'us' }))[0], '1 r:a red yes-it-is')
  assert.deepEqual(all(cluster('c1', { env: 'prod', region: 'eu' }))[0], '3 r:eu red yes-it-is')
  assert.deepEqual(all(cluster('c7', { env: 'prod', region: 'eu' })), [
    '3 r:fix red yes-it-is',
    { 'labels.env': 'prod', 'labels.region': 'eu', name: 'c7' },
  ])
  const skipped = render(recipe, files, cluster('c1', { env: 'lab' }))
  assert.deepEqual(skipped.result, { ok: 'skip', by: 'off' })
  const origins = render(recipe, files, cluster('c7', { env: 'prod' })).origins
  assert.deepEqual(Object.fromEntries(origins), {
    replicas: 'variant prod',
    'image.tag': 'override hot',
    'image.repo': 'bundle',
  })
  const first = { ...recipe, firstVariantOnly: true }
  const { objects } = render(first, files, cluster('c1', { env: 'prod', region: 'eu' }))
  assert.equal((objects[0]!['data'] as { all: string }).all, '3 r:a red yes-it-is')
})

test('hooks of charts come with their annotations, and that tests are not run is said', () => {
  const hook = (name: string, events: string) =>
    `apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: ${name}\n  annotations: {helm.sh/hook: "${events}"}\n`
  const files = {
    'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    'c/templates/a.yaml': configMap('a'),
    'c/templates/h.yaml': hook('migrate', 'pre-install,pre-upgrade'),
    'c/templates/t.yaml': hook('smoke', 'test'),
  }
  const { objects, notes } = render({ path: 'c' }, files)
  assert.deepEqual(names(objects), ['ConfigMap default/a', 'Job default/migrate', 'Job default/smoke'])
  assert.deepEqual(objects[1]!.metadata.annotations, { 'helm.sh/hook': 'pre-install,pre-upgrade' })
  assert.deepEqual(notes, ['tests of the chart are not run: Job smoke'])
})

test('values files may be anywhere inside the repository, never outside', () => {
  const files = { 'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n' }
  const said = (file: string) => render({ path: 'c', helm: { valuesFiles: [file] } }, files).said
  assert.equal(said('../../x.yaml'), 'helm.valuesFiles names "../../x.yaml", which is outside the repository')
  assert.equal(
    said('/etc/passwd'),
    'helm.valuesFiles names "/etc/passwd", which is absolute; paths are relative, inside the repository',
  )
  assert.equal(said('../x.yaml'), 'helm.valuesFiles names "../x.yaml", and there is no such file')
})

test('templates in all styles; a missing key names itself and its file', () => {
  const text = (value: string) => configMap('a', `v: "${value}"`)
  const at = cluster('c1', { region: 'eu', 'topology.kubernetes.io/zone': 'z1' }, { values: { vat: { rate: 19 } } })
  const value = ({ objects, said }: { objects: readonly UnknownObject[]; said: string }) =>
    (objects[0]?.['data'] as { v: string } | undefined)?.v ?? said
  const raw = (expression: string) => render({ path: 'd', templating: true }, { 'd/a.yaml': text(expression) }, at)
  assert.equal(value(raw('${ .Cluster.Labels.region }-${ .Cluster.Name | upper }')), 'eu-C1')
  assert.equal(value(raw('${ index .Cluster.Labels `topology.kubernetes.io/zone` }')), 'z1')
  assert.equal(value(raw('${ .Cluster.Values.vat.rate }')), '19')
  assert.equal(value(raw('$${HOME} {{ x }}')), '${HOME} {{ x }}')
  assert.equal(
    raw('${ .Cluster.Labels.regoin }').said,
    'd/a.yaml:6:17: at <.Cluster.Labels.regoin>: map has no entry for key "regoin"',
  )
  assert.match(raw('${ index .Cluster.Labels `nope` }').said, /d\/a\.yaml:6.*map has no entry for key "nope"/)
  assert.match(raw('${ randAlpha 5 }').said, /function "randAlpha" not defined/)
  assert.match(raw('${ now }').said, /function "now" not defined/)
  assert.deepEqual(raw('${ .Cluster.Labels.region }').reads, { 'labels.region': 'eu' })
  assert.deepEqual(raw('${ len .Cluster.Labels }').reads, {
    'labels.*': '{"region":"eu","topology.kubernetes.io/zone":"z1"}',
  })
  assert.equal(
    value(render({ path: 'd' }, { 'd/a.yaml': text('${ .X }') }, at)),
    '${ .X }',
    'only where it is asked for',
  )
  const kustomize = {
    'base/k.yaml': text('${ .Cluster.Labels.region }'),
    'base/kustomization.yaml': 'resources: [k.yaml]\n',
    'k/kustomization.yaml': 'namePrefix: ${ .Cluster.Name }-\nresources: [../base]\n',
  }
  const built = render({ path: 'k', templating: true }, kustomize, at)
  assert.deepEqual([built.style, names(built.objects), value(built)], ['Kustomize', ['ConfigMap default/c1-a'], 'eu'])
  const chart = {
    'c/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    'c/templates/a.yaml': text('{{ .Values.r }}'),
  }
  const helm = render(
    { path: 'c', templating: true, helm: { values: { r: '${ .Cluster.Labels.region }' } } },
    chart,
    at,
  )
  assert.equal(value(helm), 'eu')
  const table = { 'd/a.yaml': text('${ .Inputs.store.till }'), 'tables/stores.yaml': 'c1: {till: 7}\nc2: {till: 8}\n' }
  const inputs = { store: { table: '../tables/stores.yaml', key: 'name' } }
  assert.equal(value(render({ path: 'd', templating: true, inputs }, table, at)), '7')
  assert.equal(
    render({ path: 'd', templating: true, inputs }, table, cluster('c9')).said,
    'tables/stores.yaml: input store has no row "c9"',
  )
})

test('a chart and a kustomization together: the output is the first resource', () => {
  const files = {
    'a/chart/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
    'a/chart/templates/a.yaml': configMap('from-chart'),
    'a/overlay/kustomization.yaml': 'namePrefix: p-\nresources: [more.yaml]\n',
    'a/overlay/more.yaml': configMap('more'),
  }
  const { objects, said } = render({ path: 'a', helm: { chart: 'chart' }, kustomize: { dir: 'overlay' } }, files)
  assert.equal(said, '')
  assert.deepEqual(names(objects), ['ConfigMap default/p-from-chart', 'ConfigMap default/p-more'])
  assert.equal(render({ path: 'a', helm: { chart: 'x' } }, files).said, 'spec asks for a chart, and "a/x" holds none')
})

test('Secrets with content in the repository are refused with the way out; those of charts are not', () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: x}\n'
  const said = /^Secret s has its content \(p\) in the repository.*with flotilla\.dev\/secrets: Allow$/
  assert.match(render({ path: 'd' }, { 'd/s.yaml': secret }).said, said)
  assert.deepEqual(names(render({ path: 'd', allowSecrets: true }, { 'd/s.yaml': secret }).objects), [
    'Secret default/s',
  ])
  const generated = {
    'd/kustomization.yaml': 'secretGenerator:\n- {name: s, literals: [p=x], options: {disableNameSuffixHash: true}}\n',
  }
  assert.match(render({ path: 'd' }, generated).said, said)
  const chart = { 'd/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n', 'd/templates/s.yaml': secret }
  assert.deepEqual(names(render({ path: 'd' }, chart).objects), ['Secret default/s'])
  const templates = { 'd/templates/s.yaml': secret, 'd/c.yaml': configMap('c') }
  assert.equal(render({ path: 'd', raw: { templates: 'Render' } }, templates).said, '', 'templates are a chart')
  assert.match(render({ path: 'd', raw: { templates: 'Render' } }, { ...templates, 'd/s.yaml': secret }).said, said)
  const around = { ...chart, 'd/k/kustomization.yaml': 'namePrefix: p-\nresources: []\n' }
  const both = { path: 'd', helm: { chart: '.' }, kustomize: { dir: 'k' } }
  assert.deepEqual(names(render(both, around).objects), ['Secret default/p-s'])
  const generating = {
    ...around,
    'd/k/kustomization.yaml': generated['d/kustomization.yaml'].replaceAll('name: s', 'name: g'),
  }
  for (const at of ['Hub', 'Agent'] as const)
    assert.match(render({ ...both, at }, generating).said, /^Secret g has its content \(p\) in the repository/, at)
})

test('a Secret written into spec.manifests is said to be readable there', () => {
  const secret = (value: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: ${JSON.stringify(value)}}\n`
  const notes = (recipe: Partial<BundleRecipe>) => render(recipe, {}).notes ?? []
  const inputs = { db: { value: { p: 'hunter2' } } }
  assert.deepEqual(notes({ manifests: secret('x') }), [
    'Secret s has its content (p) in spec.manifests, where every user with read access can read it; pass it from a Secret of the hub (spec.inputs), or set spec.secrets to Allow',
  ])
  assert.match(
    notes({ manifestParts: [{ file: 'f', text: secret('x') }] }).join(),
    /in the ConfigMaps of spec\.manifestsFrom/,
  )
  assert.deepEqual(notes({ manifests: secret('x'), allowSecrets: true }), [])
  assert.deepEqual(notes({ manifests: secret('${ .Inputs.db.p }'), templating: true, inputs }), [])
})

test('a Secret whose values come from inputs is not in the repository; a word of it that is, is named', () => {
  const recipe = { path: 'd', templating: true, inputs: { db: { value: { p: 'hunter2' } } } }
  const secret = (data: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n${data}\n`
  const valuesIn = (files: Readonly<Record<string, string>>) => {
    const { objects, said } = render(recipe, files)
    return said === '' ? (objects[0]?.['stringData'] ?? objects[0]?.['data']) : said.slice(0, 40)
  }
  const cases: [Readonly<Record<string, string>>, unknown][] = [
    [{ 'd/s.yaml': secret('stringData: {p: "${ .Inputs.db.p }"}') }, { p: 'hunter2' }],
    [{ 'd/s.yaml': secret('data: {p: "${ .Inputs.db.p | b64enc }"}') }, { p: 'aHVudGVyMg==' }],
    [
      { 'd/s.yaml': secret('stringData: {p: "${ .Inputs.db.p }", u: admin}') },
      'Secret s has its content (u) in the repos',
    ],
    // What is no YAML before it is expanded is looked at afterwards, and refused.
    [{ 'd/s.yaml': secret('stringData: {p: ${ .Inputs.db.p }}') }, 'Secret s has its content (p) in the repos'],
    [
      {
        'd/kustomization.yaml': 'secretGenerator:\n- {name: s, literals: ["p=${ .Inputs.db.p }"]}\n',
      },
      { p: 'aHVudGVyMg==' },
    ],
  ]
  for (const [files, expected] of cases) {
    const found = valuesIn(files)
    assert.deepEqual(found, typeof expected === 'string' ? expected.slice(0, 40) : expected, JSON.stringify(files))
  }
})

test('clusters whose read inputs are equal share one result; a mistake is its cluster’s own', () => {
  const recipe: BundleRecipe = { bundle: 'ns/app', path: 'd', templating: true }
  const files = filesOf({ 'd/a.yaml': configMap('a', 'v: "${ .Cluster.Labels.region }"') })
  const clusters = Array.from({ length: 100 }, (_, n) =>
    cluster(`c${n}`, { region: ['eu', 'us'][n % 2]!, noise: String(n) }),
  )
  const broken = cluster('broken', {})
  const { variants } = renderVariants(
    { recipe, clusters: [...clusters, broken], frozen: {} },
    { files, entropy: ENTROPY },
  )
  assert.deepEqual(
    variants.map(({ when, clusters: who, result }) => [when, who.length, result.ok]),
    [
      [{ 'labels.region': 'eu' }, 50, true],
      [{ 'labels.region': 'us' }, 50, true],
      [{ 'labels.region': null }, 1, false],
    ],
  )
})
