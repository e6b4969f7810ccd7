import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { createAgentUnderTest } from '../testing/agent-under-test.ts'
import type { AgentUnderTest, AgentUnderTestOptions } from '../testing/agent-under-test.ts'
import { configMap, deployment, hookJob, startTestHub } from '../testing/wire-hub.ts'
import type { TestHub } from '../testing/wire-hub.ts'

const BUNDLE = 'default/hello'
const open: { close(): Promise<void> }[] = []

async function joined(options: Partial<AgentUnderTestOptions> = {}): Promise<{ hub: TestHub; site: AgentUnderTest }> {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1', labels: { tier: 'store' } })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode, ...options })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  return { hub, site }
}

afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

describe('an agent', () => {
  it('carries on after a kill at any write', async () => {
    const probe = await joined()
    const before = probe.site.door.writes.length
    const content = { [BUNDLE]: { generation: 1, objects: [configMap('a'), configMap('b')] } }
    const next = { [BUNDLE]: { generation: 2, objects: [configMap('b', { v: '2' }), configMap('c')] } }
    await probe.hub.assign('store-1', content)
    await probe.site.until(BUNDLE, 'Ready')
    await probe.hub.assign('store-1', next)
    await probe.hub.clock.runUntil(async () => (await probe.site.configMap('a')) === undefined, {
      withinMs: 60_000,
      what: 'prune',
    })
    const total = probe.site.door.writes.length - before
    assert.ok(total >= 8, `${total} writes`)
    for (let kill = 0; kill < total; kill++) {
      const { hub, site } = await joined()
      site.door.failAfterWrites = site.door.writes.length + kill
      await hub.assign('store-1', content)
      await hub.clock.advance(20_000)
      await hub.assign('store-1', next)
      await hub.clock.advance(20_000)
      await site.stop()
      site.door.failAfterWrites = Number.POSITIVE_INFINITY
      await site.start()
      const settled = async () =>
        site.agent().report().bundles[0]?.state === 'Ready' && (await site.configMap('a')) === undefined
      await hub.clock.runUntil(settled, { withinMs: 120_000, what: `kill at write ${kill}` })
      assert.equal((await site.configMap('b'))?.['data']?.['v' as never], '2')
      assert.ok(await site.configMap('c'))
    }
  })

  it('carries a wave, a move and a removal through a kill at any write', async () => {
    const early = (object: ReturnType<typeof configMap>) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'flotilla.dev/wave': '-1' } },
    })
    const options = { namespaces: { create: true }, prune: { mode: 'Last' as const } }
    const first = { [BUNDLE]: { generation: 1, objects: [early(configMap('a')), configMap('b', {}, 'made')], options } }
    // Renamed, with one object less: what stays moves over, the rest goes.
    const second = { 'default/renamed': { generation: 1, objects: [early(configMap('a', { v: '2' }))], options } }
    const tombstones = [{ bundle: BUNDLE, generation: 1, policy: 'Delete' as const }]
    const settled = (site: AgentUnderTest) => async () =>
      site.agent().report().bundles[0]?.bundle === 'default/renamed' &&
      site.agent().report().bundles[0]?.state === 'Ready' &&
      (await site.configMap('b', 'made')) === undefined
    const probe = await joined()
    const before = probe.site.door.writes.length
    await probe.hub.assign('store-1', first)
    await probe.site.until(BUNDLE, 'Ready')
    await probe.hub.assign('store-1', second, { tombstones })
    await probe.hub.clock.runUntil(settled(probe.site), { withinMs: 120_000, what: 'the move' })
    const total = probe.site.door.writes.length - before
    assert.ok(total >= 12, `${total} writes`)
    for (let kill = 0; kill < total; kill++) {
      const { hub, site } = await joined()
      site.door.failAfterWrites = site.door.writes.length + kill
      await hub.assign('store-1', first)
      await hub.clock.advance(20_000)
      const uid = (await site.configMap('a'))?.metadata.uid
      await hub.assign('store-1', second, { tombstones })
      await hub.clock.advance(20_000)
      await site.stop()
      site.door.failAfterWrites = Number.POSITIVE_INFINITY
      await site.start()
      await hub.clock.runUntil(settled(site), { withinMs: 300_000, what: `kill at write ${kill}` })
      const live = await site.configMap('a')
      assert.equal(live?.['data']?.['v' as never], '2', `kill at write ${kill}`)
      if (uid !== undefined) assert.equal(live?.metadata.uid, uid, `kill at write ${kill}: it was recreated`)
    }
  })

  it('runs every hook once per operation through a kill at any write, before it and after it', async () => {
    const hooks = [
      hookJob('pre', { 'helm.sh/hook': 'pre-install,pre-upgrade' }),
      hookJob('post', { 'helm.sh/hook': 'post-upgrade', 'helm.sh/hook-delete-policy': 'hook-succeeded' }),
      hookJob('bye', { 'helm.sh/hook': 'pre-delete,post-delete' }),
    ]
    const first = { [BUNDLE]: { generation: 1, objects: [configMap('a'), ...hooks] } }
    const second = { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' }), ...hooks] } }
    const tombstones = [{ bundle: BUNDLE, generation: 3, policy: 'Delete' as const }]
    const made = (site: AgentUnderTest) => {
      const { writes } = site.door
      return writes.filter((write) => write.startsWith('POST') && write.endsWith('/jobs')).length
    }
    const isReady = (site: AgentUnderTest, generation: number) => () =>
      site.agent().report().bundles[0]?.state === 'Ready' && site.agent().report().bundles[0]?.generation === generation
    const isGone = (site: AgentUnderTest) => async () => {
      const jobs = await Promise.all(['pre', 'post', 'bye'].map((name) => site.get('Job', name)))
      return [...jobs, await site.configMap('a')].every((object) => object === undefined)
    }
    const play = async ({ hub, site }: { hub: TestHub; site: AgentUnderTest }, kill: string) => {
      const through = async (what: string, holds: () => boolean | Promise<boolean>) => {
        const limits = { withinMs: 20_000, what: `${what}, ${kill}` }
        await hub.clock.runUntil(holds, limits).catch(async (caught: unknown) => {
          if (site.door.failAfterWrites === Number.POSITIVE_INFINITY) throw caught
          // Killed: it starts again with an API that answers.
          await site.stop()
          site.door.failAfterWrites = Number.POSITIVE_INFINITY
          await site.start()
          await hub.clock.runUntil(holds, { withinMs: 300_000, what: `${what}, ${kill}` })
        })
      }
      await hub.assign('store-1', first)
      await through('install', isReady(site, 1))
      assert.equal(made(site), 1, kill)
      await hub.assign('store-1', second)
      await through('upgrade', isReady(site, 2))
      assert.equal(made(site), 3, kill)
      await hub.assign('store-1', {}, { tombstones })
      await through('removal', isGone(site))
      assert.equal(made(site), 5, kill)
    }
    const probe = await joined()
    const before = probe.site.door.writes.length
    await play(probe, 'not killed')
    const total = probe.site.door.writes.length - before
    assert.ok(total >= 25, `${total} writes`)
    for (let kill = 0; kill < total; kill++) {
      for (const losesLast of [false, true]) {
        const scene = await joined()
        scene.site.door.failAfterWrites = scene.site.door.writes.length + kill + (losesLast ? 1 : 0)
        scene.site.door.losesLast = losesLast
        await play(scene, `killed ${losesLast ? 'after' : 'before'} write ${kill} of ${total}`)
        for (const part of open.splice(0)) await part.close()
      }
    }
  })

  it('writes nothing to cluster or hub in steady state', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a'), deployment('web')] } })
    await site.until(BUNDLE, 'Ready')
    await hub.clock.advance(60_000)
    const clusterWrites = site.door.writes.length
    const hubWrites = hub.writes.filter((write) => !write.includes('/leases/')).length
    await hub.clock.advance(3_600_000)
    assert.deepEqual(site.door.writes.slice(clusterWrites), [])
    assert.deepEqual(hub.writes.filter((write) => !write.includes('/leases/')).slice(hubWrites), [])
    assert.equal(site.agent().linkState(), 'Following')
  })
})
