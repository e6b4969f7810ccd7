/** The controllers together, on the real engine and the real embedded API: what the world looks like afterwards. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../kinds/native/assignment.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { JoinToken } from '../kinds/native/join-token.ts'
import type { Condition } from '../kinds/meta.ts'
import { PlacementDecision } from '../kinds/native/placement-decision.ts'
import { Placement } from '../kinds/native/placement.ts'
import { Release } from '../kinds/native/release.ts'
import { Rollout } from '../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../testing/fixtures/builders.ts'
import { startControllersHome } from '../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../testing/hub/controllers-home.ts'
import { keyIdOf } from '../wire/trust/envelope.ts'
import { readPublicKey } from '../wire/trust/trust-bundle.ts'

const BUNDLE = 'default/hello'
const manifest = (greeting: string) => configMapManifest('hello', { greeting })

async function home(t: TestContext, clusters: readonly string[] = []): Promise<ControllersHome> {
  const made = await startControllersHome()
  t.after(() => made.close())
  for (const name of clusters) await join(made, name)
  return made
}

async function join(hub: ControllersHome, name: string, labels: Record<string, string> = { tier: 'store' }) {
  await hub.create(buildCluster(name, { labels }), Cluster)
  await hub.report(name, 'Ready')
}

async function bundled(t: TestContext, clusters: readonly string[], concurrency: number): Promise<ControllersHome> {
  const hub = await home(t, clusters)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle(BUNDLE, { manifests: manifest('one'), rollout: { concurrency } }), Bundle)
  await hub.clock.advance(3000)
  return hub
}

async function edit(hub: ControllersHome, manifests: string): Promise<void> {
  const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, manifests } })
  await hub.clock.advance(3000)
}

async function slots(hub: ControllersHome, release: string): Promise<string> {
  const rollout = await hub.find(Rollout, `default/${release}`)
  return (rollout?.status?.admissions ?? []).map(({ cluster }) => cluster).join(' ')
}

/** Generation per cluster, as the Assignments have it. */
async function generations(hub: ControllersHome, clusters: readonly string[]): Promise<number[]> {
  const assignments = await Promise.all(clusters.map((name) => hub.find(Assignment, name)))
  return assignments.map((assignment) => assignment?.spec.entries[0]?.generation ?? 0)
}

function condition(object: { status?: { conditions?: Condition[] } } | undefined, type: string): string {
  const found = object?.status?.conditions?.find((one) => one.type === type)
  return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
}

async function reportAll(hub: ControllersHome, clusters: readonly string[], state: 'Ready' | 'Failed' = 'Ready') {
  for (const name of clusters) await hub.report(name, state)
  await hub.clock.advance(3000)
}

test('a bundle reaches the selected clusters through admissions, and is Ready when they are', async (t) => {
  const hub = await bundled(t, ['a', 'b'], 10)
  await join(hub, 'dc', { tier: 'dc' })
  assert.equal(await slots(hub, 'hello-g1'), 'a b')
  assert.deepEqual(await generations(hub, ['a', 'b', 'dc']), [1, 1, 0])

  const release = await hub.find(Release, 'default/hello-g1')
  const set = release!.spec.bundles[0]!.set
  const document = await hub.documentOf('a')
  const { identityKey } = (await hub.find(Cluster, 'a'))!.spec
  assert.deepEqual(
    { ...document, issuedAt: '' },
    {
      format: 'flotilla.dev/document/v1',
      clusterId: 'c-a',
      identity: keyIdOf(readPublicKey(identityKey)),
      epoch: 1,
      revision: 1,
      issuedAt: '',
      requires: ['sets/v1'],
      rules: { trustVersion: 1 },
      content: {
        entries: [
          { bundle: BUNDLE, generation: 1, set, rollout: 'default/hello-g1', admittedAt: '2026-01-01T00:00:00Z' },
        ],
        tombstones: [],
      },
    },
  )
  assert.match(condition(await hub.find(Bundle, BUNDLE), 'Ready'), /^False RollingOut/)

  await reportAll(hub, ['a', 'b'])
  const rollout = await hub.find(Rollout, 'default/hello-g1')
  assert.equal(rollout?.status?.phase, 'Completed')
  assert.deepEqual(rollout?.status?.counts, {
    total: 2,
    ready: 2,
    progressing: 0,
    pending: 0,
    failed: 0,
    offline: 0,
    states: { Ready: 2 },
  })
  assert.deepEqual(rollout?.status?.admissions, [])
  assert.equal(condition(await hub.find(Bundle, BUNDLE), 'Ready'), 'True RolledOut: 2 of 2 ready.')
  const cluster = await hub.find(Cluster, 'a')
  assert.deepEqual(
    [cluster?.status?.state, cluster?.status?.bundles, cluster?.status?.message],
    ['Ready', { total: 1, ready: 1 }, 'The only bundle is Ready.'],
  )
})

test('in a steady state nothing is written, also not after a restart, and nothing is rendered again', async (t) => {
  const hub = await bundled(t, ['a', 'b'], 10)
  await reportAll(hub, ['a', 'b'])
  await hub.summarize('g', 100, { 'c-a': 1, 'c-b': 1 })
  await hub.clock.advance(5000)
  hub.writes.length = 0
  for (let round = 0; round < 30; round++) {
    await hub.summarize('g', 110 + round * 10, { 'c-a': round % 20, 'c-b': 3 })
    await hub.clock.advance(10_000)
  }
  assert.deepEqual(hub.writes, [])
  await hub.restart()
  await hub.clock.advance(10_000)
  assert.deepEqual(hub.writes, [])
  assert.equal(hub.rendered(), 1)
})

test('an edit moves cluster by cluster; a failure keeps its slot and stops it; a fix reaches the failed one first', async (t) => {
  const clusters = ['a', 'b', 'c']
  const hub = await bundled(t, clusters, 1)
  for (const name of clusters) await reportAll(hub, [name])
  assert.deepEqual(await generations(hub, clusters), [1, 1, 1])

  await edit(hub, manifest('two'))
  assert.deepEqual(await generations(hub, clusters), [2, 1, 1])
  assert.match(
    condition(await hub.find(Rollout, 'default/hello-g2'), 'Held'),
    /^True BudgetFull: The only slot is taken by a\. Since \S+Z\. Waits for a Ready report of one of these clusters/,
  )
  await reportAll(hub, ['a'])
  assert.deepEqual(await generations(hub, clusters), [2, 2, 1])
  await hub.report('b', 'Failed', 'back-off pulling image')
  await hub.clock.advance(60_000)
  assert.deepEqual(await generations(hub, clusters), [2, 2, 1])
  const stopped = await hub.find(Rollout, 'default/hello-g2')
  assert.equal(stopped?.status?.phase, 'Failed')
  assert.match(
    condition(stopped, 'Ready'),
    /^False FailuresStopIt: 1 cluster failed \(b\).*b failed: back-off pulling image\./,
  )
  assert.match(condition(await hub.find(Bundle, BUNDLE), 'Stalled'), /^True RolloutFailed/)

  await edit(hub, manifest('three'))
  assert.equal((await hub.find(Rollout, 'default/hello-g2'))?.status?.phase, 'Superseded')
  assert.deepEqual(await generations(hub, clusters), [2, 3, 1])
  assert.equal(await slots(hub, 'hello-g2'), '')
  for (const name of ['b', 'a', 'c']) await reportAll(hub, [name])
  assert.deepEqual(await generations(hub, clusters), [3, 3, 3])
  const document = await hub.documentOf('b')
  assert.equal(document.revision, 3)
  assert.match(document.previous ?? '', /^sha256:/)
  assert.match(condition(await hub.find(Bundle, BUNDLE), 'Ready'), /^True RolledOut/)
})

test('what cannot be rendered is shown with its line, and nothing delivered is withdrawn', async (t) => {
  const hub = await bundled(t, ['a'], 1)
  await reportAll(hub, ['a'])
  await edit(hub, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n')
  const bundle = await hub.find(Bundle, BUNDLE)
  const message =
    'Cannot render spec.manifests: document 1, line 3, column 1: the ConfigMap has no metadata.name. Clusters keep what they run.'
  assert.equal(condition(bundle, 'Rendered'), `False RenderFailed: ${message}`)
  assert.equal(condition(bundle, 'Stalled'), `True RenderFailed: ${message}`)
  assert.equal(bundle?.status?.release, 'hello-g1')
  assert.deepEqual(await generations(hub, ['a']), [1])
  await edit(hub, '# nothing\n')
  assert.match(condition(await hub.find(Bundle, BUNDLE), 'Rendered'), /holds no objects/)
  await edit(hub, manifest('two'))
  assert.deepEqual(await generations(hub, ['a']), [4])
})

test('an edit that changes no content makes no release', async (t) => {
  const hub = await bundled(t, ['a'], 1)
  await reportAll(hub, ['a'])
  await edit(hub, `# a comment\n${manifest('one')}`)
  assert.equal(await hub.find(Release, 'default/hello-g2'), undefined)
  const bundle = await hub.find(Bundle, BUNDLE)
  assert.equal(bundle?.status?.observedGeneration, 2)
  assert.equal(condition(bundle, 'Ready'), 'True RolledOut: 1 of 1 ready.')
})

test('a bundle made again counts on from what clusters run', async (t) => {
  const hub = await bundled(t, ['a'], 1)
  await reportAll(hub, ['a'])
  await edit(hub, manifest('two'))
  await reportAll(hub, ['a'])
  await hub.client.delete(Bundle, { namespace: 'default', name: 'hello' })
  await hub.clock.advance(3000)
  await hub.create(buildBundle(BUNDLE, { manifests: manifest('again') }), Bundle)
  await hub.clock.advance(3000)
  assert.equal((await hub.find(Bundle, BUNDLE))?.status?.release, 'hello-g3')
  assert.deepEqual(await generations(hub, ['a']), [3])
})

test('a cluster that joins late is admitted, one write per thing it concerns', async (t) => {
  const hub = await bundled(t, ['a', 'b'], 10)
  await reportAll(hub, ['a', 'b'])
  hub.writes.length = 0
  await join(hub, 'late')
  await hub.clock.advance(3000)
  assert.deepEqual(await generations(hub, ['late']), [1])
  await reportAll(hub, ['late'])
  assert.equal((await hub.find(Rollout, 'default/hello-g1'))?.status?.counts?.ready, 3)
  const touched = hub.writes.filter((write) => /clusters\/[ab]|assignments\/[ab]/.test(write))
  assert.deepEqual(touched, [], 'no other cluster is written')
})

test('offline only by its own deadline; excused before its turn, admitted on return', async (t) => {
  const hub = await bundled(t, ['a', 'b'], 10)
  await reportAll(hub, ['a', 'b'])
  await hub.summarize('g', 1000, { 'c-a': 1, 'c-b': 119 })
  await hub.clock.advance(1000)
  assert.match(condition(await hub.find(Cluster, 'b'), 'Available'), /^True Seen/)
  await hub.summarize('g', 1010, { 'c-a': 1, 'c-b': 129 })
  await hub.clock.advance(1000)
  const gone = await hub.find(Cluster, 'b')
  assert.equal(
    condition(gone, 'Available'),
    'False Silent: The agent has not contacted the hub within the offline tolerance of 2m.',
  )
  assert.equal(gone?.status?.state, 'Offline')

  await edit(hub, manifest('two'))
  assert.deepEqual(await generations(hub, ['a', 'b']), [2, 1])
  await reportAll(hub, ['a'])
  const rollout = await hub.find(Rollout, 'default/hello-g2')
  assert.equal(rollout?.status?.phase, 'Completed')
  assert.match(condition(rollout, 'Ready'), /1 of 2 ready; b is offline and is admitted when it returns\./)

  await hub.summarize('g', 1100, { 'c-a': 1, 'c-b': 2 })
  await hub.clock.advance(3000)
  assert.deepEqual(await generations(hub, ['a', 'b']), [2, 2])
  assert.equal((await hub.find(Rollout, 'default/hello-g2'))?.status?.phase, 'Progressing')
})

test('a hub that was away marks no cluster offline', async (t) => {
  const hub = await bundled(t, ['a'], 10)
  await reportAll(hub, ['a'])
  await hub.summarize('g', 1000, { 'c-a': 1 })
  // No summaries for an hour: the hub is blind.
  await hub.clock.advance(3_600_000)
  await hub.report('a', 'Ready')
  await hub.clock.advance(5000)
  assert.match(condition(await hub.find(Cluster, 'a'), 'Available'), /^True/)
  // It was paused and says so: the long silence was its own.
  await hub.summarize('g', 5, { 'c-a': 3600 })
  await hub.clock.advance(5000)
  assert.match(condition(await hub.find(Cluster, 'a'), 'Available'), /^True/)
  // It starts again and has heard no agent yet.
  await hub.restart()
  await hub.summarize('g', 100, {})
  await hub.clock.advance(5000)
  assert.match(condition(await hub.find(Cluster, 'a'), 'Available'), /^True/)
  await hub.summarize('g', 130, {})
  await hub.clock.advance(5000)
  assert.match(condition(await hub.find(Cluster, 'a'), 'Available'), /^False/)
})

test('placements explain themselves, also without selected clusters', async (t) => {
  const hub = await home(t)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.clock.advance(1000)
  const ready = async () => condition(await hub.find(Placement, 'default/everywhere'), 'Ready')
  assert.match(await ready(), /^True NoClusters: No cluster is registered yet/)
  assert.match(condition(await hub.find(Placement, 'default/everywhere'), 'Empty'), /^True NoClusters/)
  await hub.create(buildBundle(BUNDLE, { placement: 'everywhere' }), Bundle)
  await join(hub, 'dc', { tier: 'dc' })
  await hub.clock.advance(3000)
  const unplaced = async () => condition(await hub.find(Bundle, BUNDLE), 'Unplaced')
  assert.match(
    await unplaced(),
    /^True PlacementEmpty: Placement everywhere selects no cluster, so the Bundle reaches none/,
  )
  const stateOf = async (name: string) => (await hub.find(Cluster, name))?.status?.state
  const heard = async () => {
    await reportAll(hub, [])
    await hub.summarize('g', 100, { 'c-dc': 1 })
    await hub.clock.advance(3000)
  }
  await heard()
  assert.equal(await stateOf('dc'), 'NotSelected', 'nothing reaches it')
  assert.equal(await ready(), 'True NoClusters: No cluster is selected: 1 with labels that do not match the selector.')
  await join(hub, 'a')
  await hub.clock.advance(1000)
  assert.equal(await ready(), 'True Decided: 1 cluster selected.')
  assert.match(condition(await hub.find(Placement, 'default/everywhere'), 'Empty'), /^False Decided/)
  await hub.clock.advance(3000)
  assert.match(await unplaced(), /^False Placed/)
  const page = await hub.find(PlacementDecision, 'default/everywhere-0')
  assert.deepEqual(page?.spec.decisions, [{ cluster: 'a', reason: 'labels match: tier=store', state: 'Selected' }])

  hub.writes.length = 0
  await join(hub, 'dc2', { tier: 'dc' })
  await hub.clock.advance(3000)
  assert.deepEqual(
    hub.writes.filter((write) => write.includes('placement')),
    [],
    'a cluster elsewhere concerns no placement',
  )
})

test('pausing holds, resuming goes on, and a person keeps what they set', async (t) => {
  const hub = await bundled(t, ['a', 'b'], 1)
  const pause = async (paused: boolean) => {
    const rollout = await hub.client.get(Rollout, { namespace: 'default', name: 'hello-g1' })
    await hub.client.update(Rollout, { ...rollout, spec: { ...rollout.spec, paused } })
    await hub.clock.advance(2000)
  }
  await pause(true)
  await reportAll(hub, ['a'])
  assert.deepEqual(await generations(hub, ['a', 'b']), [1, 0])
  const rollout = await hub.find(Rollout, 'default/hello-g1')
  assert.equal(rollout?.status?.phase, 'Paused')
  assert.match(condition(rollout, 'Held'), /^True Paused: .*Resume it with `flotilla rollout resume \S+ -n \S+`\.$/)
  await pause(false)
  assert.deepEqual(await generations(hub, ['a', 'b']), [1, 1])
})

test('a cluster registered anew under its name starts its own chain', async (t) => {
  const hub = await bundled(t, ['a'], 1)
  await reportAll(hub, ['a'])
  await hub.client.delete(Cluster, { name: 'a' })
  await hub.clock.advance(3000)
  await hub.create(buildCluster('a', { labels: { tier: 'store' }, spec: { id: 'c-new' } }), Cluster)
  await hub.summarize('g', 10, { 'c-new': 1 })
  await hub.clock.advance(3000)
  const assignment = await hub.find(Assignment, 'a')
  assert.deepEqual([assignment?.spec.clusterId, assignment?.spec.revision], ['c-new', 1])
})

test('several bundles of one moment are few documents: at most one revision per second', async (t) => {
  const hub = await home(t, ['a'])
  await hub.create(buildPlacement('default/everywhere'), Placement)
  await hub.clock.advance(1000)
  for (let i = 0; i < 10; i++) await hub.create(buildBundle(`default/b${i}`), Bundle)
  await hub.clock.advance(3000)
  const assignment = await hub.find(Assignment, 'a')
  assert.equal(assignment?.spec.entries.length, 10)
  assert.ok(assignment.spec.revision <= 2, `revision ${assignment.spec.revision}`)
})

test('a join token says when it can no longer be used', async (t) => {
  const hub = await home(t)
  const spec = {
    tokenHash: 'a'.repeat(64),
    clusterName: 'x',
    expiresAt: '2026-01-01T00:01:00Z',
    uses: 1,
    labels: {},
    accept: 'Auto' as const,
  }
  await hub.create(build(JoinToken, 'x', { spec }), JoinToken)
  await hub.clock.advance(1000)
  assert.equal(condition(await hub.find(JoinToken, 'x'), 'Usable'), 'True Valid: Valid until 2026-01-01T00:01:00Z.')
  await hub.clock.advance(60_000)
  assert.match(condition(await hub.find(JoinToken, 'x'), 'Usable'), /^False Expired/)
})

test('groups of controllers in two processes do the same work', async (t) => {
  const hub = await startControllersHome([], undefined, undefined, [['controllers'], ['renderers']])
  t.after(() => hub.close())
  for (const name of ['a', 'b']) await join(hub, name)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle(BUNDLE, { manifests: manifest('one'), rollout: { concurrency: 10 } }), Bundle)
  await hub.clock.advance(3000)
  await reportAll(hub, ['a', 'b'])
  await edit(hub, manifest('two'))
  await hub.restart()
  await hub.clock.advance(3000)
  await reportAll(hub, ['a', 'b'])
  assert.deepEqual(await generations(hub, ['a', 'b']), [2, 2])
  assert.match(condition(await hub.find(Bundle, BUNDLE), 'Ready'), /^True/)
})
