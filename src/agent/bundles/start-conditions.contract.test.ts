/** When content may begin: windows, freezes, and the return of a cluster that was away. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { formatTime } from '../../core/time/time.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { configMap, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import type { DocumentWindow } from '../../wire/document/cluster-document.ts'

const BUNDLE = 'default/hello'
const HOUR = 3_600_000
const open: { close(): Promise<void> }[] = []

async function joined(): Promise<{ hub: TestHub; site: AgentUnderTest }> {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  return { hub, site }
}

afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

const bundle = (generation: number, options?: BundleOptions) => ({
  [BUNDLE]: { generation, objects: [configMap('x', { g: String(generation) })], ...(options ? { options } : {}) },
})
const rules = (...windows: DocumentWindow[]) => ({
  rules: { trustVersion: 1, windows },
  requires: ['sets/v1', 'windows/v1'],
})
const valueOf = async (site: AgentUnderTest) => ((await site.configMap('x'))?.['data'] as { g: string } | undefined)?.g
const pending = (site: AgentUnderTest) => {
  const row = site.agent().report().bundles[0]
  return row?.state === 'Pending' ? (row.message ?? '') : (row?.state ?? '')
}
const soon = (hub: TestHub, fromHours: number, untilHours: number) => ({
  from: formatTime(hub.clock.now() + fromHours * HOUR),
  until: formatTime(hub.clock.now() + untilHours * HOUR),
})

describe('windows', () => {
  it('a bundle that waits says what runs: the generation, and its last observed state', async () => {
    const { hub, site } = await joined()
    const running = () => site.agent().report().bundles[0]?.running
    await hub.assign('store-1', bundle(1))
    await hub.clock.runUntil(() => pending(site) === 'Ready', { withinMs: 60_000, what: 'ready' })
    assert.equal(running(), undefined, 'only beside Pending')
    const set = site.agent().report().bundles[0]!.set
    const window = { name: 'tonight', kind: 'Open' as const, zone: 'UTC', spans: [soon(hub, 2, 4)] }
    await hub.assign('store-1', bundle(2), rules(window))
    await hub.clock.runUntil(() => pending(site).startsWith('window "tonight"'), { withinMs: 60_000, what: 'held' })
    assert.deepEqual(running(), { generation: 1, set, state: 'Ready' })
    await hub.assign('store-1', bundle(3), rules(window))
    await hub.clock.runUntil(() => site.agent().report().bundles[0]?.generation === 3, { withinMs: 60_000, what: 'g3' })
    assert.deepEqual(running(), { generation: 1, set, state: 'Ready' }, 'generation 2 never ran')
    await site.stop()
    await site.start()
    await hub.clock.runUntil(() => pending(site).startsWith('window "tonight"'), {
      withinMs: 60_000,
      what: 'held again',
    })
    assert.deepEqual(running(), { generation: 1, set }, 'not observed since the restart')
  })

  it('hold what has not begun, open on time, and never hold repair', async () => {
    const { hub, site } = await joined()
    const window = { name: 'tonight', kind: 'Open' as const, zone: 'UTC', spans: [soon(hub, 2, 4)] }
    await hub.assign('store-1', bundle(1), rules(window))
    await hub.clock.advance(60_000)
    assert.match(pending(site), /^window "tonight" is closed and opens at /)
    assert.equal(await valueOf(site), undefined)
    await hub.clock.advance(2 * HOUR)
    assert.equal(await valueOf(site), '1')
    await hub.clock.advance(3 * HOUR)
    await site.remove('ConfigMap', 'x')
    await hub.clock.advance(5000)
    assert.equal(await valueOf(site), '1', 'repaired while closed')
    await hub.assign(
      'store-1',
      {},
      { ...rules(window), tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] },
    )
    await hub.clock.advance(HOUR)
    assert.equal(await valueOf(site), '1', 'removal waits as well')
  })

  it('freeze at once, for the bundles they name', async () => {
    const { hub, site } = await joined()
    const freeze = {
      name: 'season',
      kind: 'Freeze' as const,
      zone: 'UTC',
      spans: [soon(hub, -1, 3)],
      bundles: ['default/*'],
    }
    await hub.assign('store-1', bundle(1), rules(freeze))
    await hub.clock.advance(60_000)
    assert.match(pending(site), /^freeze "season" lasts until /)
    await hub.assign('store-1', bundle(1), rules({ ...freeze, bundles: ['other/*'] }))
    await site.until(BUNDLE, 'Ready')
  })

  it('are closed while the time is not known: a restart without the hub does not trust the machine', async () => {
    const { hub, site } = await joined()
    const window = { name: 'later', kind: 'Open' as const, zone: 'UTC', spans: [soon(hub, 1, 2000)] }
    await hub.assign('store-1', bundle(1), rules(window))
    await hub.clock.advance(60_000)
    hub.network.up = false
    await site.stop()
    hub.clock.jumpWall(5 * HOUR)
    await site.start()
    await hub.clock.advance(10 * 60_000)
    assert.match(pending(site), /the time is not known for certain, so window "later" counts as closed/)
    hub.network.up = true
    await hub.clock.runUntil(async () => (await valueOf(site)) === '1', { withinMs: HOUR, what: 'the hub being heard' })
  })
})

describe('a start-by', () => {
  it('is judged by the time of the hub: a machine whose clock went back does not start late (I-23)', async () => {
    const { hub, site } = await joined()
    const window = { name: 'later', kind: 'Open' as const, zone: 'UTC', spans: [soon(hub, 1.25, 20)] }
    const startBy = formatTime(hub.clock.now() + HOUR)
    const late = Object.fromEntries(Object.entries(bundle(1)).map(([key, entry]) => [key, { ...entry, startBy }]))
    await hub.assign('store-1', late, rules(window))
    await hub.clock.advance(60_000)
    assert.match(pending(site), /^window "later" is closed/)
    hub.network.up = false
    hub.clock.jumpWall(-2 * HOUR)
    await hub.clock.advance(1.5 * HOUR)
    assert.match(pending(site), /^it was to start by .*; waiting to be admitted again/)
    assert.equal(await valueOf(site), undefined)
  })

  it('is asked for again after all the writes were tried, which can take longer than there is time (I-23)', async () => {
    const { hub, site } = await joined()
    const startingIn = (ms: number) => ({
      [BUNDLE]: { ...bundle(1)[BUNDLE], startBy: formatTime(hub.clock.now() + ms) },
    })
    site.door.tryMs = 20_000
    await hub.assign('store-1', startingIn(10_000))
    await hub.clock.advance(60_000)
    assert.ok(
      site.door.reads.some((read) => read.includes('dryRun=All')),
      'it was in time when it was fetched',
    )
    assert.match(pending(site), /^it was to start by .*; waiting to be admitted again/)
    assert.equal(await valueOf(site), undefined)
    await hub.assign('store-1', startingIn(30_000))
    await site.until(BUNDLE, 'Ready')
  })
})

describe('a cluster that was away', () => {
  async function away(options: BundleOptions, extra: object = {}): Promise<{ hub: TestHub; site: AgentUnderTest }> {
    const { hub, site } = await joined()
    await hub.assign('store-1', bundle(1, options))
    await site.until(BUNDLE, 'Ready')
    hub.network.up = false
    await hub.clock.advance(60_000)
    for (const generation of [2, 3, 4]) await hub.assign('store-1', bundle(generation, options), extra)
    await hub.clock.advance(5 * HOUR)
    hub.network.up = true
    await hub.clock.advance(10 * 60_000)
    return { hub, site }
  }

  it('makes one move to what holds now', async () => {
    const { site } = await away({})
    assert.equal(await valueOf(site), '4')
    const applies = site.door.writes.filter((write) => write.startsWith('PATCH') && write.endsWith('/configmaps/x'))
    assert.equal(applies.length, 2, 'generations 2 and 3 were never applied')
  })

  it('waits to be admitted again when the bundle says Hold', async () => {
    const { hub, site } = await away({ catchUp: 'Hold' })
    assert.match(pending(site), /released while this cluster was offline, and catchUp is Hold/)
    assert.equal(await valueOf(site), '1')
    await hub.assign('store-1', bundle(5, { catchUp: 'Hold' }))
    await hub.clock.advance(60_000)
    assert.equal(await valueOf(site), '5', 'what comes now is not missed')
  })

  it('waits for a window that opens after its return when the bundle says NextWindow', async () => {
    const daily = { schedule: '0 * * * *', duration: '50m' }
    const window = { name: 'hourly', kind: 'Open' as const, zone: 'UTC', spans: [daily] }
    const { hub, site } = await away({ catchUp: 'NextWindow' }, rules(window))
    assert.match(pending(site), /NextWindow: waiting for the next window|window "hourly" is closed/)
    assert.equal(await valueOf(site), '1')
    await hub.clock.advance(HOUR)
    assert.equal(await valueOf(site), '4')
  })
})
