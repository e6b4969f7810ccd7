/**
 * Every observation of what Fleet does: the same here (a check below, or a test that names the row), or different for a
 * cause that docs/dialects/fleet.md states.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readFleetTree } from '../../testing/fixtures/rancher-fleet/repository.ts'
import type { FleetSetting } from '../../testing/fixtures/rancher-fleet/repository.ts'
import { applyDirectories } from './offline/apply-directories.ts'
import { sourceOf } from './compile/desired-objects.ts'
import { readGitRepoSpec } from './compile/read-git-repo.ts'
import { ringsOf } from './compile/rollout.ts'
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
  G5: () => {
    const findings: Finding[] = []
    assert.deepEqual([readGitRepoSpec({ repo: 'u' }, findings).targets, findings], [undefined, []])
    assert.deepEqual(readFleetTree({ 'cm.yaml': CM }, { spec: { targets: [] } }).bundle().reach, 0)
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
      if (file) assert.match(textOf(file), new RegExp(`\\b${row}\\b`), `${file} names the row`)
      if (cause) assert.ok(CAUSES[cause], `cause ${cause} is stated`)
    })
  }
  const page = textOf('docs/dialects/fleet.md').replaceAll(/\s+/g, ' ')
  for (const [cause, sentence] of Object.entries(CAUSES))
    assert.ok(page.includes(sentence), `docs/dialects/fleet.md states the cause ${cause}: ${sentence}`)
})
