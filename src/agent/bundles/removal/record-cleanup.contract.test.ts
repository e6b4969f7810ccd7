/**
 * Nothing of a bundle that is gone stays in the agent's own namespace: wherever the agent is killed, and whatever the
 * hub has forgotten by then.
 */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Secret } from '../../../kinds/builtin/core.ts'
import type { AgentUnderTest } from '../../../testing/agents/agent-under-test.ts'
import { chartContent, configMapTemplate } from '../../../testing/fixtures/chart-content.ts'
import { joinedAgents } from '../../../testing/agents/joined-agents.ts'
import { configMap } from '../../../testing/hub/test-hub.ts'
import type { TestBundle, TestHub } from '../../../testing/hub/test-hub.ts'
import { TERMINAL_FEATURE } from '../../../wire/document/signed-document.ts'
import { AGENT_NAMESPACE, CONFIG_MAPS } from '../../cluster/agent-objects.ts'

const APP = 'default/app'
const { joined, close } = joinedAgents()
afterEach(close)

const TOMBSTONE = { bundle: APP, generation: 2, policy: 'Delete' as const, cause: 'unplaced' as const }
const drawing = (generation: number): TestBundle => ({
  generation,
  content: chartContent({ 'cm.yaml': configMapTemplate('{{ randAlphaNum 12 }}') }),
})

/** The agent's inventories, their pages and what charts drew. */
async function recorded({ cluster: { client } }: AgentUnderTest): Promise<string[]> {
  const select = { namespace: AGENT_NAMESPACE }
  const labelled = { ...select, labelSelector: 'flotilla.dev/agent-state in (inventory, page)' }
  const found = [...(await client.list(CONFIG_MAPS, labelled)).items, ...(await client.list(Secret, select)).items]
  return found.map(({ metadata }) => metadata.name.replace(/-[0-9a-f]{16}/, ''))
}

async function ready(bundle: TestBundle): Promise<{ hub: TestHub; site: AgentUnderTest }> {
  const { hub, site } = await joined()
  await hub.assign('store-1', { [APP]: bundle })
  await site.until(APP, 'Ready')
  return { hub, site }
}

const removal = (site: AgentUnderTest) => site.agent().report().removals?.[0]?.state
const untilRemoved = (hub: TestHub, site: AgentUnderTest) =>
  hub.clock.runUntil(() => removal(site) === 'Removed', { withinMs: 120_000, what: 'a receipt' })

describe('what was recorded of a bundle', () => {
  it('goes with it, wherever the agent is killed', async () => {
    let points = 0
    for (let point = 0; ; point++) {
      const { hub, site } = await ready(drawing(1))
      site.door.failAfterWrites = site.door.writes.length + point
      await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
      await hub.clock.advance(10_000)
      const isKilled = site.door.writes.length >= site.door.failAfterWrites
      await site.stop()
      site.door.failAfterWrites = Number.POSITIVE_INFINITY
      await site.start()
      await untilRemoved(hub, site)
      await hub.clock.advance(10_000)
      assert.deepEqual(await recorded(site), [], `killed after ${point} writes`)
      assert.equal(await site.configMap('app'), undefined)
      await close()
      if (!isKilled) break
      points = point
    }
    assert.ok(points >= 3, `only ${points} writes to be killed after`)
  })

  for (const refused of ['/secrets/flotilla-frozen', '/configmaps/flotilla-inventory']) {
    it(`goes also when the hub has taken the receipt before the cluster lets it go: ${refused}`, async () => {
      for (const isRestarted of [false, true]) {
        const { hub, site } = await ready(drawing(1))
        site.door.refuses = refused
        await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
        await untilRemoved(hub, site)
        // What the hub does once it has the receipt.
        await hub.assign('store-1', {})
        await hub.clock.runUntil(() => site.agent().report().revision === 3, { withinMs: 60_000, what: 'the document' })
        if (isRestarted) await site.stop()
        site.door.refuses = undefined
        assert.ok((await recorded(site)).length > 0)
        if (isRestarted) await site.start()
        await hub.clock.advance(60_000)
        assert.deepEqual(await recorded(site), [])
        await close()
      }
    })
  }

  it('goes also when the cluster has left the fleet by then', async () => {
    const { hub, site } = await ready(drawing(1))
    site.door.refuses = '/secrets/flotilla-frozen'
    await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
    await untilRemoved(hub, site)
    const terminal = { at: '2026-01-01T00:00:00Z', reason: 'store closed' }
    await hub.assign('store-1', {}, { terminal, requires: ['sets/v1', TERMINAL_FEATURE] })
    const untilEnded = () => hub.clock.runUntil(() => site.hasEnded(), { withinMs: 120_000, what: 'the end' })
    await untilEnded()
    await site.stop()
    assert.deepEqual((await recorded(site)).toSorted(), ['flotilla-frozen', 'flotilla-inventory'])
    site.door.refuses = undefined
    await site.start()
    await untilEnded()
    assert.deepEqual(await recorded(site), [])
  })

  it('stays for one that still runs, whatever receipt there was of an earlier life', async () => {
    const { hub, site } = await ready(drawing(1))
    const drawn = await site.configMap('app')
    await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
    await untilRemoved(hub, site)
    await hub.assign('store-1', { [APP]: drawing(2) })
    await site.until(APP, 'Ready')
    assert.notDeepEqual((await site.configMap('app'))?.['data'], drawn?.['data'], 'drawn anew')
    // Absence is never deletion.
    await hub.assign('store-1', {})
    await site.stop()
    await site.start()
    await hub.clock.advance(60_000)
    assert.deepEqual((await recorded(site)).toSorted(), ['flotilla-frozen', 'flotilla-inventory'])
    assert.ok(await site.configMap('app'))
  })
})

describe('what a chart drew', () => {
  it('goes with a bundle that never got as far as its first object', async () => {
    const { hub, site } = await joined()
    site.door.refuses = '/configmaps/app'
    await hub.assign('store-1', { [APP]: drawing(1) })
    await site.until(APP, 'Failed')
    assert.deepEqual(await recorded(site), ['flotilla-frozen'])
    await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
    await untilRemoved(hub, site)
    assert.deepEqual(await recorded(site), [])
  })

  it('goes with a bundle that is not rendered here any more', async () => {
    const { hub, site } = await ready(drawing(1))
    await hub.assign('store-1', { [APP]: { generation: 2, objects: [configMap('app', { v: 'plain' })] } })
    await hub.clock.runUntil(() => site.agent().report().bundles[0]?.generation === 2, { withinMs: 60_000, what: '2' })
    await site.until(APP, 'Ready')
    await hub.assign('store-1', {}, { tombstones: [TOMBSTONE] })
    await untilRemoved(hub, site)
    assert.deepEqual(await recorded(site), [])
  })
})
