import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { AgentUnderTest } from '../testing/agents/agent-under-test.ts'
import { joinedAgents } from '../testing/agents/joined-agents.ts'
import { configMap, deployment, hookJob } from '../testing/hub/test-hub.ts'
import type { TestHub } from '../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const { joined, close } = joinedAgents()
afterEach(close)

interface Scene {
  readonly hub: TestHub
  readonly site: AgentUnderTest
}

const jobsMade = ({ door }: AgentUnderTest) => door.writes.filter((write) => /^POST .*\/jobs$/.test(write)).length

/** Waits until something holds; an agent that was killed meanwhile starts again, with an API that answers. */
async function through({ hub, site }: Scene, what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  await hub.clock.runUntil(holds, { withinMs: 20_000, what }).catch(async (caught: unknown) => {
    if (site.door.failAfterWrites === Number.POSITIVE_INFINITY) throw caught
    await site.stop()
    site.door.failAfterWrites = Number.POSITIVE_INFINITY
    await site.start()
    await hub.clock.runUntil(holds, { withinMs: 300_000, what })
  })
}

/**
 * Plays a story without a kill, and then with one after each of its writes, whose answer is lost; how many there are. A
 * kill before the next write finds the same cluster.
 */
async function killedAtEveryWrite(play: (scene: Scene, kill: string) => Promise<void>): Promise<number> {
  const probe = await joined()
  const before = probe.site.door.writes.length
  await play(probe, 'not killed')
  const total = probe.site.door.writes.length - before
  for (let kill = 1; kill <= total; kill++) {
    const scene = await joined()
    scene.site.door.failAfterWrites = scene.site.door.writes.length + kill
    scene.site.door.losesLast = true
    await play(scene, `killed after write ${kill} of ${total}`)
    await close()
  }
  return total
}

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

  it('runs every hook once per operation through a kill at any write', async () => {
    const hooks = [
      hookJob('pre', { 'helm.sh/hook': 'pre-install,pre-upgrade' }),
      hookJob('post', { 'helm.sh/hook': 'post-upgrade', 'helm.sh/hook-delete-policy': 'hook-succeeded' }),
      hookJob('bye', { 'helm.sh/hook': 'pre-delete,post-delete' }),
    ]
    const first = { [BUNDLE]: { generation: 1, objects: [configMap('a'), ...hooks] } }
    const second = { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' }), ...hooks] } }
    const tombstones = [{ bundle: BUNDLE, generation: 3, policy: 'Delete' as const }]
    const isReady = (site: AgentUnderTest, generation: number) => () =>
      site.agent().report().bundles[0]?.state === 'Ready' && site.agent().report().bundles[0]?.generation === generation
    const isGone = (site: AgentUnderTest) => async () => {
      const jobs = await Promise.all(['pre', 'post', 'bye'].map((name) => site.get('Job', name)))
      return [...jobs, await site.configMap('a')].every((object) => object === undefined)
    }
    const play = async (scene: Scene, kill: string) => {
      const { hub, site } = scene
      await hub.assign('store-1', first)
      await through(scene, `install, ${kill}`, isReady(site, 1))
      assert.equal(jobsMade(site), 1, kill)
      await hub.assign('store-1', second)
      await through(scene, `upgrade, ${kill}`, isReady(site, 2))
      assert.equal(jobsMade(site), 3, kill)
      await hub.assign('store-1', {}, { tombstones })
      await through(scene, `removal, ${kill}`, isGone(site))
      assert.equal(jobsMade(site), 5, kill)
    }
    assert.ok((await killedAtEveryWrite(play)) >= 25)
  })

  it('answers a failure once through a kill at any write: back to what ran before, or out', async () => {
    const options = { remediation: { upgrade: 'RollBack', install: 'Uninstall' } } as const
    const undo = hookJob('undo', { 'helm.sh/hook': 'post-rollback' })
    const good = { generation: 1, objects: [configMap('a', { v: '1' }), configMap('old'), undo], options }
    const fails = (name: string) => hookJob(name, { 'helm.sh/hook': 'post-upgrade,post-install' }, 'broken:1')
    const bad = { generation: 2, objects: [configMap('a', { v: '2' }), fails('migrate')], options }
    const out = { ...bad, objects: [configMap('b'), fails('seed')] }
    const play = async ({ hub, site }: Scene, kill: string) => {
      const rows = () => site.agent().report().bundles
      const says = (bundle: string, words: RegExp) => () =>
        words.test(rows().find((row) => row.bundle === bundle)?.message ?? '')
      await hub.assign('store-1', { [BUNDLE]: good })
      await through({ hub, site }, `install, ${kill}`, () => rows()[0]?.state === 'Ready')
      await hub.assign('store-1', { [BUNDLE]: bad })
      await through({ hub, site }, `back, ${kill}`, says(BUNDLE, /^rolled back to the previous set: post-upgrade hook/))
      assert.deepEqual((await site.configMap('a'))?.['data'], { v: '1' }, kill)
      assert.ok(await site.configMap('old'), kill)
      assert.equal(jobsMade(site), 2, kill)
      await hub.assign('store-1', { [BUNDLE]: bad, 'default/out': out })
      await through(
        { hub, site },
        `out, ${kill}`,
        says('default/out', /^uninstalled after a failure: post-install hook/),
      )
      assert.equal(await site.configMap('b'), undefined, kill)
      assert.equal(jobsMade(site), 3, kill)
      const writes = site.door.writes.length
      await hub.clock.advance(600_000)
      assert.equal(site.door.writes.length, writes, `${kill}: it goes on writing`)
    }
    assert.ok((await killedAtEveryWrite(play)) >= 30)
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
