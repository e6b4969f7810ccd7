/** How bundles leave a cluster, and what the agent says about it, against an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import type { KubeObject, ResourceType, UnknownObject } from '../../../kinds/meta.ts'
import { createAgentUnderTest } from '../../../testing/agents/agent-under-test.ts'
import type { AgentUnderTest, AgentUnderTestOptions } from '../../../testing/agents/agent-under-test.ts'
import { configMap, deployment, startTestHub } from '../../../testing/hub/test-hub.ts'
import type { TestHub } from '../../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const NetworkPolicy: ResourceType<KubeObject> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  scope: 'Namespaced',
}
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

async function running(
  names: readonly string[],
  options: BundleOptions = {},
  more: Partial<AgentUnderTestOptions> = {},
) {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode, ...more })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: names.map(objectOf), options } })
  await site.until(BUNDLE, 'Ready')
  return { hub, site }
}

// What is late comes in a later wave, and so goes in an earlier one.
function objectOf(name: string): UnknownObject {
  const object = configMap(name)
  if (!name.startsWith('late-')) return object
  return { ...object, metadata: { ...object.metadata, annotations: { 'flotilla.dev/wave': '1' } } }
}

const bury = (hub: TestHub, policy: 'Delete' | 'Orphan' = 'Delete') =>
  hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy, cause: 'unplaced' }] })

async function said(hub: TestHub, site: AgentUnderTest, state: string) {
  const row = () =>
    site
      .agent()
      .report()
      .removals?.find(({ bundle }) => bundle === BUNDLE)
  await hub.clock.runUntil(() => row()?.state === state, {
    withinMs: 120_000,
    what: `${state} of ${JSON.stringify(row())}`,
  })
  return row()!
}

describe('a receipt', () => {
  it('counts every object once, wherever the agent is killed between two writes', async () => {
    let points = 0
    for (let point = 1; ; point++) {
      const { hub, site } = await running(['a', 'late-b', 'late-d', 'c'], { delete: { orphan: [{ name: 'c' }] } })
      // One object of the first wave to go goes later than the others, so that what is done is written down in between.
      const held = (await site.configMap('late-b'))!
      await site.update('ConfigMap', { ...held, metadata: { ...held.metadata, finalizers: ['test/held'] } })
      site.door.failAfterWrites = site.door.writes.length + point
      site.door.losesLast = point % 2 === 0
      await bury(hub)
      await hub.clock.advance(10_000)
      const isKilled = site.door.writes.length >= site.door.failAfterWrites
      await site.stop()
      site.door.failAfterWrites = Number.POSITIVE_INFINITY
      site.door.losesLast = false
      await site.start()
      await hub.clock.advance(5000)
      const going = await site.configMap('late-b')
      if (going) await site.update('ConfigMap', { ...going, metadata: { ...going.metadata, finalizers: [] } })
      const { deleted, left, leftTotal } = await said(hub, site, 'Removed')
      assert.deepEqual([deleted, left?.length, leftTotal], [3, 1, 1], `killed after ${point} writes`)
      for (const part of open.splice(0)) await part.close()
      if (!isKilled) break
      points = point
    }
    assert.ok(points >= 5, `only ${points} writes to be killed after`)
  })

  it('says how many objects were deleted, and which were left, with why', async () => {
    const { hub, site } = await running(['a', 'b', 'kept'], { delete: { orphan: [{ name: 'kept' }] } })
    await bury(hub)
    const row = await said(hub, site, 'Removed')
    assert.deepEqual(
      { ...row, at: '' },
      {
        bundle: BUNDLE,
        generation: 1,
        state: 'Removed',
        deleted: 2,
        left: ['ConfigMap default/kept: a rule of the bundle keeps it'],
        leftTotal: 1,
        at: '',
      },
    )
    assert.match(row.at ?? '', /Z$/)
    assert.deepEqual([await site.configMap('a'), await site.configMap('b')], [undefined, undefined])
    assert.ok(await site.configMap('kept'))
  })

  it('CVE-2024-7598: comes only after workloads are gone with their Pods, and NetworkPolicies go last', async () => {
    const { hub, site } = await running([])
    const policy: UnknownObject = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'deny', namespace: 'default' },
      spec: { podSelector: {} },
    }
    // The finalizer stands for Pods that still end.
    const web = deployment('web')
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [policy, web] } })
    await hub.clock.runUntil(() => site.agent().report().bundles[0]?.generation === 2, { withinMs: 30_000, what: 'g2' })
    await hub.clock.advance(10_000)
    const { client } = site.cluster
    const key = { namespace: 'default', name: 'web' }
    const hold = (finalizers: readonly string[]) =>
      client.patch(Deployment, key, { type: 'merge', body: { metadata: { finalizers } } })
    await hold(['example.com/pods'])
    await hub.assign(
      'store-1',
      {},
      { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete', cause: 'unplaced' }] },
    )
    await hub.clock.advance(60_000)
    assert.ok((await client.get(Deployment, key)).metadata.deletionTimestamp)
    assert.ok(await client.get(NetworkPolicy, { namespace: 'default', name: 'deny' }), 'the policy still protects')
    const row = site.agent().report().removals?.[0]
    assert.match(row?.message ?? '', /waiting until Deployment default\/web and its Pods are deleted/)
    await hold([])
    await said(hub, site, 'Removed')
    await assert.rejects(client.get(NetworkPolicy, { namespace: 'default', name: 'deny' }), { reason: 'NotFound' })
  })

  it('is not forgotten when the answer to its last write is lost', async () => {
    const { hub, site } = await running(['a', 'kept'], { delete: { orphan: [{ name: 'kept' }] } })
    site.door.loseAnswerTo = 'DELETE /api/v1/namespaces/flotilla-agent/configmaps/flotilla-inventory'
    await bury(hub)
    await hub.clock.runUntil(() => site.door.loseAnswerTo === undefined, { withinMs: 60_000, what: 'the loss' })
    await hub.clock.advance(60_000)
    const { deleted, left } = await said(hub, site, 'Removed')
    assert.deepEqual([deleted, left], [1, ['ConfigMap default/kept: a rule of the bundle keeps it']])
  })

  it('outlives a restart, and gives way when the bundle comes again', async () => {
    const { hub, site } = await running(['a'])
    await bury(hub)
    const before = await said(hub, site, 'Removed')
    await site.stop()
    await site.start()
    assert.deepEqual(await said(hub, site, 'Removed'), before)
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    assert.equal(site.agent().report().removals, undefined)
    await bury(hub)
    await hub.clock.runUntil(async () => !(await site.configMap('a')), { withinMs: 60_000, what: 'the second removal' })
    assert.equal((await said(hub, site, 'Removed')).deleted, 1)
  })

  it('is kept after its tombstone is gone from the document', async () => {
    const { hub, site } = await running(['a'])
    await bury(hub)
    await said(hub, site, 'Removed')
    await hub.assign('store-1', {})
    await hub.clock.advance(60_000)
    assert.equal(site.agent().report().removals?.[0]?.state, 'Removed')
  })
})

describe('a removal', () => {
  it('with the word Orphan of the Bundle deletes nothing, whatever the cluster had heard before', async () => {
    const { hub, site } = await running(['a', 'b'])
    await bury(hub, 'Orphan')
    const row = await said(hub, site, 'Orphaned')
    assert.deepEqual([row.deleted, row.leftTotal], [0, 2])
    assert.equal(row.left?.[0], 'ConfigMap default/a: the bundle keeps what is unplaced')
    assert.ok((await site.configMap('a')) && (await site.configMap('b')))
  })

  it('that orphans lets go for good: what a former life of the bundle left is not deleted with a later one', async () => {
    const { hub, site } = await running(['a'])
    await bury(hub, 'Orphan')
    await said(hub, site, 'Orphaned')
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a'), configMap('b')] } })
    await site.until(BUNDLE, 'Ready')
    await hub.assign(
      'store-1',
      {},
      { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete', cause: 'unplaced' }] },
    )
    const row = await said(hub, site, 'Removed')
    assert.deepEqual([row.deleted, row.left], [1, ['ConfigMap default/a: it was there before the bundle']])
    assert.ok(await site.configMap('a'))
    assert.equal(await site.configMap('b'), undefined)
  })

  it('that may not be carried out says why, and deletes nothing', async () => {
    const { hub, site } = await running(['a', 'b', 'c'], {}, { ceiling: { maxPrune: 2 } })
    await bury(hub)
    assert.match(
      (await said(hub, site, 'Removing')).message ?? '',
      /3 objects would be deleted and this cluster allows 2/,
    )
    for (const name of ['a', 'b', 'c']) assert.ok(await site.configMap(name), name)
  })

  it('of something that was never here is a receipt all the same', async () => {
    const { hub, site } = await running(['a'])
    const other = { bundle: 'default/never', generation: 4, policy: 'Delete' as const, cause: 'unplaced' as const }
    const objects = [configMap('a')]
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects } }, { tombstones: [other] })
    const row = () => site.agent().report().removals?.[0]
    await hub.clock.runUntil(() => row()?.state === 'Removed', { withinMs: 60_000, what: 'receipt' })
    assert.equal(row()?.message, 'the cluster has no record of this bundle')
    assert.ok(await site.configMap('a'))
  })
})
