/** Histories that grow: what nobody needs goes, and nothing that anybody needs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Approval } from '../../kinds/approval.ts'
import { Assignment } from '../../kinds/assignment.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { Cluster } from '../../kinds/cluster.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Placement } from '../../kinds/placement.ts'
import { Release } from '../../kinds/release.ts'
import { Rollout } from '../../kinds/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/builders.ts'
import { startControllersHome } from '../../testing/controllers-home.ts'

test('of many releases the last ones stay, and those that a store still has', async (t) => {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of ['a', 'b']) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  const rollout = { concurrency: 5, history: 2 }
  const manifests = (i: number) => configMapManifest('hello', { greeting: `v${i}` })
  await hub.create(buildBundle('default/hello', { manifests: manifests(1), rollout }), Bundle)
  const served = async (...names: readonly string[]) => {
    await hub.clock.advance(3000)
    for (const name of names) await hub.report(name, 'Ready')
    await hub.clock.advance(3000)
  }
  await served('a', 'b')
  const word = { rollout: 'hello-g1', ring: 'all', decision: 'Approve', author: 'system:flotilla:hub' } as const
  await hub.create(build(Approval, 'default/said', { spec: word }), Approval)
  // b never reports again on what it gets: its documents go on, and what was last well there stays.
  for (let i = 2; i <= 7; i++) {
    const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
    await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, manifests: manifests(i) } })
    await served('a')
  }
  const names = async (type: ResourceType<KubeObject>) =>
    (await hub.client.list(type)).items.map(({ metadata }) => metadata.name).sort()
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
