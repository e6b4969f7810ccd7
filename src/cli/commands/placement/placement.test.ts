/** explain and simulate, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { allowNamespaces } from '../../../testing/fixtures/projects.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { explainError } from '../../errors/explain-error.ts'
import { explain, simulatePlacement } from './placement.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, said } = createCliHub(t, { namespace: 'ns' })
  await ensureNamespace(client, 'ns')
  await allowNamespaces(client, 'ns')
  const write = { fieldManager: 'test' }
  for (const [name, tier] of [
    ['a', 'store'],
    ['b', 'store'],
    ['c', 'dc'],
  ] as const) {
    await client.create(Cluster, buildCluster(name, { labels: { tier } }), write)
  }
  await client.create(Placement, buildPlacement('ns/stores', { tier: 'store' }), write)
  const decisions = ['a', 'b'].map((cluster) => ({ cluster, reason: 'labels match', state: 'Selected' as const }))
  const spec = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'ns/stores-0', { spec }), write)
  return { said, client, input: { connection, terminal, flags: {} } }
}

async function* fileOf(text: string) {
  yield utf8(text)
}

test('explain says for one cluster what decides and what would change it', async (t) => {
  const { said, input } = await started(t)
  await explain(['placement/stores', 'c'], input)
  assert.equal(
    said.out,
    [
      'NOT SELECTED   placement stores, generation 1: the selector wants tier=store, but tier is "dc"',
      '  ✔ cluster     an accepted cluster that is not being deleted        accepted',
      '  ✔ sets        no ClusterSet that is reserved for other namespaces  the cluster is in no ClusterSet with bindings',
      '  ✗ selector    tier=store                                           tier is "dc"   ← decides',
      '  – predicates  no predicates                                        not asked',
      '  – taints      no taint that is not tolerated                       not asked',
      'The cluster would be selected with: tier=store on the cluster',
      '',
    ].join('\n'),
  )
})

test('a Placement that its Project refuses says so, and keeps its decisions', async (t) => {
  const { said, client, input } = await started(t)
  const project = await client.get(Project, { name: 'ns' })
  await client.update(Project, { ...project, spec: { ...project.spec, clusterSets: [] } })
  const refusal = 'Project ns: spec.clusterSets lists no ClusterSet'
  said.out = ''
  await explain(['stores', 'a'], input)
  assert.match(said.out, /^SELECTED .*: frozen by its Project: stays selected, and receives no change\n/)
  assert.match(said.out, new RegExp(`✗ project +a Project that allows the Placement +${refusal} +← decides`))
  said.out = ''
  await explain(['stores'], input)
  assert.match(said.out, new RegExp(`^placement stores: ${refusal}\\.\n`))
  assert.match(said.out, /c +NotSelected +frozen by its Project: no further cluster is selected\n/)
  const file = JSON.stringify({ ...buildPlacement('ns/stores', { tier: 'dc' }) })
  const simulated = simulatePlacement({ ...input, flags: { filename: '-' }, stdin: fileOf(file) })
  assert.match(await expectErrorText(simulated), /would not be decided.*spec\.clusterSets lists no ClusterSet/s)
})

test('explain lists all clusters, also by a bundle, and a wrong name gets a suggestion', async (t) => {
  const { said, client, input } = await started(t)
  await explain(['stores'], input)
  assert.deepEqual(said.out.split('\n').slice(1), [
    'a        Selected     labels match: tier=store',
    'b        Selected     labels match: tier=store',
    'c        NotSelected  the selector wants tier=store, but tier is "dc"',
    '',
  ])
  await client.create(Bundle, buildBundle('ns/till', { placement: 'stores' }), { fieldManager: 'test' })
  for (const word of ['till', 'bundle/till']) {
    said.out = ''
    said.err = ''
    await explain([word], input)
    assert.match(said.out, /^a +Selected/m)
    assert.equal(said.err, 'bundle "till" uses placement "stores"\n')
  }
  const odd = explainError(await explain(['cluster/a/b'], input).catch((error: unknown) => error))
  assert.deepEqual(
    [odd.exitCode, odd.report.what],
    [2, 'invalid argument "cluster/a/b": must be NAME, placement/NAME or bundle/NAME'],
  )
  const caught = await explain(['store'], input).catch((error: unknown) => error)
  const { exitCode, report } = explainError(caught)
  assert.deepEqual([exitCode, report.what], [3, 'placement "store" not found in namespace "ns"'])
  assert.match(report.todo ?? '', /stores/)
  assert.match(await expectErrorText(explain(['zz'], input)), /hint: list Placements with "flotilla get placements -A"/)
  for (const kind of ['placement', 'placements']) {
    assert.match(
      await expectErrorText(explain([kind, 'stores'], input)),
      /hint: join the kind and the name: "flotilla explain placement\/stores"/,
    )
  }
  assert.match(
    await expectErrorText(explain(['stores', 'zz-top'], input)),
    /hint: list clusters with "flotilla get clusters"/,
  )
})

test('simulate shows who is gained and lost by an edit, and stores nothing', async (t) => {
  const { said, input } = await started(t)
  const edited = JSON.stringify({ ...buildPlacement('ns/stores', { tier: 'dc' }) })
  await simulatePlacement({ ...input, flags: { filename: '-' }, stdin: fileOf(edited) })
  assert.deepEqual(said.out.split('\n'), [
    'placement stores: 1 selected (+1 gained, -2 lost)',
    '  + c  labels match: tier=dc',
    '  - a, b  the selector wants tier=dc, but tier is "store"; its Bundles are removed',
    '',
  ])
  assert.doesNotMatch(said.err, /guard/, 'no cluster runs anything of it')
  const guarded = buildPlacement('ns/stores', { tier: 'dc' })
  guarded.spec.guard = { maxDropped: 1 }
  await simulatePlacement({ ...input, flags: { filename: '-' }, stdin: fileOf(JSON.stringify(guarded)) })
  assert.match(
    said.err,
    /The change would drop 2 of 2 clusters; at most 1 can be dropped at once\. .* The hub would guard the change/,
  )
  // D42: the way to say yes, and the label that was meant; the warning once.
  assert.match(said.err, /flotilla guard release placement stores -n ns/)
  said.err = ''
  const typo = JSON.stringify(buildPlacement('ns/stores', { tier: 'stroe' }))
  await simulatePlacement({ ...input, flags: { filename: '-' }, stdin: fileOf(typo) })
  assert.match(said.err, /hint: no cluster has the label tier=stroe; did you mean "store"\?/)
  assert.doesNotMatch(said.err, /would drop/, 'no cluster runs anything of it')
  said.out = ''
  await explain(['stores', 'a'], input)
  assert.match(said.out, /^SELECTED {3}placement stores, generation 1/)
})

test('explain says what the cluster runs because of it, and why it keeps or loses that', async (t) => {
  const { said, input, client } = await started(t)
  const entries = [{ bundle: 'ns/hello', generation: 2, set: digestOf('x'), rollout: 'ns/hello-g2' }]
  const spec = { clusterId: 'c-c', epoch: 1, revision: 4, document: digestOf('d'), entries }
  await client.create(Bundle, buildBundle('ns/hello', { placement: 'stores' }))
  const assignment = await client.create(Assignment, build(Assignment, 'c', { spec }))
  await explain(['stores', 'c'], input)
  assert.match(
    said.out,
    /Bundles assigned to this cluster:\n {2}hello {2}generation 2 stays: only a change of the Placement, of labels or of sets removes/,
  )

  const reason = 'Placement stores no longer selects these clusters.'
  const removal = { bundle: 'hello', cause: 'unplaced', policy: 'Delete', clusters: ['c'], reason } as const
  const rings = [{ name: 'all', concurrency: 1 }]
  const rollout = { release: 'hello-g2', rings, paused: false, removal: { ...removal, clusters: ['c'] } }
  await client.create(Rollout, build(Rollout, 'ns/hello-removal-1', { spec: rollout }))
  said.out = ''
  await explain(['stores', 'c'], input)
  assert.match(
    said.out,
    /hello {2}Waits for its turn: rollout hello-removal-1 removes the bundle\. Placement stores no longer/,
  )

  const tombstones = [{ bundle: 'ns/hello', generation: 2, policy: 'Delete' as const, since: 5 }]
  await client.update(Assignment, { ...assignment, spec: { ...spec, revision: 5, entries: [], tombstones } })
  said.out = ''
  await explain(['stores', 'c'], input)
  assert.match(
    said.out,
    /hello {2}Removing generation 2: waiting for confirmation by the agent\. Placement stores no longer selects these clusters\./,
  )
})
