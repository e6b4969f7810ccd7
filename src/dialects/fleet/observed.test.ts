/**
 * Every observation of what Fleet does: the same here (a check below, or a test that names the row), or different for a
 * cause that docs/dialects/fleet.md states.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { NO_ENTROPY, readFleetTree } from '../../testing/fixtures/rancher-fleet/repository.ts'
import type { FleetSetting } from '../../testing/fixtures/rancher-fleet/repository.ts'
import { applyDirectories } from './offline/apply-directories.ts'
import { sourceOf } from './compile/desired-objects.ts'
import { readGitRepoSpec } from './compile/read-git-repo.ts'
import { ringsOf } from './compile/rollout.ts'
import { clusterKeys, describeKey } from '../../render/bundle/chart/cluster-keys.ts'
import { renderInCluster } from '../../render/bundle/render-in-cluster.ts'
import { concurrencyOf } from '../../plan/rollout/concurrency.ts'
import type { RingSpec } from '../../plan/rollout/rings.ts'
import { chooseCommit } from '../../source/git/choose-commit.ts'
import { chooseVersion, readIndex } from '../../source/helm/helm-index.ts'
import { readFleetYaml } from './files/fleet-yaml.ts'
import { bundleName, helmReleaseName, safeConcatName } from './files/names.ts'
import type { Finding } from '../read-fields.ts'
import { CAUSES, FAMILIES, LISTED, NAMED } from '../../testing/fixtures/rancher-fleet/observed-rows.ts'
import { addSummaries, fleetState, summaryOf, summaryText, worstOf } from './status/states.ts'

const CM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\ndata: {k: v}\n'
const a = (count: number): string => 'a'.repeat(count)
const CHART = {
  'Chart.yaml': 'apiVersion: v2\nname: ch\nversion: 1.0.0\n',
  'values.yaml': 'from: chart\nchart: 1\nm: {chart: 1}\n',
  'templates/v.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\ndata: {v: {{ omit .Values "global" | toJson | quote }}, r: {{ .Release.Name | quote }}, ns: {{ .Release.Namespace }}}\n',
}

/** The values that the chart prints on a cluster. */
function values(
  fleet: unknown,
  cluster = 'c1',
  more: Record<string, unknown> = {},
  setting: FleetSetting = {},
): unknown {
  const objects = readFleetTree({ ...CHART, 'fleet.yaml': fleet, ...more }, setting).objects(cluster)
  if (!Array.isArray(objects)) return objects
  return JSON.parse((objects[0] as unknown as { data: { v: string } }).data.v) as unknown
}

const names = (tree: Record<string, unknown>, setting: FleetSetting = {}): string[] =>
  readFleetTree(tree, setting).bundles.map(({ name }) => name)
const said = (tree: Record<string, unknown>, setting: FleetSetting = {}): string =>
  readFleetTree(tree, setting).findings.join('; ')
const yaml = (text: string) => readFleetYaml(text, 'fleet.yaml', [])
const wrong = (text: string): string => {
  const findings: Finding[] = []
  readFleetYaml(text, 'fleet.yaml', findings)
  return findings.map(({ message }) => message).join('; ')
}
const applied = (tree: Record<string, string>, more: object = {}) =>
  applyDirectories({
    name: 'repo',
    namespace: 'ws',
    paths: ['.'],
    files: new Map(Object.entries(tree).map(([path, text]) => [path, Buffer.from(text)])),
    ...more,
  })
const onPaths = (...paths: string[]): FleetSetting => ({ spec: { paths, targets: [{ clusterSelector: {} }] } })
const WITH_A = { 'a/fleet.yaml': '{}', 'a/cm.yaml': CM }
const counts = { total: 0, ready: 0, progressing: 0, pending: 0, failed: 0, offline: 0 }
const WORKSPACE = { groups: [], aliases: () => [] }
const repo = (spec: object) => {
  const { object } = sourceOf({ metadata: { name: 'r', namespace: 'ws' }, spec: { repo: 'u', ...spec } } as never)
  return (object.spec as { git: { ref: object } }).git.ref
}
const state = (...facts: Parameters<typeof fleetState>) => fleetState(...facts)

const namesOn = (tree: Record<string, unknown>, cluster = 'c1'): string[] =>
  (readFleetTree(tree).objects(cluster) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name).sort()
const valuesFrom = (entries: object[]) =>
  readFleetTree({ ...CHART, 'fleet.yaml': { defaultNamespace: 'rel', helm: { valuesFrom: entries } } }).variant('c1')
/** The keys that an agent reads in its cluster, the last one counts most. */
function keysOf(entries: object[]): string[] {
  const { result } = valuesFrom(entries)
  assert.ok(result.ok === 'prepared')
  return clusterKeys(result.recipe).map(describeKey)
}
/** The rings of a strategy for so many clusters, or what is wrong with the strategy. */
function ringsIn(rolloutStrategy: object, count = 10): readonly (RingSpec | string)[] {
  const clusters = Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, {}]))
  const read = readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': { rolloutStrategy } }, { clusters })
  return read.bundles.length === 0 ? read.findings : read.bundle().plan.spec.rings
}
/** The number of clusters that change at once, or what is wrong. */
function limit(count: number, maxUnavailable?: number | string): number | string {
  const [ring] = ringsIn({ autoPartitionThreshold: 0, ...(maxUnavailable !== undefined && { maxUnavailable }) }, count)
  return typeof ring === 'object' ? concurrencyOf(ring.concurrency, count) : ring!
}

/** Rows whose result is the same, checked here. */
const SAME: Readonly<Record<string, () => void>> = {
  N1: () => assert.deepEqual([bundleName('repo', '.'), bundleName('repo', 'apps/web')], ['repo', 'repo-apps-web']),
  N2: () =>
    assert.deepEqual(
      ['./a', '/a/', 'a/../b'].map((path) => bundleName('repo', path)),
      ['repo-a', 'repo-a', 'repo-b'],
    ),
  N5: () => assert.equal(bundleName('repo', 'Apps/Web'), 'repo-apps-web-7de91329'),
  N6: () =>
    assert.deepEqual(
      ['apps_web', 'a b'].map((path) => bundleName('repo', path)),
      ['repo-apps-web-0765c440', 'repo-a-b-658bda9e'],
    ),
  N7: () =>
    assert.deepEqual(
      ['a--b', '-a-'].map((path) => bundleName('repo', path)),
      ['repo-a-b', 'repo-a'],
    ),
  N8: () => assert.deepEqual(['___', '.'].map(helmReleaseName), ['948a13f1', '5058f1af']),
  N9: () =>
    assert.deepEqual(['---', ''].map(helmReleaseName), ['9efc314b65237d5d646e1b81', 'd41d8cd98f00b204e9800998']),
  N10: () => assert.deepEqual([a(53), a(54)].map(helmReleaseName), [a(53), `${a(47)}-eced9`]),
  N11: () => assert.equal(helmReleaseName(`${a(46)}-bbbbbbb`), `${a(46)}-c57e5`),
  N12: () =>
    assert.equal(
      bundleName('repo', 'This_Is/a/Very.Long/path/that/needs/more/than/fifty-three/characters'),
      'repo-this-is-a-very-long-path-that-needs-more-t-007e7',
    ),
  N13: () =>
    assert.match(
      bundleName('my-gitrepo', 'clusters/production/europe/west/applications/monitoring/prometheus'),
      /appl-ac4e6$/,
    ),
  N14: () => assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': 'name: My_Bundle' }), /"My_Bundle": .*lower/),
  N16: () => assert.equal(helmReleaseName('b'.repeat(63)), `${'b'.repeat(47)}-2270d`),
  N19: () => {
    assert.deepEqual([safeConcatName('a', 'b'), safeConcatName(a(63))], ['a-b', a(63)])
    assert.match(safeConcatName(a(64)), /^a{57}-[0-9a-f]{5}$/)
  },
  S12: () => {
    const [first] = readFleetTree({ 'a/fleet.yml': '{}', 'a/fleet.yaml.txt': '' }).bundles
    assert.equal(first, undefined, 'nothing is deployed')
  },
  S17: () => assert.deepEqual(names({ '.git/fleet.yaml': '{}', '.git/cm.yaml': CM, ...WITH_A }), ['repo-a']),
  S18: () =>
    assert.deepEqual(
      names(
        {
          'a1/fleet.yaml': '{}',
          'a1/cm.yaml': CM,
          'a2/fleet.yaml': '{}',
          'a2/cm.yaml': CM,
          'b/fleet.yaml': '{}',
          'b/cm.yaml': CM,
        },
        onPaths('a*'),
      ),
      ['repo-a1', 'repo-a2'],
    ),
  S20: () => assert.deepEqual(names(WITH_A, onPaths('nope', 'a')), ['repo-a']),
  S23: () => assert.match(said(WITH_A, onPaths('[a')), /glob|pattern|\[a/),
  S28: () => {
    const [plain] = applied({ 'cm.yaml': CM }).bundles
    assert.equal((plain!.spec['resources'] as { encoding?: string }[])[0]?.encoding, undefined)
    const [large] = applied({ 'cm.yaml': `${CM}# ${a(1_000_000)}\n` }).bundles
    assert.equal((large!.spec['resources'] as { encoding?: string }[])[0]?.encoding, 'base64+gz')
  },
  S29: () => {
    const files = new Map([
      ['cm.yaml', Buffer.from(CM)],
      ['x.bin', Buffer.from([0xff, 0xfe])],
    ])
    const [bundle] = applied({}, { files }).bundles
    assert.deepEqual(
      (bundle!.spec['resources'] as { encoding?: string }[]).map(({ encoding }) => encoding),
      [undefined, 'base64+gz'],
    )
  },
  B4: () => {
    for (const [base, options] of [['a', 'no.yaml'], ['nope'], ['*'], ['/a']])
      assert.match(
        said(WITH_A, { spec: { bundles: [{ base: base!, ...(options && { options }) }], targets: [] } }),
        /spec\.bundles/,
      )
  },
  B7: () =>
    assert.deepEqual(
      names(
        { ...WITH_A, 'b/fleet.yaml': '{}', 'b/cm.yaml': CM },
        { spec: { paths: ['b'], bundles: [{ base: 'a' }], targets: [] } },
      ),
      ['repo-a'],
    ),
  F7: () => {
    const read = yaml('helm: {values: {on: 1, y: 2, no: 3, a: yes, b: 010, c: 1_000, e: 2024-01-01, f: 0x1f, h: 1e3}}')
    assert.deepEqual(read?.helm?.values, { true: 2, false: 3, a: true, b: 8, c: 1000, e: '2024-01-01', f: 31, h: 1000 })
  },
  T2: () => {
    const [bundle] = applied(
      { 'cm.yaml': CM, 'fleet.yaml': 'targetCustomizations: [{clusterName: a}, {name: n2, clusterName: b}]' },
      { targets: [{ name: 'gt', clusterSelector: {} }] },
    ).bundles
    assert.deepEqual(
      (bundle!.spec['targets'] as { name: string }[]).map(({ name }) => name),
      ['target000', 'n2', 'gt'],
    )
    assert.deepEqual(
      (bundle!.spec['targetRestrictions'] as { name: string }[]).map(({ name }) => name),
      ['gt'],
    )
  },
  T3: () =>
    assert.deepEqual(
      yaml('targets: [{clusterName: t1}]\ntargetCustomizations: [{clusterName: c1}]')?.customizations.map(
        ({ name }) => name,
      ),
      ['target000', 'target001'],
    ),
  T6: () =>
    assert.match(
      wrong('overrideTargets: [{clusterName: o, namespace: x, doNotDeploy: true}]'),
      /no field of Fleet and has no effect/,
    ),
  M4: () =>
    assert.match(
      wrong('targetCustomizations: [{clusterSelector: {matchExpressions: [{key: a, operator: Foo}]}}]'),
      /"Foo" is not a valid label selector operator/,
    ),
  M14: () => {
    const spec = { targets: [{ clusterName: 'c1' }, { clusterName: 'c2' }] }
    assert.equal(readFleetTree({ 'cm.yaml': CM }, { spec }).bundle().reach, 2)
  },
  O3: () => {
    const custom = [{ clusterName: 'c1', helm: { version: '2.0.0' } }]
    const { charts } = readFleetTree({
      'fleet.yaml': {
        helm: { repo: 'https://x.example.com', chart: 'c', version: '1.0.0' },
        targetCustomizations: custom,
      },
    }).bundle()
    assert.deepEqual(
      charts.map(({ spec }) => spec.helm?.version),
      ['1.0.0', '2.0.0'],
    )
  },
  O9: () => {
    const read = values({
      helm: { values: { a: { b: 1 }, x: 1 } },
      targetCustomizations: [{ clusterName: 'c1', helm: { values: { a: null, x: null } } }],
    })
    assert.deepEqual(read, { from: 'chart', chart: 1, m: { chart: 1 }, a: null, x: null })
  },
  O11: () =>
    assert.deepEqual(
      values({
        helm: { templateValues: { a: '1', b: 'x: 1' } },
        targetCustomizations: [{ clusterName: 'c1', helm: { templateValues: { b: 'z: 2', c: '3' } } }],
      }),
      { from: 'chart', chart: 1, m: { chart: 1 }, a: 1, b: { z: 2 }, c: 3 },
    ),
  H8: () =>
    assert.deepEqual(
      values(
        { targetCustomizations: [{ clusterName: 'c1', helm: { values: { from: 'cv' }, valuesFiles: ['f.yaml'] } }] },
        'c1',
        { 'f.yaml': 'from: f\n' },
      ),
      { from: 'f', chart: 1, m: { chart: 1 } },
    ),
  H21: () =>
    assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': { helm: { repo: 'https://x.example.com' } } }), /helm\.chart/),
  V8: () => assert.equal(typeof values({ helm: { values: { x: '${ .ClusterLabels.my-label }' } } }), 'string'),
  V17: () =>
    assert.deepEqual(
      (values({ helm: { values: { '${ .ClusterName }-k': 1 } } }) as Record<string, unknown>)['c1-k'],
      1,
    ),
  V23: () => assert.equal(typeof values({ helm: { templateValues: { x: 'a: [' } } }), 'string'),
  V27: () =>
    assert.deepEqual(
      (
        values({ helm: { chart: '.', valuesFiles: ['f.yaml'] } }, 'c1', { 'f.yaml': 'x: "${ .ClusterName }"\n' }) as {
          x: string
        }
      ).x,
      'c1',
    ),
  F13: () => assert.match(wrong('dependsOn: [{}]'), /must have a name or a selector/),
  F14: () =>
    assert.match(
      wrong('dependsOn: [{name: a, acceptedStates: [ready]}]'),
      /"ready" is no state; use Ready, NotReady, Pending/,
    ),
  F17: () => assert.match(wrong('targetCustomizationMode: Bogus'), /must be FirstMatch or AllMatches/),
  C1: () => {
    const spec = { targets: [{ clusterSelector: { matchLabels: { env: 'prod' } } }] }
    const tree = { 'cm.yaml': CM, 'fleet.yaml': { targetCustomizations: [{ clusterName: 'c2' }] } }
    assert.equal(readFleetTree(tree, { spec }).bundle().reach, 2)
  },
  O4: () => {
    const custom = [{ clusterName: 'c1', keepResources: false, helm: { force: false, takeOwnership: false } }]
    const base = { keepResources: true, helm: { force: true, takeOwnership: true }, targetCustomizations: custom }
    const { spec } = readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': base }).bundle()
    const options = spec.variants?.[0]?.options
    assert.deepEqual(options?.delete, { unplaced: 'Orphan', bundleDeleted: 'Orphan' })
    assert.deepEqual([spec.apply?.immutable, spec.apply?.takeover], ['Recreate', 'Always'])
  },
  O15: () => {
    const tree = {
      'base/kustomization.yaml': 'resources: [cm.yaml]\nnamePrefix: b-\n',
      'base/cm.yaml': CM,
      'prod/kustomization.yaml': 'resources: [../base]\nnamePrefix: p-\n',
      'fleet.yaml': {
        kustomize: { dir: 'base' },
        targetCustomizations: [{ clusterName: 'c1', kustomize: { dir: 'prod' } }],
      },
    }
    const on = (cluster: string) =>
      (readFleetTree(tree).objects(cluster) as { metadata: { name: string } }[])[0]?.metadata.name
    assert.deepEqual([on('c1'), on('c2')], ['p-b-cm', 'b-cm'])
  },
  V14: () => {
    for (const call of ['env "HOME"', 'getHostByName "x"', '.Foo'])
      assert.equal(typeof values({ helm: { values: { x: `\${ ${call} }` } } }), 'string', call)
    assert.equal((values({ helm: { values: { x: '${ list 1 | toJson }' } } }) as { x: unknown[] }).x.length, 1)
  },
  Z10: () => {
    assert.equal(worstOf(summaryOf({ ...counts })), 'Ready')
    assert.equal(summaryText(summaryOf({ ...counts })), '')
  },
  R11: () => assert.equal(ringsOf({ autoPartitionThreshold: 0 }, 500, WORKSPACE).rings.length, 1),
  Z1: () => assert.deepEqual([state('Progressing'), state('Failed')], ['WaitApplied', 'ErrApplied']),
  Z2: () => assert.equal(state('Progressing', { generation: 2, target: 2 }), 'NotReady'),
  Z3: () => assert.equal(state('Drifted', { generation: 2, target: 2 }), 'Modified'),
  Z4: () => assert.equal(state('Ready', { generation: 1, target: 2, waitsFor: 'ring' }), 'OutOfSync'),
  Z6: () => assert.equal(state('Ready', { generation: 2, target: 2 }), 'Ready'),
  Z9: () => {
    const of = (more: object) => worstOf(summaryOf({ ...counts, total: 4, ...more }))
    assert.deepEqual(
      [
        of({ progressing: 1, pending: 1 }),
        of({ ready: 1, states: { Drifted: 1 }, pending: 1 }),
        of({ offline: 1, failed: 1 }),
      ],
      ['Pending', 'Modified', 'ErrApplied'],
    )
  },
  Z12: () =>
    assert.equal(
      summaryText(addSummaries([summaryOf({ ...counts, total: 3, progressing: 2, failed: 1 })]), {
        ErrApplied: 'Cluster c2: no such image',
        NotReady: 'Cluster c1',
      }),
      'ErrApplied(1) [Cluster c2: no such image]; NotReady(2) [Cluster c1]',
    ),
  G1: () => assert.deepEqual(repo({}), { branch: 'master' }),
  G3: () => assert.deepEqual([repo({ revision: 'v1' }), repo({ revision: a(40) })], [{ tag: 'v1' }, { commit: a(40) }]),
  N20: () => {
    for (const name of ['BAD_Name', a(54)])
      for (const fleet of [
        { helm: { releaseName: name } },
        { targetCustomizations: [{ clusterName: 'c1', helm: { releaseName: name } }] },
      ])
        assert.match(said({ ...CHART, 'fleet.yaml': fleet }), /helm\.releaseName ".*" must have at most 53 lower case/)
    assert.equal(said({ ...CHART, 'fleet.yaml': { helm: { releaseName: 'a.b' } } }), '')
  },
  N21: () =>
    assert.match(said({ ...CHART, 'fleet.yaml': { helm: { releaseName: '${ .ClusterName }' } } }), /helm\.releaseName/),
  O13: () =>
    assert.deepEqual(
      keysOf([{ configMapKeyRef: { name: 'a' } }, { configMapKeyRef: { name: 'a', key: 'values.yaml' } }]),
      ['key values.yaml of ConfigMap rel/a', 'key values.yaml of ConfigMap rel/a'],
    ),
  O21: () => {
    const entries = (one: object, two: object) => ({
      targetCustomizationMode: 'AllMatches',
      targetCustomizations: [
        { name: 'p', clusterSelector: {}, ...one },
        { name: 'q', clusterSelector: {}, ...two },
      ],
    })
    const helm = entries(
      { helm: { releaseName: 'r1', values: { a: { x: 1, y: 1 } } } },
      { helm: { values: { a: { y: 2 } } } },
    )
    const [made] = readFleetTree({ ...CHART, 'fleet.yaml': helm }).objects('c1') as unknown as { data: { r: string } }[]
    assert.equal(made?.data.r, 'r1')
    assert.deepEqual((values(helm) as { a: object }).a, { x: 1, y: 2 })
    const overlay = (name: string) => ({ [`overlays/${name}/${name}.yaml`]: CM.replace('name: cm', `name: ${name}`) })
    const overlays = {
      yaml: { overlays: ['o0'] },
      ...entries({ yaml: { overlays: ['o1'] } }, { yaml: { overlays: ['o2'] } }),
    }
    const tree = { 'cm.yaml': CM, ...overlay('o0'), ...overlay('o1'), ...overlay('o2'), 'fleet.yaml': overlays }
    assert.deepEqual(namesOn(tree), ['cm', 'o0', 'o1', 'o2'])
    const folder = (name: string) => ({
      [`${name}/kustomization.yaml`]: `resources: [cm.yaml]\nnamePrefix: ${name}-\n`,
      [`${name}/cm.yaml`]: CM,
    })
    const dirs = entries({ kustomize: { dir: 'k1' } }, { kustomize: { dir: 'k2' } })
    assert.deepEqual(namesOn({ ...folder('k1'), ...folder('k2'), 'fleet.yaml': dirs }), ['k2-cm'])
  },
  H13: () => {
    const read = readFleetTree({
      ...Object.fromEntries(Object.entries(CHART).map(([path, text]) => [`ch/${path}`, text])),
      'ch/templates/f.yaml':
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f}\ndata: {f: {{ .Files.Get "f.yaml" }}}\n',
      'ch/f.yaml': 'own',
      'f.yaml': 'root: 1\n',
      'vals/f.yaml': 'from: vals\n',
      'fleet.yaml': { helm: { chart: 'ch', valuesFiles: ['vals/f.yaml'] } },
    })
    const [file, printed] = read.objects('c1') as unknown as { data: { f?: string; v?: string } }[]
    assert.equal(file?.data.f, 'own')
    assert.deepEqual((JSON.parse(printed?.data.v ?? '') as { from: string }).from, 'vals')
  },
  H14: () => {
    const print =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: v}\ndata: {a: "{{ .Values.a }}", b: "{{ .Values.b }}"}\n'
    const [made] = readFleetTree({
      'Chart.yaml': CHART['Chart.yaml'],
      'templates/v.yaml': print,
      'fleet.yaml': 'helm: {values: {a: 1000000, b: 12345678901234567}}\n',
    }).objects('c1') as unknown as { data: object }[]
    assert.deepEqual(made?.data, { a: '1e+06', b: '1.2345678901234568e+16' })
  },
  H24: () =>
    assert.deepEqual(keysOf([{ configMapKeyRef: { name: 'a' }, secretKeyRef: { name: 'b' } }]), [
      'key values.yaml of ConfigMap rel/a',
      'key values.yaml of Secret rel/b',
    ]),
  H26: () =>
    assert.deepEqual(
      keysOf([{ configMapKeyRef: { name: 'a', key: 'k' } }, { secretKeyRef: { name: 'b', namespace: 'x' } }]),
      ['key k of ConfigMap rel/a', 'key values.yaml of Secret x/b'],
    ),
  H27: () => {
    const { result } = valuesFrom([{ configMapKeyRef: { name: 'a' } }])
    assert.ok(result.ok === 'prepared')
    // An object or key that is missing: src/agent/render/cluster-render.contract.test.ts.
    const answer = renderInCluster({ ...result, frozen: {}, values: ['- a'], lookups: [] }, { entropy: NO_ENTROPY })
    assert.ok(answer.kind === 'Rendered' && !answer.result.ok)
    assert.match(answer.result.problems[0]!.message, /of ConfigMap a is not YAML with a map of values$/)
  },
  V12: () => {
    const annotations = { a: '1', 'x.cattle.io/b': '2', 'fleet.cattle.io/c': '3', 'kubectl.kubernetes.io/d': '4' }
    const fleet = { helm: { values: { x: '${ keys .ClusterAnnotations | sortAlpha | join "," }' } } }
    assert.equal((values(fleet, 'c1', {}, { inputs: { annotations } }) as { x: string }).x, 'a')
  },
  V19: () => {
    const read = values({ helm: { values: { a: '${ $v := .ClusterName }one', b: '${ $v }' } } })
    assert.deepEqual(read, { from: 'chart', chart: 1, m: { chart: 1 }, a: 'one', b: 'c1' })
  },
  Y26: () => {
    const overlays = { yaml: { overlays: ['a'] } }
    const [made] = readFleetTree({
      't.yaml': 'apiVersion: ex.io/v1\nkind: Thing\nmetadata: {name: t}\nspec: {list: [a]}\n',
      'overlays/a/t_patch.yaml': '- {op: add, path: /spec/list/-, value: b}\n',
      'fleet.yaml': { ...overlays, targetCustomizations: [{ clusterSelector: {}, ...overlays }] },
    }).objects('c1') as unknown as { spec: object }[]
    assert.deepEqual(made?.spec, { list: ['a', 'b', 'b'] })
  },
  Y27: () => {
    const overlays = { yaml: { overlays: ['a'] } }
    assert.deepEqual(namesOn({ ...CHART, 'overlays/a/x.yaml': CM, 'fleet.yaml': { helm: {}, ...overlays } }), ['v'])
    const tree = { 'kustomization.yaml': 'resources: [cm.yaml]\n', 'cm.yaml': CM, 'fleet.yaml': overlays }
    const [made] = readFleetTree({ ...tree, 'overlays/a/cm.yaml': CM.replace('k: v', 'k: w') }).objects(
      'c1',
    ) as unknown as {
      data: object
    }[]
    assert.deepEqual(made?.data, { k: 'v' })
  },
  Y29: () =>
    assert.match(
      readFleetTree({
        'templates/t.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\n',
        'overlays/a/templates/t_patch.yaml': 'data: {k: v}\n',
        'fleet.yaml': { yaml: { overlays: ['a'] } },
      }).objects('c1') as string,
      /t_patch\.yaml cannot be applied: templates\/t\.yaml: line 3/,
    ),
  K5: () => {
    const built = (kustomization: string) =>
      readFleetTree({ 'k/kustomization.yaml': kustomization, 'cm.yaml': CM, 'fleet.yaml': { kustomize: { dir: 'k' } } })
    assert.match(built('resources: [../cm.yaml]\n').objects('c1') as string, /is not in or below/)
    assert.match(built('helmCharts: [{name: x, repo: "https://y.example"}]\n').objects('c1') as string, /enable-helm/)
  },
  K7: () =>
    assert.deepEqual(
      namesOn({
        ...Object.fromEntries(Object.entries(CHART).map(([path, text]) => [`ch/${path}`, text])),
        'kustomization.yaml': 'namePrefix: k-\nresources: [cm.yaml]\n',
        'cm.yaml': CM,
        'fleet.yaml': { helm: { chart: 'ch' }, kustomize: { dir: '.' } },
      }),
      ['k-cm', 'k-v'],
    ),
  R2: () =>
    assert.deepEqual(
      (
        [
          [5, '10%'],
          [4, '49%'],
          [200, '0.4%'],
          [10, '0%'],
          [10, '-5%'],
        ] as const
      ).map(([count, of]) => limit(count, of)),
      [1, 1, 1, 1, 1],
    ),
  R4: () => assert.deepEqual([limit(10, '3'), limit(10, '99')], [3, 99]),
  R5: () => {
    for (const value of ['0', 'abc', '', '25 %'])
      assert.match(String(limit(10, value)), /maxUnavailable must be a whole number or a percentage/, value)
  },
  R7: () => assert.equal(limit(10), 10),
  R9: () => assert.match(String(limit(10, 'abc')), /must be a whole number or a percentage/),
  F18: () => assert.match(String(limit(10, 'abc')), /must be a whole number or a percentage/),
  R12: () => {
    const sized = (autoPartitionSize: string) => ringsIn({ autoPartitionThreshold: 10, autoPartitionSize }, 10)
    assert.equal(sized('0%').length, 10)
    assert.match(sized('0')[0] as string, /autoPartitionSize must be a whole number or a percentage/)
  },
  R15: () => {
    const budget = (more: object) => ringsIn({ ...more, partitions: [{ name: 'p', clusterSelector: {} }] })[0]
    assert.deepEqual((budget({ maxUnavailable: 2 }) as RingSpec).maxUnavailable, 2)
    assert.deepEqual((budget({}) as RingSpec).maxUnavailable, '100%')
  },
  R17: () => {
    const none = { name: 'none', clusterSelector: { matchLabels: { a: 'none' } } }
    const rings = ringsIn({ autoPartitionSize: 1, autoPartitionThreshold: 1, partitions: [none, { name: 'empty' }] })
    assert.deepEqual(
      rings.map((ring) => (ring as RingSpec).name),
      ['none', 'rest'],
    )
  },
  R30: () => {
    const partitions = [{ name: 'p', clusterSelector: {}, maxUnavailable: '100%' }]
    const [ring] = ringsIn({ maxUnavailable: 2, partitions })
    assert.deepEqual([(ring as RingSpec).concurrency, (ring as RingSpec).maxUnavailable], [2, '100%'])
  },
  O7: () => {
    const timeout = (timeoutSeconds: number) => {
      const custom = [{ clusterName: 'c1', helm: { timeoutSeconds } }]
      const tree = { 'cm.yaml': CM, 'fleet.yaml': { helm: { timeoutSeconds: 30 }, targetCustomizations: custom } }
      return readFleetTree(tree).bundle().spec.variants?.[0]?.options?.apply?.timeout
    }
    assert.deepEqual([timeout(0), timeout(5), timeout(-1)], ['30s', '5s', undefined])
  },
  V26: () => {
    const name = '${ .ClusterName }'
    const fleet = { defaultNamespace: name, namespaceLabels: { a: name } }
    const { spec } = readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': fleet }).bundle()
    assert.deepEqual([spec.defaultNamespace, spec.namespaces?.labels], [name, { a: name }])
    const dir = readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': { kustomize: { dir: name } } }).objects('c1')
    assert.match(dir as string, /"\$\{ \.ClusterName \}" holds none/)
  },
  H15: () => {
    const entries = ['1.0.0', '1.2.0', '2.0.0'].map((version) => ({ version, urls: [`c-${version}.tgz`] }))
    const index = readIndex(Buffer.from(JSON.stringify({ apiVersion: 'v1', entries: { c: entries } })), 'index.yaml')
    const chosen = (range?: string) => chooseVersion(index, { chart: 'c', version: range }, 'index.yaml').version
    assert.deepEqual([chosen(), chosen('^1.0.0'), chosen('v1.0.0')], ['2.0.0', '1.2.0', '1.0.0'])
    assert.throws(() => chosen('9.x'), /9\.x/)
  },
  L1: () => {
    const [made] = readFleetTree({ 'cm.yaml': CM }).objects('c4') as { metadata: { namespace: string } }[]
    assert.equal(made?.metadata.namespace, 'default')
  },
  G4: () => {
    const refs = new Map([
      [`refs/tags/v1`, a(40)],
      [`refs/heads/main`, a(40)],
    ])
    assert.throws(() => chooseCommit(refs, repo({ branch: 'v1' })), /branch "v1"/)
    assert.equal(chooseCommit(refs, repo({ branch: 'main' })).name, 'main')
  },
  G5: () => {
    const findings: Finding[] = []
    assert.deepEqual([readGitRepoSpec({ repo: 'u' }, findings).targets, findings], [undefined, []])
    assert.deepEqual(readFleetTree({ 'cm.yaml': CM }, { spec: { targets: [] } }).bundle().reach, 0)
  },
}

/** Our result of rows that are listed. */
const OURS: Readonly<Record<string, () => void>> = {
  F16: () =>
    assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': 'imageScans: [{image: a, tagName: t}]' }), /which is not done/),
  H29: () =>
    assert.match(
      said({ 'cm.yaml': CM, 'fleet.yaml': 'downstreamResources: [{kind: Secret, name: a}]' }),
      /is not done/,
    ),
  H30: () => assert.match(said({ ...CHART, 'fleet.yaml': 'helm: {maxHistory: 4}' }), /maxHistory has no effect/),
  O14: () => {
    const both = (name: string) => [{ configMapKeyRef: { name: 'a' }, secretKeyRef: { name } }]
    const custom = [{ clusterName: 'c1', helm: { valuesFrom: both('s2') } }]
    const { result } = readFleetTree({
      ...CHART,
      'fleet.yaml': { helm: { valuesFrom: both('s1') }, targetCustomizations: custom },
    }).variant('c1')
    assert.ok(result.ok === 'prepared')
    const read = result.recipe.helm?.valuesFrom?.map(({ name }) => name)
    assert.deepEqual(read, ['a', 's1', 's2'], 'an entry is a ConfigMap or a Secret')
  },
  F26: () => {
    const { spec } = readFleetTree({ ...CHART, 'fleet.yaml': { helm: { values: { a: 1 } } } }).bundle()
    assert.deepEqual(spec.helm?.values, { a: 1 })
  },
  Y9: () => {
    const crd = 'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: {}\n'
    const [made] = readFleetTree({ 'crd.yaml': crd }).objects('c1') as { metadata: { annotations?: object } }[]
    assert.equal(made?.metadata.annotations, undefined, 'CRDs stay by an option of the Bundle')
  },
  Y10: () => {
    const [made] = readFleetTree({ 'cm.yaml': CM }).objects('c1') as { metadata: object }[]
    assert.deepEqual(made?.metadata, { name: 'cm', namespace: 'default' })
  },
  N17: () => assert.equal(helmReleaseName(a(80)).length, 53),
  N18: () => {
    const same = { 'a/cm.yaml': CM, 'a/fleet.yaml': 'name: same', 'b/cm.yaml': CM, 'b/fleet.yaml': 'name: same' }
    assert.deepEqual(names(same), ['same'])
    assert.match(said(same), /^b\/fleet\.yaml: the bundle would be called same, and so is that of "a"/)
  },
  S31: () => assert.deepEqual(namesOn({ 'cm.yaml': CM, 'x/Chart.yaml': 'name: x\n' }), ['cm']),
  F9: () => assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': 'finalizers: [x/y]' }), /finalizers of a Bundle are not/),
  F11: () => {
    const tree = { 'cm.yaml': CM, 'fleet.yaml': 'labels: {fleet.cattle.io/repo-name: other, team: x}' }
    assert.deepEqual(readFleetTree(tree).bundle().labels, { team: 'x' })
    assert.match(said(tree), /says who owns a bundle and is not taken/)
  },
  F12: () => assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': 'valuesHash: x' }), /Fleet's own field and not taken/),
  F28: () => {
    const custom = (name: string) => [{ name, clusterName: 'c1', helm: { values: { from: 'custom' } } }]
    for (const name of ['eu/prod', 'my prod'])
      assert.equal((values({ targetCustomizations: custom(name) }) as { from: string }).from, 'custom')
  },
  C12: () => {
    const custom = [{ name: 'values.yaml', clusterName: 'c1', helm: { values: { a: 2 } } }]
    const of = (cluster: string) => values({ helm: { values: { a: 1 } }, targetCustomizations: custom }, cluster)
    assert.deepEqual([(of('c1') as { a: number }).a, (of('c2') as { a: number }).a], [2, 1])
  },
  C13: () => {
    const custom = [{ name: 'not', clusterName: 'c1', doNotDeploy: true }]
    const tree = { 'cm.yaml': CM, 'fleet.yaml': { targetCustomizations: custom } }
    assert.equal(readFleetTree(tree).objects('c1'), 'skipped by not')
  },
  O5: () => {
    const custom = [{ clusterName: 'c1', helm: { maxHistory: 2 } }]
    assert.match(said({ 'cm.yaml': CM, 'fleet.yaml': { targetCustomizations: custom } }), /maxHistory has no effect/)
  },
  O6: () => {
    const custom = [{ clusterName: 'c1', deleteNamespace: true, createNamespace: false }]
    const { spec } = readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': { targetCustomizations: custom } }).bundle()
    assert.deepEqual(spec.variants?.[0]?.options, { namespaces: { create: false, delete: true } })
  },
  H18: () => {
    const custom = [{ clusterName: 'c1', helm: { repo: 'https://x.example', chart: 'c' } }]
    const tree = { 'a.txt': '', 'fleet.yaml': { targetCustomizations: custom } }
    assert.match(readFleetTree(tree).objects('c2') as string, /holds no \.yaml/)
  },
  H19: () => {
    const tree = { 'c/Chart.yaml': CHART['Chart.yaml'], 'fleet.yaml': 'helm: {repo: "https://x.example", chart: c}' }
    const { charts, spec } = readFleetTree(tree).bundle()
    assert.deepEqual(charts.length, 1)
    assert.match(spec.helm?.chart ?? '', /^\.charts\//, 'the chart of the repository')
  },
  Y7: () => assert.match(readFleetTree({ 'a.yaml': CM, 'b.yaml': CM }).objects('c1') as string, /more than once/),
  K3: () => {
    for (const file of ['kustomization.yml', 'Kustomization'])
      assert.deepEqual(namesOn({ [file]: 'resources: [cm.yaml]\nnamePrefix: k-\n', 'cm.yaml': CM }), ['k-cm'], file)
  },
  K6: () => {
    const tree = { 'kustomization.yaml': 'resources: ["https://example.com/a.yaml"]\n', 'cm.yaml': CM }
    assert.match(readFleetTree(tree).objects('c1') as string, /is remote: it must be fetched/)
  },
  R3: () =>
    assert.deepEqual(
      [0, 3, -1, 99].map((value) => limit(10, value)),
      [1, 3, 1, 99],
    ),
  R13: () => {
    const tree = { 'cm.yaml': CM, 'fleet.yaml': 'rolloutStrategy: {maxUnavailablePartitions: "50%"}' }
    assert.match(said(tree), /a ring starts only when all rings before it have passed/)
  },
  R16: () => {
    const partitions = [
      { name: 'canary', clusterSelector: { matchLabels: { env: 'canary' } } },
      { name: 'all', clusterSelector: {} },
    ]
    assert.equal(ringsIn({ partitions }).length, 2, 'a ring takes what no earlier ring has')
  },
  R32: () => {
    const partitions = [{ name: 'p', clusterSelector: {}, maxUnavailable: 0 }]
    assert.deepEqual((ringsIn({ partitions })[0] as RingSpec).concurrency, 1)
  },
}

test('every observation is the same, or listed by its cause', async (t) => {
  const root = join(import.meta.dirname, '..', '..', '..')
  const texts = new Map<string, string>()
  const textOf = (file: string): string => {
    if (!texts.has(file)) texts.set(file, readFileSync(join(root, file), 'utf8'))
    return texts.get(file)!
  }
  const all = Object.entries(FAMILIES).flatMap(([family, count]) =>
    Array.from({ length: count }, (_, at) => `${family}${at + 1}`),
  )
  assert.equal(all.length, 340)
  const named = new Map(
    Object.entries(NAMED).flatMap(([file, rows]) => rows.split(' ').map((row) => [row, file] as const)),
  )
  const listed = new Map(Object.entries(LISTED).flatMap(([cause, rows]) => rows.split(' ').map((row) => [row, cause])))
  for (const row of all) {
    const check = SAME[row]
    const file = named.get(row)
    const cause = listed.get(row)
    await t.test(row, () => {
      assert.equal([check, file, cause].filter(Boolean).length, 1, 'a row is checked here, named by a test, or listed')
      check?.()
      const own = OURS[row]
      if (own) assert.ok(cause, 'a result of ours is of a row that is listed')
      own?.()
      if (file) assert.match(textOf(file), new RegExp(`\\b${row}\\b`), `${file} names the row`)
      if (cause) assert.ok(CAUSES[cause], `cause ${cause} is stated`)
    })
  }
  const page = textOf('docs/dialects/fleet.md').replaceAll(/\s+/g, ' ')
  for (const [cause, sentence] of Object.entries(CAUSES))
    assert.ok(page.includes(sentence), `docs/dialects/fleet.md states the cause ${cause}: ${sentence}`)
})
