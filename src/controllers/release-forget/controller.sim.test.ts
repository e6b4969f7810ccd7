/** Histories that grow: only objects that are not needed are deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Approval } from '../../kinds/native/approval.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'

const DAY = 86_400_000

/** A home with stores that have a bundle, and how to let them report. */
async function home(t: TestContext, clusters: readonly string[], bundle: Partial<Bundle['spec']>) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of clusters) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const placement = buildPlacement('default/everywhere', { tier: 'store' })
  placement.spec.guard = { maxDropped: '100%' }
  await hub.create(placement, Placement)
  await hub.create(buildBundle('default/hello', bundle), Bundle)
  const served = async (...names: readonly string[]) => {
    await hub.clock.advance(3000)
    for (const name of names) await hub.report(name, 'Ready')
    await hub.clock.advance(3000)
  }
  await served(...clusters)
  const names = async (type: ResourceType<KubeObject>) =>
    (await hub.client.list(type)).items.map(({ metadata }) => metadata.name).sort()
  return { hub, served, names }
}

test('of removals that are over the last ones stay', async (t) => {
  const { hub, served, names } = await home(t, ['a', 'b'], { rollout: { concurrency: 5, history: 2 } })
  const label = async (tier: string) => {
    await hub.client.patch(Cluster, { name: 'b' }, { type: 'merge', body: { metadata: { labels: { tier } } } })
    await hub.clock.advance(3000)
  }
  for (let round = 0; round < 5; round++) {
    await label('lab')
    await hub.report('b', 'Ready', undefined, [
      { bundle: 'default/hello', generation: 1, state: 'Removed', deleted: 1 },
    ])
    await hub.clock.advance(3000)
    await label('store')
    await served('b')
  }
  const removals = (await names(Rollout)).filter((name) => name.includes('-removal-'))
  assert.equal(removals.length, 2)
  assert.equal((await hub.client.get(Assignment, { name: 'b' })).spec.entries.length, 1)
})

test('what is left of a deleted Bundle goes after a week, when no cluster knows of it any more', async (t) => {
  const { hub, names } = await home(t, ['a'], {})
  await hub.client.delete(Bundle, { namespace: 'default', name: 'hello' })
  await hub.clock.advance(3000)
  const receipt = { bundle: 'default/hello', generation: 1, state: 'Removed', deleted: 1 } as const
  await hub.report('a', 'Ready', undefined, [receipt])
  const daysLater = async (days: number) => {
    hub.clock.jumpWall(days * DAY)
    await hub.restart()
    await hub.clock.advance(3000)
  }
  await daysLater(8)
  assert.deepEqual(await names(Release), ['hello-g1'], 'its receipt is still shown')
  await hub.report('a', 'Ready')
  await daysLater(1)
  assert.deepEqual([await names(Release), await names(Rollout)], [[], []])
  hub.writes.length = 0
  await hub.create(buildBundle('default/hello', {}), Bundle)
  await hub.clock.advance(3000)
  const [entry] = (await hub.client.get(Assignment, { name: 'a' })).spec.entries
  assert.equal(entry?.bundle, 'default/hello', 'and its name can be used again')
})

test('of many releases the last ones stay, and those that a store still has', async (t) => {
  const rollout = { concurrency: 5, history: 2 }
  const manifests = (i: number) => configMapManifest('hello', { greeting: `v${i}` })
  const { hub, served, names } = await home(t, ['a', 'b'], { manifests: manifests(1), rollout })
  const word = { rollout: 'hello-g1', ring: 'all', decision: 'Approve', author: 'system:flotilla:hub' } as const
  await hub.create(build(Approval, 'default/said', { spec: word }), Approval)
  // b never reports again on what it gets: its documents go on, and what was last well there stays.
  for (let i = 2; i <= 7; i++) {
    const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
    await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, manifests: manifests(i) } })
    await served('a')
  }
  const [entry] = (await hub.client.get(Assignment, { name: 'b' })).spec.entries
  assert.equal(entry?.before?.generation, 1, 'what b goes back to')
  // When g7 came, a was at g6 and would have gone back to g5.
  assert.deepEqual(await names(Release), ['hello-g1', 'hello-g5', 'hello-g6', 'hello-g7'])
  assert.deepEqual(await names(Rollout), ['hello-g1', 'hello-g5', 'hello-g6', 'hello-g7'])
  assert.ok(await hub.find(Approval, 'default/said'))

  await served('b')
  const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, manifests: manifests(8) } })
  await served('a', 'b')
  await served('a', 'b')
  assert.deepEqual(await names(Release), ['hello-g7', 'hello-g8'])
  assert.equal(await hub.find(Approval, 'default/said'), undefined, 'words about a Rollout go with it')
  const entries = (await hub.client.get(Assignment, { name: 'b' })).spec.entries.map(({ generation }) => generation)
  assert.deepEqual(entries, [8])
  hub.writes.length = 0
  await hub.clock.advance(120_000)
  assert.deepEqual(hub.writes, [], 'and then nothing is written')
})
