/** How an agent ends when its cluster left the fleet, through a real gateway. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { createApplicant } from '../../testing/agents/hostile-agent.ts'
import { configMap, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { TERMINAL_FEATURE } from '../../wire/document/signed-document.ts'

const BUNDLE = 'default/hello'
const AT = '2026-01-01T00:00:00Z'
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

async function running() {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
  await site.until(BUNDLE, 'Ready')
  return { hub, site }
}

async function decommission(hub: TestHub, isRevoked: boolean): Promise<void> {
  const refused = { verdict: 'Revoked', at: AT }
  const spec = { decommission: { policy: 'Remove', at: AT }, ...(isRevoked ? { accepted: false, refused } : {}) }
  await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec } })
}

// With tombstones: an agent that is told that it left carries nothing out any more.
const lastWord = (hub: TestHub) =>
  hub.assign(
    'store-1',
    {},
    {
      terminal: { at: AT, reason: 'store closed' },
      requires: ['sets/v1', TERMINAL_FEATURE],
      tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete', cause: 'unplaced' }],
    },
  )

describe('a terminal document', () => {
  it('ends the agent cleanly, after it has said that it read it, and leaves what runs', async () => {
    const { hub, site } = await running()
    await decommission(hub, false)
    await lastWord(hub)
    await hub.clock.runUntil(() => site.hasEnded(), { withinMs: 120_000, what: 'the end of the agent' })
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-1' })).spec.revision, 2)
    assert.ok(await site.configMap('a'))
    await site.stop()
    await site.start()
    await hub.clock.runUntil(() => site.hasEnded(), { withinMs: 120_000, what: 'the end of a restarted agent' })
    assert.ok(await site.configMap('a'))
  })

  it('is the one thing a revoked cluster may read when it returns', async () => {
    const { hub, site } = await running()
    await site.stop()
    await decommission(hub, true)
    await lastWord(hub)
    await site.start()
    await hub.clock.runUntil(() => site.hasEnded(), { withinMs: 600_000, what: 'the end of the agent' })
    assert.ok(await site.configMap('a'))
    assert.equal(
      (await hub.client.get(ClusterReport, { name: 'store-1' })).spec.revision,
      1,
      'a revoked cluster reports nothing',
    )
  })

  it('is read also by one whose certificate has run out meanwhile, which gets no other', async () => {
    const { hub, site } = await running()
    await site.stop()
    await decommission(hub, true)
    await lastWord(hub)
    hub.clock.jumpWall(60 * 86_400_000)
    const before = (await hub.client.get(Cluster, { name: 'store-1' })).status?.certificate
    await site.start()
    await hub.clock.runUntil(() => site.hasEnded(), { withinMs: 600_000, what: 'the end of the agent' })
    assert.ok(await site.configMap('a'))
    assert.deepEqual((await hub.client.get(Cluster, { name: 'store-1' })).status?.certificate, before)
  })

  it('is given neither to another agent nor without a signature', async () => {
    const { hub } = await running()
    const { id } = (await hub.client.get(Cluster, { name: 'store-1' })).spec
    const who = createApplicant(hub, 'other')
    const other = await who.join(await hub.token('two', { clusterName: 'store-2' }))
    await hub.clock.settle()
    assert.equal((await who.last(id)).status, 400, 'before there is one, with another key')
    assert.equal((await who.last(other.clusterId)).status, 403, 'with the right key, and none there')
    await decommission(hub, true)
    await lastWord(hub)
    await hub.clock.settle()
    assert.equal((await who.last(id)).status, 400, 'with another key')
    assert.equal((await who.last('c-unknown')).status, 401)
    assert.equal((await who.renew(id)).status, 400)
  })

  for (const isExpired of [false, true]) {
    it(`is not served to a cluster that was merely revoked${isExpired ? ', with its certificate expired' : ''}`, async () => {
      const { hub, site } = await running()
      await site.stop()
      await decommission(hub, true)
      if (isExpired) hub.clock.jumpWall(60 * 86_400_000)
      await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
      await site.start()
      await hub.clock.advance(120_000)
      assert.equal(site.hasEnded(), false)
      assert.equal(site.agent().report().revision, 1)
      assert.ok(await site.configMap('a'))
    })
  }
})
