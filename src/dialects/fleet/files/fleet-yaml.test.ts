/**
 * Rows F, N, T and O of what Fleet was seen to do with fleet.yaml, the GitRepo and its targets; where Fleet is wrong,
 * what is right.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFleetTree } from '../../../testing/fixtures/rancher-fleet/repository.ts'
import type { FleetSetting } from '../../../testing/fixtures/rancher-fleet/repository.ts'

const CM = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n'

const read = (fleet: unknown, setting: FleetSetting = {}) =>
  readFleetTree({ 'cm.yaml': CM, 'fleet.yaml': fleet }, setting)

test('fields are read in any case, with their types; what is not known is named', () => {
  assert.deepEqual(
    read({ DefaultNamespace: 'd', Targetcustomizations: [{ clustername: 'c1', NAMESPACE: 'n' }] }).bundle().spec
      .variants?.[0]?.targetNamespace,
    'n',
    'F2',
  )
  assert.deepEqual(
    read('namspace: x\n').findings,
    ['fleet.yaml:1: namspace is no field of Fleet and has no effect; did you mean "namespace"?'],
    'F1',
  )
  assert.deepEqual(read('helm:\n  vlaues: {a: 1}\n').findings, [
    'fleet.yaml:2: helm.vlaues is no field of Fleet and has no effect; did you mean "values"?',
  ])
  assert.equal(read('namespace: a\nnamespace: b\n').bundle().spec.targetNamespace, 'b', 'F3')
  assert.equal(read('namespace: a\n---\nnamespace: b\n').bundle().spec.targetNamespace, 'a', 'F4')
  assert.deepEqual(
    read('namespace: y\n').findings,
    ['fleet.yaml:1: namespace must be text, found true (YAML reads yes, no, on, off, y and n so; quote it)'],
    'F5',
  )
  assert.deepEqual(
    read('namespace: 123\n').findings,
    ['fleet.yaml:1: namespace must be text, found the number 123; quote it'],
    'F6',
  )
  assert.deepEqual(
    read('paused: "true"\n').findings,
    ['fleet.yaml:1: paused must be true or false, found "true"'],
    'F6',
  )
  assert.equal(read('keepResources: yes\n').bundle().spec.delete?.bundleDeleted, 'Orphan', 'F5')
  assert.equal(read('').bundles.length, 1, 'F8')
  const strange = read('a: [\n')
  assert.deepEqual([strange.bundles.length, strange.failed], [0, ['']])
  assert.match(strange.findings[0]!, /^fleet\.yaml:2: line 2/)
  assert.deepEqual(read('[1]').findings, ['fleet.yaml: a fleet.yaml is a map of fields'])
})

test('what is refused, and what has no effect, says so', () => {
  const table: [unknown, RegExp, 'error' | 'warning'][] = [
    [{ dependsOn: [{}] }, /dependsOn\[0\] must have a name or a selector/, 'error'],
    [{ dependsOn: [{ name: 'a', acceptedStates: ['ready'] }] }, /"ready" is no state; use Ready, NotReady/, 'error'],
    [{ imageScans: [{ image: 'a', tagName: 't' }] }, /imageScans would write new image tags into git/, 'error'],
    [{ targetCustomizationMode: 'Bogus' }, /must be FirstMatch or AllMatches, found "Bogus"/, 'error'],
    [
      { rolloutStrategy: { maxUnavailable: 'abc' } },
      /rolloutStrategy\.maxUnavailable must be a whole number or a percentage/,
      'error',
    ],
    [{ rolloutStrategy: { maxUnavailable: 1.5 } }, /must be a whole number or a percentage such as 25%/, 'error'],
    [
      { targetCustomizations: [{ clusterSelector: { matchExpressions: [{ key: 'a', operator: 'Foo' }] } }] },
      /"Foo" is not a valid label selector operator/,
      'error',
    ],
    [{ downstreamResources: [{ kind: 'Secret', name: 's' }] }, /downstreamResources are objects of the hub/, 'error'],
    [{ name: 'My_Bundle' }, /the bundle would be called "My_Bundle": a lowercase RFC 1123 subdomain/, 'error'],
    [{ helm: { atomic: true } }, /helm\.atomic has no effect/, 'warning'],
    [{ helm: { maxHistory: 4 } }, /helm\.maxHistory has no effect/, 'warning'],
    [{ contentsId: 'x' }, /contentsId is Fleet's own field/, 'warning'],
    [{ finalizers: ['x/y'] }, /finalizers of a Bundle are not taken/, 'warning'],
    [
      { labels: { 'fleet.cattle.io/repo-name': 'other' } },
      /fleet\.cattle\.io\/repo-name says who owns a bundle/,
      'warning',
    ],
    [{ targetCustomizations: [{ name: 'x' }] }, /customization x means no cluster; it needs clusterName/, 'warning'],
    [
      { targetCustomizations: [{ name: 'x', clusterGroup: 'g' }] },
      /means no cluster; is there a ClusterGroup g\?/,
      'warning',
    ],
  ]
  for (const [fleet, words, level] of table) {
    const { findings, bundles } = read(fleet)
    assert.match(findings.join('\n'), words, JSON.stringify(fleet))
    assert.equal(bundles.length, level === 'error' ? 0 : 1, JSON.stringify(fleet))
  }
  assert.deepEqual(read({ imageScans: [] }).findings, [], 'F15')
})

test('names and labels', () => {
  const setting = { labels: { team: 'y', zone: 'z' } }
  assert.deepEqual(read({ labels: { team: 'x' } }, setting).bundle().labels, { team: 'x', zone: 'z' }, 'F10')
  assert.equal(read({ name: 'my.dotted' }).bundle().name, 'my.dotted', 'N15')
  const twice = readFleetTree({ 'a-b/fleet.yaml': {}, 'a-b/cm.yaml': CM, 'a/b/fleet.yaml': {}, 'a/b/cm.yaml': CM })
  assert.deepEqual(
    twice.bundles.map(({ path }) => path),
    ['a-b'],
    'N3',
  )
  assert.deepEqual(twice.findings, [
    'a/b/fleet.yaml: the bundle would be called repo-a-b, and so is that of "a-b"; give "a/b" a name in its fleet.yaml',
  ])
  assert.deepEqual(twice.failed, ['a/b'])
  const one = readFleetTree({ 'a/fleet.yaml': 'x: [', 'a/cm.yaml': CM, 'b/fleet.yaml': {}, 'b/cm.yaml': CM })
  assert.deepEqual([one.bundles.map(({ name }) => name), one.failed], [['repo-b'], ['a']], 'S27: the others go on')
  assert.deepEqual(
    readFleetTree({ 'a/fleet.yaml': {}, 'b/fleet.yaml': {}, 'b/cm.yaml': CM }).bundles.map(({ name }) => name),
    ['repo-b'],
    'S11',
  )
})

test('what the GitRepo says for all its bundles', () => {
  const spec = (fleet: unknown, of: FleetSetting['spec']) =>
    read(fleet, { spec: { targets: [{ clusterSelector: {} }], ...of } }).bundle()
  assert.deepEqual(
    spec({ serviceAccount: 'b' }, { serviceAccount: 'a' }).spec.executor,
    { namespace: 'cattle-fleet-system', name: 'a' },
    'F19',
  )
  assert.deepEqual(
    [spec({}, { paused: true }), spec({ paused: true }, {}), spec({}, {})].map(({ plan }) => plan.spec.start),
    ['Manual', 'Manual', 'Automatic'],
    'F20',
  )
  assert.equal(spec({}, { keepResources: true }).spec.delete?.unplaced, 'Orphan', 'F21')
  assert.equal(spec({ deleteNamespace: true }, {}).spec.namespaces?.delete, true, 'F21 L17')
  assert.equal(
    spec({ correctDrift: { enabled: false } }, { correctDrift: { enabled: true } }).spec.drift?.mode,
    'Correct',
    'F23',
  )
  assert.equal(
    spec({ correctDrift: { enabled: true } }, { correctDrift: { enabled: false, force: true } }).spec.drift?.mode,
    'Correct',
    'F24',
  )
  assert.equal(spec({}, {}).spec.drift?.mode, 'Report')
})

test('targets become Placements', () => {
  const placed = (fleet: unknown, of: FleetSetting = {}) => read(fleet, of).bundle().placement
  const workspace = `!("fleet.cattle.io/workspace" in cluster.metadata.labels) || cluster.metadata.labels["fleet.cattle.io/workspace"] == "fleet-default"`
  assert.deepEqual(placed({}), { name: 'repo', spec: { clusterSelector: {}, predicates: [{ cel: [workspace] }] } })
  const groups = [{ name: 'default', labels: {}, selector: { matchLabels: { env: 'prod' } } }]
  const byGroup = placed({}, { spec: { targets: [] }, groups })
  assert.deepEqual(
    byGroup.spec.predicates,
    [{ labelSelector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] }, cel: [workspace] }],
    'T1',
  )
  const none = placed({}, { spec: { targets: [{ name: 'nothing' }] } })
  assert.deepEqual(
    none.spec.clusterSelector.matchExpressions?.map(({ operator }) => operator),
    ['Exists', 'DoesNotExist'],
    'T8',
  )
  const over = placed({
    overrideTargets: [{ clusterName: 'o', namespace: 'ignored' }],
    targetCustomizations: [{ clusterName: 'c2' }],
  })
  assert.equal(over.name, 'repo-targets', 'T5')
  assert.deepEqual(
    over.spec.predicates?.map(({ cel }) => cel?.at(-1)),
    ['cluster.metadata.name in ["o"]', workspace],
  )
  assert.equal(
    placed({ overrideTargets: [], targetCustomizations: [{ clusterName: 'c2' }] }).spec.predicates,
    undefined,
    'T7: no cluster',
  )
  assert.equal(placed('overrideTargets:\n').name, 'repo', 'T7')
})

test('rolloutStrategy becomes rings', () => {
  const clusters = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}`, { env: n < 2 ? 'canary' : 'prod' }]))
  const rings = (rolloutStrategy: unknown, count = 10) =>
    read({ rolloutStrategy }, { clusters: clusters(count) }).bundle().plan.spec.rings
  assert.deepEqual(rings({}), [
    { name: 'all', concurrency: '100%', maxUnavailable: '100%', maxFailed: '100%', readyShare: '0%' },
  ])
  assert.deepEqual(rings({ maxUnavailable: 0 }), [{ name: 'all', concurrency: 1, maxFailed: 0 }], 'R22')
  assert.deepEqual(rings({ maxUnavailable: '33.3%' })[0]?.concurrency, '33%', 'R1')
  assert.deepEqual(
    rings({ autoPartitionSize: '25%' }, 200).map(({ share }) => share),
    ['25%', '25%', '25%', undefined],
    'R8',
  )
  assert.deepEqual(
    rings({ autoPartitionThreshold: 10, autoPartitionSize: 3 }).map(({ share }) => share),
    ['30%', '30%', '30%', undefined],
    'R10',
  )
  assert.equal(rings({ autoPartitionThreshold: 0 }, 300).length, 1, 'R11')
  const canary = { name: 'canary', clusterSelector: { matchLabels: { env: 'canary' } }, maxUnavailable: 1 }
  const manual = rings({ partitions: [canary, { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } } }] })
  assert.deepEqual(
    manual.map(({ name, concurrency }) => `${name} ${concurrency}`),
    ['canary 1', 'prod 100%', 'rest 100%'],
    'R14: who is left comes last',
  )
  const byName = read({ rolloutStrategy: { partitions: [canary, { name: 'one', clusterName: 'c5' }] } })
  assert.match(byName.findings.join(), /partition one: a ring cannot take a cluster by its name/)
})

test('how a bundle is applied', () => {
  const { spec } = read(
    {
      helm: { timeoutSeconds: 30, force: true, takeOwnership: true },
      namespaceLabels: { team: 'x' },
      createNamespace: false,
      ignore: { conditions: [{ type: 'Active', status: 'False' }] },
      deleteCRDResources: true,
      diff: {
        comparePatches: [
          {
            apiVersion: 'apps/v1',
            kind: 'Deployment',
            name: 'd',
            namespace: 'n',
            jsonPointers: ['/spec/replicas'],
            operations: [{ op: 'remove', path: '/spec/x' }],
          },
        ],
      },
      dependsOn: [{ name: 'db', acceptedStates: ['Ready', 'Modified'] }, { selector: { matchLabels: { a: 'b' } } }],
    },
    {
      bundles: [
        { name: 'labelled', labels: { a: 'b' } },
        { name: 'other', labels: {} },
      ],
    },
  ).bundle()
  assert.deepEqual(spec.apply, { takeover: 'Always', timeout: '30s', immutable: 'Recreate' })
  assert.deepEqual(spec.ignoreConditions, [{ type: 'Active', status: 'False' }])
  assert.deepEqual(spec.namespaces, { create: false, labels: { team: 'x' } })
  assert.deepEqual(spec.delete?.named, [{ group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' }])
  assert.deepEqual(spec.ignore, [
    { group: 'apps', kind: 'Deployment', namespace: 'n', name: 'd', pointers: ['/spec/replicas', '/spec/x'] },
  ])
  assert.deepEqual(spec.dependsOn, [{ bundle: 'db', states: ['Ready', 'Drifted'] }, { bundle: 'labelled' }])
})

test('options of a customization are those of its clusters alone', () => {
  const { spec } = read(
    {
      namespaceLabels: { team: 'x' },
      correctDrift: { enabled: true },
      diff: { comparePatches: [{ kind: 'Service', name: 's', jsonPointers: ['/a'] }] },
      targetCustomizations: [
        { name: 'one', clusterName: 'c1', namespaceLabels: { pci: 'y' }, serviceAccount: 'own', keepResources: true },
        {
          name: 'two',
          clusterName: 'c2',
          correctDrift: { enabled: false },
          diff: { comparePatches: [{ kind: 'Job', jsonPointers: ['/b'] }] },
        },
        { name: 'none', clusterName: 'c3', namespace: 'n' },
      ],
    },
    { spec: { targets: [{ clusterSelector: {} }], serviceAccount: 'all', correctDrift: { enabled: true } } },
  ).bundle()
  assert.deepEqual(spec.namespaces?.labels, { team: 'x' }, 'O19: not everywhere')
  assert.deepEqual(
    spec.variants?.map(({ options }) => options),
    [
      {
        namespaces: { create: true, labels: { team: 'x', pci: 'y' } },
        executor: { namespace: 'cattle-fleet-system', name: 'own' },
        delete: { unplaced: 'Orphan', bundleDeleted: 'Orphan' },
      },
      {
        drift: { mode: 'Report' },
        apply: { takeover: 'IfNoDiff' },
        ignore: [
          { kind: 'Service', name: 's', pointers: ['/a'] },
          { kind: 'Job', pointers: ['/b'] },
        ],
      },
      undefined,
    ],
    'F19, F23, O17, O18',
  )
})
