/** How a cluster leaves the fleet: the controllers together, on the real engine and the real embedded API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

const BUNDLE = 'default/hello'

async function running(t: TestContext, names: readonly string[]): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of names) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle(BUNDLE, { manifests: configMapManifest('hello', { a: '1' }) }), Bundle)
  await hub.clock.advance(3000)
  for (const name of names) await hub.report(name, 'Ready')
  await hub.clock.advance(3000)
  return hub
}

async function decommission(hub: ControllersHome, name: string, asked: object | null): Promise<void> {
  const body = { spec: { decommission: asked } }
  await hub.client.patch(Cluster, { name }, { type: 'merge', body })
  await hub.clock.advance(3000)
}

async function conditionOf(hub: ControllersHome, name: string): Promise<string> {
  const cluster = await hub.client.get(Cluster, { name })
  const found = cluster.status?.conditions?.find(({ type }) => type === 'Decommissioned')
  return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
}

const AT = '2026-01-01T00:00:00Z'
const receipt = (left: string[] = []) => [
  { bundle: BUNDLE, generation: 1, state: 'Removed' as const, deleted: 1, left, leftTotal: left.length },
]

test('a cluster leaves its placements, its bundles are removed, and only then its access goes', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await decommission(hub, 'b', { policy: 'Remove', at: AT, reason: 'store closed' })
  assert.equal(await conditionOf(hub, 'b'), 'False Leaving: Waits for 1 bundle to be removed: default/hello.')
  const { content } = await hub.documentOf('b')
  assert.deepEqual(content, {
    entries: [],
    tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete', cause: 'unplaced' }],
  })
  const [page] = (await hub.client.list(PlacementDecision, { namespace: 'default' })).items
  assert.deepEqual(
    page?.spec.decisions.map(({ cluster }) => cluster),
    ['a'],
  )
  await hub.restart()
  await hub.clock.advance(5000)
  assert.equal((await hub.client.get(Cluster, { name: 'b' })).spec.accepted, true, 'not before the receipt')

  await hub.report('b', 'Ready', undefined, receipt(['PersistentVolumeClaim default/data: it may hold data']))
  await hub.clock.advance(5000)
  assert.match(await conditionOf(hub, 'b'), /^False Cleared: .* the agent is being told to stop/)
  const last = await hub.documentOf('b')
  assert.deepEqual([last.terminal, last.requires.includes('terminal/v1')], [{ at: AT, reason: 'store closed' }, true])
  await hub.restart()
  await hub.clock.advance(5000)
  assert.equal((await hub.client.get(Cluster, { name: 'b' })).spec.accepted, true, 'not before it has read that')
  await hub.report('b', 'Ready', undefined, receipt(['PersistentVolumeClaim default/data: it may hold data']))
  await hub.clock.advance(5000)
  const { spec, status } = await hub.client.get(Cluster, { name: 'b' })
  assert.deepEqual(
    [spec.accepted, spec.refused?.verdict, spec.refused?.reason],
    [false, 'Revoked', 'decommissioned: store closed'],
  )
  assert.deepEqual(status?.decommission?.left, ['default/hello: PersistentVolumeClaim default/data: it may hold data'])
  assert.match(
    await conditionOf(hub, 'b'),
    /^True Revoked: Decommissioned\. Objects that stay in the cluster: default\/hello: Persistent/,
  )
  assert.equal((await hub.find(Assignment, 'a'))?.spec.entries.length, 1, 'the others keep theirs')
  const before = hub.writes.length
  await hub.clock.advance(60_000)
  assert.equal(hub.writes.length, before, 'and then nothing is written')
})

test('Orphan lets everything go without a cause, so that nothing is deleted whatever the bundles say', async (t) => {
  const hub = await running(t, ['a'])
  const others = ['b2', 'b3', 'b4', 'b5', 'b6', 'b7']
  for (const name of others) {
    await hub.create(buildBundle(`default/${name}`, { manifests: configMapManifest(name, {}) }), Bundle)
  }
  await hub.clock.advance(5000)
  await decommission(hub, 'a', { policy: 'Orphan', at: AT })
  const { content } = await hub.documentOf('a')
  assert.deepEqual(content.entries, [], 'more than the guard lets go unasked: a person has decided')
  assert.deepEqual(
    content.tombstones,
    [...others.map((name) => `default/${name}`), BUNDLE].map((bundle) => ({ bundle, generation: 1, policy: 'Orphan' })),
  )
})

test('taken back before it is revoked, the cluster gets its bundles again', async (t) => {
  const hub = await running(t, ['a'])
  await decommission(hub, 'a', { policy: 'Remove', at: AT })
  await decommission(hub, 'a', null)
  assert.equal(await conditionOf(hub, 'a'), '-')
  assert.equal((await hub.client.get(Cluster, { name: 'a' })).status?.decommission, undefined)
  await hub.report('a', 'Ready', undefined, receipt())
  await hub.clock.advance(5000)
  const assignment = await hub.find(Assignment, 'a')
  assert.deepEqual(
    [assignment?.spec.entries.map(({ bundle }) => bundle), assignment?.spec.tombstones],
    [[BUNDLE], undefined],
  )
  assert.equal((await hub.client.get(Cluster, { name: 'a' })).spec.accepted, true)
})

test('a silent cluster is waited for, unless a person says not to; then what it had is listed', async (t) => {
  const hub = await running(t, ['a'])
  const key = { name: 'a' }
  const conditions = [{ type: 'Available', status: 'False', reason: 'Silent', message: 'x', lastTransitionTime: AT }]
  const fallSilent = async () => {
    const cluster = await hub.client.get(Cluster, key)
    const others = (cluster.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
    const body = { status: { conditions: [...others, ...conditions] } }
    await hub.client.patch(Cluster, key, { type: 'merge', body }, { subresource: 'status' })
  }
  await decommission(hub, 'a', { policy: 'Remove', at: AT })
  await hub.clock.advance(3_600_000)
  assert.equal((await hub.client.get(Cluster, key)).spec.accepted, true, 'silence alone revokes nothing')
  await decommission(hub, 'a', { policy: 'Remove', at: AT, forceUnreachable: true })
  await fallSilent()
  await hub.clock.advance(3000)
  const { spec, status } = await hub.client.get(Cluster, key)
  assert.equal(spec.refused?.verdict, 'Revoked')
  assert.deepEqual(status?.decommission?.left, ['default/hello generation 1: the cluster was offline'])
})

test('a decommissioned cluster is forgotten so long after its access is gone as was asked for', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await decommission(hub, 'b', { policy: 'Remove', at: AT, forgetAfter: '2h' })
  await hub.report('b', 'Ready', undefined, receipt())
  await hub.clock.advance(5000)
  await hub.report('b', 'Ready', undefined, receipt())
  await hub.clock.advance(5000)
  assert.match(await conditionOf(hub, 'b'), /^True Revoked: .* The name can be used again at \S+Z\.$/)
  await hub.clock.advance(7_000_000)
  assert.ok(await hub.find(Cluster, 'b'), 'not yet')
  await hub.clock.advance(300_000)
  assert.equal(await hub.find(Cluster, 'b'), undefined)
  assert.ok(await hub.find(Cluster, 'a'))
})
