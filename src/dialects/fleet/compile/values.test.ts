/** Rows H, V, O and C of what Fleet was seen to do with charts and values; where Fleet is wrong, what is right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterKeys, describeKey } from '../../../render/bundle/chart/cluster-keys.ts'
import { renderInCluster } from '../../../render/bundle/render-in-cluster.ts'
import { NO_ENTROPY, readFleetTree } from '../../../testing/fixtures/rancher-fleet/repository.ts'
import type { FleetSetting } from '../../../testing/fixtures/rancher-fleet/repository.ts'

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const CHART = {
  'Chart.yaml': 'apiVersion: v2\nname: ch\nversion: 1.0.0\n',
  'values.yaml': 'from: chart\nchart: 1\nm: {chart: 1}\n',
  'templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata:\n  values: {{ .Values | toJson | quote }}\n',
}

const inDirectory = (directory: string): Record<string, string> =>
  Object.fromEntries(Object.entries(CHART).map(([path, text]) => [`${directory}/${path}`, text]))

function values(
  fleet: unknown,
  cluster = 'c1',
  setting: FleetSetting & { files?: Record<string, unknown> } = {},
): unknown {
  const read = readFleetTree({ ...CHART, 'fleet.yaml': fleet, ...setting.files }, setting)
  if (read.bundles.length === 0) return read.findings.join('; ')
  const objects = read.objects(cluster)
  if (typeof objects === 'string') return objects
  const data = objects.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>
  return JSON.parse(data['values']!)
}

const P = { clusterSelector: { matchLabels: { env: 'prod' } } }
const DEFAULTS = { from: 'chart', chart: 1, m: { chart: 1 } }

test('values, files and customizations are merged in Fleet’s order', () => {
  assert.deepEqual(values({}), DEFAULTS, 'H1')
  const files = {
    'f.yaml': { from: 'f', f: 1 },
    'g.yaml': 'from: g\nm: {g: 1}\n---\nfrom: second document\n',
    'cf.yaml': { from: 'cf', cf: 1 },
  }
  const helm = { chart: '.', values: { from: 'values', v: 1 }, valuesFiles: ['f.yaml', 'g.yaml'] }
  assert.deepEqual(values({ helm }, 'c1', { files }), { from: 'g', chart: 1, v: 1, f: 1, m: { chart: 1, g: 1 } }, 'H5')
  const targetCustomizations = [{ name: 'p', ...P, helm: { values: { from: 'cv', cv: 1 }, valuesFiles: ['cf.yaml'] } }]
  const both = { helm: { chart: '.', values: { from: 'values', v: 1 }, valuesFiles: ['f.yaml'] }, targetCustomizations }
  assert.deepEqual(values(both, 'c1', { files }), { ...DEFAULTS, from: 'cf', cf: 1, cv: 1, f: 1, v: 1 }, 'H9')
  assert.deepEqual(values(both, 'c2', { files }), { ...DEFAULTS, from: 'f', f: 1, v: 1 }, 'H9 elsewhere')
  assert.deepEqual(
    values({ helm: { valuesFiles: ['f.yaml'] } }, 'c1', { files }),
    { ...DEFAULTS, from: 'f', f: 1 },
    'H6 read all the same',
  )
  assert.deepEqual(values({ helm: { valuesFiles: ['values.yaml'] } }), DEFAULTS, 'H7 nothing is lost')
  assert.deepEqual(values({ helm: { values: { chart: null, m: null } } }), { from: 'chart' }, 'H12')
  assert.deepEqual(
    values({
      helm: { values: { m: { base: 1 } }, templateValues: { m: 't: x' } },
      targetCustomizations: [{ ...P, helm: { values: { m: { c: 1 } } } }],
    }),
    { from: 'chart', chart: 1, m: { chart: 1, t: 'x' } },
    'H9 templateValues replace whole keys',
  )
})

test('values files that cannot be taken are named', () => {
  const wrong = (name: string, content?: string): unknown =>
    values({ helm: { valuesFiles: [name] } }, 'c1', content === undefined ? {} : { files: { [name]: content } })
  assert.equal(wrong('nope.yaml'), 'fleet.yaml: helm.valuesFiles: there is no file "nope.yaml"', 'H10')
  assert.equal(wrong('l.yaml', '[1]'), 'fleet.yaml: helm.valuesFiles: l.yaml must hold a map of values', 'H10')
  assert.deepEqual(wrong('e.yaml', ''), DEFAULTS, 'H10 empty')
  assert.equal(wrong('../../x.yaml'), 'fleet.yaml: helm.valuesFiles: "../../x.yaml" is outside the repository', 'H11')
  assert.match(shown(wrong('b.yaml', 'a: [')), /^fleet\.yaml: helm\.valuesFiles: b\.yaml: line /)
})

test('charts are found where they are, and nothing beside them is deployed', () => {
  for (const chart of ['ch', './ch', '/ch']) {
    const read = readFleetTree({ ...inDirectory('ch'), 'fleet.yaml': { helm: { chart } }, 'extra.yaml': 'kind: X\n' })
    assert.equal((read.objects('c1') as unknown[]).length, 1, `H3 H4 ${chart}`)
  }
  const none = readFleetTree({ ...inDirectory('ch'), 'fleet.yaml': {} })
  assert.deepEqual(
    [none.bundles, none.findings],
    [[], ['fleet.yaml: it holds nothing to deploy, so there is no bundle for it']],
    'H2',
  )
})

test('dependencies beside a chart are packed in', () => {
  const sub = {
    'dep/Chart.yaml': 'apiVersion: v2\nname: dep\nversion: 1.0.0\n',
    'dep/templates/d.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: dep}\n',
  }
  const chart = (repository: string) =>
    `apiVersion: v2\nname: ch\nversion: 1.0.0\ndependencies:\n- {name: dep, version: 1.0.0, repository: "${repository}"}\n`
  const objects = (repository: string, more: Record<string, string> = {}) =>
    readFleetTree({
      ...sub,
      'ch/Chart.yaml': chart(repository),
      'fleet.yaml': { helm: { chart: 'ch' } },
      ...more,
    }).objects('c1')
  assert.deepEqual(
    (objects('file://../dep') as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ['dep'],
    'H22',
  )
  assert.match(shown(objects('https://x/y')), /missing in charts\/ directory: dep/)
  assert.match(shown(objects('file://../../dep')), /which is outside the directory of the bundle; put dep into charts/)
  assert.match(shown(objects('file://../ch')), /depend on one another more than 8 deep/)
})

test('charts from elsewhere become Sources whose files are included', () => {
  const repo = 'https://charts.example.com'
  const read = readFleetTree({
    'fleet.yaml': {
      helm: { repo, chart: 'ch', version: '1.0.0' },
      targetCustomizationMode: 'AllMatches',
      targetCustomizations: [
        { name: 'p', clusterSelector: {}, helm: { version: '2.0.0' } },
        { name: 'q', clusterSelector: {}, helm: { values: { x: 1 } } },
      ],
    },
  })
  const { charts, spec } = read.bundle()
  assert.deepEqual(
    charts.map((one) => one.spec.helm),
    [
      { url: repo, chart: 'ch', version: '1.0.0' },
      { url: repo, chart: 'ch', version: '2.0.0' },
    ],
  )
  assert.deepEqual(
    spec.source?.include?.map(({ at }) => at),
    charts.map(({ at }) => at),
  )
  assert.equal(spec.helm?.chart, charts[0]!.at)
  assert.deepEqual(
    spec.variants?.map(({ helm }) => helm?.chart),
    [charts[1]!.at, undefined],
    'O22 as it should be',
  )
  const oci = readFleetTree({ 'fleet.yaml': { helm: { repo: 'oci://ghcr.io/x/ch', version: '^1' } } }).bundle().charts
  assert.deepEqual(
    oci.map((one) => one.spec.oci),
    [{ url: 'oci://ghcr.io/x/ch', semver: '^1' }],
  )
  assert.deepEqual(
    readFleetTree({ 'fleet.yaml': { helm: { repo } } }).findings,
    ['fleet.yaml: helm.repo needs helm.chart: which chart of the repository'],
    'H21',
  )
})

test('charts by their address: archives and directories of other repositories', () => {
  const commit = '0123456789012345678901234567890123456789'
  const table: [string, unknown, string][] = [
    ['https://x/y/ch-1.0.0.tgz', { helm: { url: 'https://x/y/ch-1.0.0.tgz' } }, ''],
    ['https://x/ch.tgz?a=b', { helm: { url: 'https://x/ch.tgz?a=b' } }, ''],
    ['git::https://x/y.git', { git: { url: 'https://x/y.git' } }, ''],
    [
      'git::https://x/y.git//a/./b?ref=main',
      { git: { url: 'https://x/y.git', ref: { branch: 'main' } }, paths: ['a/b'] },
      '/a/b',
    ],
    ['git::https://x/y//a?ref=v1.2&depth=1', { git: { url: 'https://x/y', ref: { tag: 'v1.2' } }, paths: ['a'] }, '/a'],
    ['git::ssh://git@x:22/y//a', { git: { url: 'ssh://git@x:22/y' }, paths: ['a'] }, '/a'],
    [`git@x:y/z.git//a?ref=${commit}`, { git: { url: 'git@x:y/z.git', ref: { commit } }, paths: ['a'] }, '/a'],
    ['github.com/o/r', { git: { url: 'https://github.com/o/r.git' } }, ''],
    [
      'github.com/o/r/charts/a?ref=1.0',
      { git: { url: 'https://github.com/o/r.git', ref: { tag: '1.0' } }, paths: ['charts/a'] },
      '/charts/a',
    ],
    [
      'gitlab.com/o/r.git//a?ref=x',
      { git: { url: 'https://gitlab.com/o/r.git', ref: { branch: 'x' } }, paths: ['a'] },
      '/a',
    ],
  ]
  for (const [chart, source, directory] of table) {
    const { charts, spec } = readFleetTree({ 'fleet.yaml': { helm: { chart } } }).bundle()
    assert.deepEqual(
      charts.map((one) => one.spec),
      [source],
      chart,
    )
    assert.equal(spec.helm?.chart, `${charts[0]!.at}${directory}`, chart)
  }
  const said = (chart: string) => readFleetTree({ 'fleet.yaml': { helm: { chart } }, 'cm.yaml': 'kind: X\n' }).findings
  assert.match(
    said('s3::https://x/y').join(),
    /^fleet\.yaml: helm\.chart "s3::https:\/\/x\/y" cannot be fetched; use https/,
  )
  assert.match(said('ftp://x/y.tgz').join(), /"ftp:\/\/x\/y\.tgz" cannot be fetched/)
  assert.match(said('git::https://x/y//../../a').join(), /leaves its repository/)
  assert.match(said('git::https://x/y?sshkey=a').join(), /sshkey has no meaning here; only ref has/)
  assert.equal(said('ftp://x/y.tgz').length, 1, 'the mistake is said once')
})

const LABELS = {
  env: 'prod',
  ver: '1.20',
  num: '3',
  bool: 'true',
  yes: 'yes',
  oct: '010',
  sci: '1e3',
  empty: '',
  'my-label': 'm',
}

function expanded(value: unknown, extra: Record<string, string> = {}, inputs: FleetSetting['inputs'] = {}): unknown {
  const result = values({ helm: { values: { v: value } } }, 'c1', { clusters: { c1: { ...LABELS, ...extra } }, inputs })
  return typeof result === 'string' ? result : (result as { v: unknown }).v
}

test('templates in values: what Fleet answers, type by type', () => {
  const label = (name: string): string => `\${ .ClusterLabels.${name} }`
  const table: [string, unknown, unknown][] = [
    ['V1', '${ .ClusterName }', 'c1'],
    ['V1', '${ .ClusterNamespace }', 'fleet-default'],
    ['V1', 'x-${ .ClusterLabels.env }-z', 'x-prod-z'],
    ['V2', label('ver'), 1.2],
    ['V2', label('num'), 3],
    ['V2', label('bool'), true],
    ['V2', label('yes'), true],
    ['V2', label('oct'), 8],
    ['V2', label('sci'), 1000],
    ['V3', '${ .ClusterLabels.ver | quote }', '1.20'],
    ['V3', 'v${ .ClusterLabels.ver }', 'v1.20'],
    ['V4', 'global.fleet.clusterLabels.ver', '1.20'],
    ['V4', 'global.fleet.clusterLabels.nope', ''],
    ['V5', ['global.fleet.clusterLabels.env'], ['global.fleet.clusterLabels.env']],
    ['V5', [{ a: 'global.fleet.clusterLabels.env' }], [{ a: 'prod' }]],
    ['V6', 'pre-global.fleet.clusterLabels.env', 'pre-global.fleet.clusterLabels.env'],
    ['V10', '${ get .ClusterLabels "nope" | default "d" }', 'd'],
    ['V15', '${ "${HOME}" }', '${HOME}'],
    ['V16', '{{ .Values.x }}', '{{ .Values.x }}'],
    ['V18', '${ list 1 2 | toJson }', [1, 2]],
  ]
  for (const [row, value, result] of table) assert.deepEqual(expanded(value), result, `${row} ${JSON.stringify(value)}`)
  assert.match(shown(expanded('${ .ClusterLabels.nope }')), /map has no entry for key "nope"/, 'V9')
  assert.match(
    shown(expanded('${ index .ClusterLabels "nope" }')),
    /map has no entry for key "nope"/,
    'V9 said instead of <no value>',
  )
  assert.match(shown(expanded('echo ${HOME}')), /function "HOME" not defined/, 'V15')
  assert.match(
    shown(expanded('${ randAlphaNum 5 }')),
    /function "randAlphaNum" not defined/,
    'V21 the same content each time',
  )
  assert.equal(
    expanded('${ keys .ClusterLabels | sortAlpha | join "," }', {
      'other.cattle.io/x': '1',
      'kubectl.kubernetes.io/z': '1',
      'fleet.cattle.io/foo': '1',
    }),
    'bool,empty,env,fleet.cattle.io/foo,my-label,num,oct,sci,ver,yes',
    'V11',
  )
  const inputs = { values: { region: { name: 'eu' }, n: 5, list: [1] } }
  assert.equal(expanded('${ .ClusterValues.region.name }', {}, inputs), 'eu', 'V13')
  assert.deepEqual(expanded('${ .ClusterValues.list | toJson }', {}, inputs), [1], 'V13')
  assert.match(shown(expanded('${ .ClusterValues.nope }', {}, inputs)), /no entry for key "nope"/, 'V13')
})

test('values may be deep, and not without end', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 'global.fleet.clusterLabels.env' : { a: nested(depth - 1) })
  assert.match(shown(expanded(nested(45))), /"a":"prod"/)
  assert.match(shown(expanded(nested(60))), /helm\.values are more than 50 maps deep/, 'V7')
})

test('templateValues, and templates switched off', () => {
  const templateValues = { a: 'x: ${ .ClusterName }', l: '${ range list 1 2 }\n- ${ . }${ end }', n: '1.20', e: '' }
  const result = values({ helm: { templateValues } }) as Record<string, unknown>
  assert.deepEqual([result['a'], result['n']], [{ x: 'c1' }, 1.2], 'V22')
  const off = {
    helm: {
      disablePreProcess: true,
      values: { a: '${ x }', b: 'global.fleet.clusterLabels.env' },
      templateValues: { t: 'k: v' },
    },
  }
  assert.deepEqual(values(off), { ...DEFAULTS, a: '${ x }', b: 'prod', t: { k: 'v' } }, 'V24, with templateValues')
  const some = {
    helm: { values: { a: '${ .ClusterName }' } },
    targetCustomizations: [{ ...P, helm: { disablePreProcess: true } }],
  }
  assert.deepEqual((values(some, 'c1') as { a: string }).a, '${ .ClusterName }', 'V28')
  assert.deepEqual((values(some, 'c2') as { a: string }).a, 'c2', 'V28')
  assert.deepEqual((values(some, 'c4') as { a: string }).a, 'c4', 'V25: a cluster without labels, too')
  const bad = readFleetTree({ ...CHART, 'fleet.yaml': { helm: { values: { a: '${ .ClusterLabels.region }' } } } })
  assert.equal(typeof bad.objects('c1'), 'object')
  assert.match(shown(bad.objects('c4')), /no entry for key "region"/, 'V20: that cluster alone')
})

test('which customization applies', () => {
  const custom = (targetCustomizations: unknown[], mode?: string): unknown => ({
    targetCustomizations,
    ...(mode ? { targetCustomizationMode: mode } : {}),
  })
  const namespace = (fleet: unknown, cluster: string): unknown => {
    const read = readFleetTree({
      'cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n',
      'fleet.yaml': fleet,
    })
    const objects = read.objects(cluster)
    return typeof objects === 'string' ? objects : objects[0]!.metadata.namespace
  }
  const all = { clusterSelector: {} }
  const first = custom([
    { ...P, namespace: 'n1', defaultNamespace: 'd1' },
    { clusterName: 'c1', namespace: 'n2' },
  ])
  assert.deepEqual(
    ['c1', 'c3', 'c2'].map((name) => namespace(first, name)),
    ['n1', 'n1', 'default'],
    'C2',
  )
  const every = custom(
    [
      { ...P, namespace: 'n1' },
      { clusterName: 'c1', namespace: 'n2' },
    ],
    'AllMatches',
  )
  assert.deepEqual(
    ['c1', 'c3'].map((name) => namespace(every, name)),
    ['n2', 'n1'],
    'C3',
  )
  const skip = { name: 'not', clusterName: 'c1', doNotDeploy: true }
  assert.equal(namespace(custom([skip, { ...all, namespace: 'n' }]), 'c1'), 'skipped by not', 'C4')
  assert.equal(namespace(custom([{ ...all, namespace: 'n' }, skip]), 'c1'), 'n', 'C5')
  assert.equal(namespace(custom([{ ...all, namespace: 'n' }, skip], 'AllMatches'), 'c1'), 'skipped by not', 'C5')
  assert.equal(namespace(custom([skip, { ...all, doNotDeploy: false }], 'AllMatches'), 'c1'), 'skipped by not', 'C6')
  assert.equal(namespace(custom([{ name: 'x', namespace: 'n' }]), 'c1'), 'default', 'C7')
  const leak = {
    helm: { values: { base: 1 } },
    targetCustomizations: [{ name: 'prod', clusterName: 'c2', helm: { values: { leak: 1 } } }],
  }
  const spec = { targets: [{ name: 'prod', clusterSelector: {} }] }
  assert.deepEqual(values(leak, 'c1', { spec }), { ...DEFAULTS, base: 1 }, 'C10: not by its name')
  assert.deepEqual(values(leak, 'c2', { spec }), { ...DEFAULTS, base: 1, leak: 1 }, 'C10')
  const same = [
    { name: 'a', clusterName: 'c1', helm: { values: { a: 1 } } },
    { name: 'a', clusterName: 'c2', helm: { values: { a: 2 } } },
  ]
  assert.deepEqual(
    ['c1', 'c2'].map((name) => (values(custom(same), name) as { a: number }).a),
    [1, 2],
    'C11: each its own',
  )
})

test('options over options', () => {
  const merged = (base: unknown, over: unknown): unknown =>
    values({ helm: { values: base }, targetCustomizations: [{ ...P, helm: { values: over } }] })
  assert.deepEqual(
    merged({ a: { b: 1, c: 2 }, l: [1, 2] }, { a: { c: 3 }, l: [9] }),
    { ...DEFAULTS, a: { b: 1, c: 3 }, l: [9] },
    'O8',
  )
  assert.deepEqual(merged({ b: { c: 1 } }, { b: {} }), { ...DEFAULTS, b: { c: 1 } }, 'O10')
  assert.deepEqual(merged({ a: 1, b: { c: 1 } }, { a: { z: 1 }, b: 2 }), { ...DEFAULTS, a: { z: 1 }, b: 2 }, 'O10')
  const read = readFleetTree({
    ...CHART,
    'fleet.yaml': { namespace: 'b', targetCustomizations: [{ ...P, defaultNamespace: 'x', namespace: '' }] },
  })
  assert.equal((read.objects('c1') as { metadata: { namespace?: string } }[])[0]!.metadata.namespace, 'b', 'O1 O2')
  const forced = readFleetTree(
    { ...CHART, 'fleet.yaml': { namespace: 'nn', targetCustomizations: [{ ...P, namespace: 'xx' }] } },
    { spec: { targets: [{ clusterSelector: {} }], targetNamespace: 'tn' } },
  )
  assert.equal((forced.objects('c1') as { metadata: { namespace?: string } }[])[0]!.metadata.namespace, 'tn', 'F25')
})

test('values of the cluster: over all others, in order; a customization adds to them', () => {
  const cm = (name: string, key?: string) => ({ configMapKeyRef: { name, ...(key === undefined ? {} : { key }) } })
  const secret = (name: string, key: string) => ({ secretKeyRef: { name, key, namespace: 'vault' } })
  const helm = { values: { from: 'values', m: { v: 1 } }, valuesFrom: [cm('a', 'k'), cm('b', 'k')] }
  const over = { ...P, helm: { valuesFrom: [cm('b', 'k'), cm('a', 'k2'), secret('a', 'k')] } }
  const read = readFleetTree({
    ...CHART,
    'fleet.yaml': { defaultNamespace: 'shop', helm, targetCustomizations: [over] },
  })
  assert.deepEqual(read.bundles[0]!.spec.render, { at: 'Agent' })
  const { result } = read.variant('c1')
  assert.ok(result.ok === 'prepared', JSON.stringify(result))
  assert.deepEqual(
    clusterKeys(result.recipe).map(describeKey),
    ['k of ConfigMap shop/a', 'k of ConfigMap shop/b', 'k2 of ConfigMap shop/a', 'k of Secret vault/a'].map(
      (text) => `key ${text}`,
    ),
    'O12',
  )
  const texts = ['from: a\nm: {a: 1}', 'from: b', 'x: ${ .ClusterName }', 'chart: null\nl: [1]']
  const answer = renderInCluster({ ...result, frozen: {}, values: texts, lookups: [] }, { entropy: NO_ENTROPY })
  assert.ok(answer.kind === 'Rendered' && answer.result.ok)
  const data = answer.result.objects[0]!['data'] as Record<string, string>
  const made = { from: 'b', m: { chart: 1, v: 1, a: 1 }, x: '${ .ClusterName }', l: [1] }
  assert.deepEqual(JSON.parse(data['values']!), made, 'H23 H25')
  assert.equal(
    values({ helm: { valuesFrom: [{ secretKeyRef: {} }] } }),
    'fleet.yaml: helm.valuesFrom: a Secret needs a name',
  )
})
