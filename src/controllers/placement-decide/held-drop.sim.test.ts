/** A drop that the guard holds, and its release: the controllers together, on the real engine and embedded API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

/** A home with stores; each Bundle has a Placement of the same name. */
async function running(t: TestContext, clusters: readonly string[], bundles: readonly string[]) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of clusters) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  for (const name of bundles) {
    await hub.create(buildPlacement(`default/${name}`, { tier: 'store' }), Placement)
    const manifests = configMapManifest(name, { a: '1' })
    await hub.create(buildBundle(`default/${name}`, { placement: name, manifests }), Bundle)
  }
  for (let round = 0; round < 3; round++) {
    await hub.clock.advance(3000)
    for (const name of clusters) await hub.report(name, 'Ready')
  }
  return hub
}

const entriesOf = async (hub: ControllersHome, cluster: string) =>
  (await hub.find(Assignment, cluster))?.spec.entries.map(({ bundle }) => bundle).sort() ?? []

const heldOf = async (hub: ControllersHome) =>
  (await hub.client.list(Placement, { namespace: 'default' })).items.filter(({ status }) => status?.held)

async function release(hub: ControllersHome, { metadata: { name }, status }: Placement): Promise<void> {
  const body = { metadata: { annotations: { [ALLOW_DROP_ANNOTATION]: status!.held!.token } } }
  await hub.client.patch(Placement, { namespace: 'default', name }, { type: 'merge', body })
  await hub.clock.advance(5000)
}

async function relabel(hub: ControllersHome, name: string, tier: string): Promise<void> {
  await hub.client.patch(Cluster, { name }, { type: 'merge', body: { metadata: { labels: { tier } } } })
  await hub.clock.advance(5000)
}

test('one wrong letter in a selector removes nothing before a person releases it, also across a restart', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const hub = await running(t, names, ['shop'])
  const select = async (tier: string) => {
    const body = { spec: { clusterSelector: { matchLabels: { tier } } } }
    await hub.client.patch(Placement, { namespace: 'default', name: 'shop' }, { type: 'merge', body })
    await hub.clock.advance(5000)
  }
  await select('stroe')
  const [held] = await heldOf(hub)
  const condition = held?.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(condition?.reason, 'DropHeld')
  assert.match(
    condition.message,
    /^The change would drop 5 of 5 clusters; .* No cluster would keep the Bundles of the Placement\. a: the selector wants tier=stroe, but tier is "store"; and 4 more\./,
  )
  await hub.restart()
  await hub.clock.advance(60_000)
  assert.deepEqual(
    (await heldOf(hub)).map(({ status }) => status?.held),
    [held!.status!.held],
    'asked once, since then',
  )
  for (const name of names) assert.deepEqual(await entriesOf(hub, name), ['default/shop'])

  await select('store')
  assert.deepEqual(await heldOf(hub), [], 'taken back')
  await select('stroe')
  const [again] = await heldOf(hub)
  assert.notEqual(again?.status?.held?.token, held!.status!.held!.token, 'a new edit has a new token')
  await release(hub, again!)
  assert.deepEqual(await heldOf(hub), [])
  for (const name of names) assert.deepEqual(await entriesOf(hub, name), [])
  const { items } = await hub.client.list(Rollout, { namespace: 'default' })
  assert.deepEqual(items.filter(({ spec }) => spec.removal).length, 1, 'and goes as a removal with rings')
})

test('a cluster that loses the label of all its Bundles keeps the last one until a person says so', async (t) => {
  const hub = await running(t, ['a', 'b'], ['shop', 'till'])
  await relabel(hub, 'b', 'lab')
  const held = await heldOf(hub)
  assert.equal(held.length, 1, 'one of the two Placements asks')
  assert.match(
    held[0]!.status!.held!.message!,
    /^The change would drop 1 of 2 clusters\. No Bundle would be left on b\. b: the selector wants tier=store, but tier is "lab"\.$/,
  )
  assert.equal((await entriesOf(hub, 'b')).length, 1)
  assert.equal((await entriesOf(hub, 'a')).length, 2)
  await relabel(hub, 'b', 'store')
  assert.deepEqual(await heldOf(hub), [])
})

test('a cluster that is decommissioned, or joins, does not wait for a change that is held', async (t) => {
  const hub = await running(t, ['a', 'b', 'c'], ['shop'])
  await relabel(hub, 'c', 'lab')
  assert.equal((await heldOf(hub)).length, 1)
  await hub.create(buildCluster('d', { labels: { tier: 'store' } }), Cluster)
  await hub.report('d', 'Ready')
  await hub.clock.advance(5000)
  assert.deepEqual(await entriesOf(hub, 'd'), ['default/shop'])
  const decommission = { at: '2026-01-01T00:00:00Z', policy: 'Remove' }
  await hub.client.patch(Cluster, { name: 'c' }, { type: 'merge', body: { spec: { decommission } } })
  await hub.clock.advance(10_000)
  assert.deepEqual(await heldOf(hub), [])
  assert.deepEqual(await entriesOf(hub, 'c'), [])
})
