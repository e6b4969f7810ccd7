/** The link on bad ways: streams that are held back, busy gateways, wrong clocks. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { configMap, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { ROUTES } from '../../wire/link/frames.ts'

const BUNDLE = 'default/hello'
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

async function started(hub: TestHub) {
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode })
  open.unshift(site)
  await site.start()
  return site
}

const followed = (hub: TestHub) => hub.network.requests.filter((request) => request === `GET ${ROUTES.follow}`).length

describe('a link', () => {
  it('asks when streams are held back on the way, and streams again when they are not', async () => {
    const hub = await startTestHub()
    open.push(hub)
    hub.network.buffers = true
    const site = await started(hub)
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 300_000, what: 'following' })
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready', 40_000)
    const before = followed(hub)
    await hub.clock.advance(300_000)
    const asked = followed(hub) - before
    assert.ok(asked >= 11 && asked <= 14, `${asked} questions in five minutes, each answered after 25 s`)
    // News ends a wait at once.
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('b')] } })
    await hub.clock.runUntil(() => site.agent().report().revision === 2, { withinMs: 2000, what: 'the news' })

    hub.network.buffers = false
    await hub.clock.advance(35 * 60_000)
    const streaming = followed(hub)
    await hub.clock.advance(300_000)
    assert.ok(followed(hub) - streaming <= 1, 'one long stream again')
    assert.equal(site.agent().linkState(), 'Following')
  })

  it('comes back when a busy gateway said, and the report goes before the stream', async () => {
    const hub = await startTestHub('busy', { loadLimits: { perSecond: 1, burst: 10, atWork: 100 } })
    open.push(hub)
    const site = await started(hub)
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 120_000, what: 'following' })
    const { certificate } = {
      certificate: hub.certificateFor((await hub.client.get(Cluster, { name: 'store-1' })).spec.id),
    }
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await hub.ask('GET', ROUTES.document, { certificate })).status)
    assert.ok(statuses.includes(429), String(statuses))
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    await hub.clock.advance(600_000)
    assert.equal(site.agent().linkState(), 'Following')
  })

  it('says how wrong its clock is, and the hub counts its bytes', async () => {
    const hub = await startTestHub()
    open.push(hub)
    const site = await started(hub)
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 60_000, what: 'following' })
    await hub.assign('store-1', {
      [BUNDLE]: { generation: 1, objects: [configMap('a', { text: hub.ids.suffix(5000) })] },
    })
    await site.until(BUNDLE, 'Ready')
    const { traffic } = (await hub.client.get(ClusterReport, { name: 'store-1' })).spec
    assert.ok(traffic && traffic.downBytes > 3000 && traffic.upBytes > 200, JSON.stringify(traffic))
    const skew = async () => (await hub.client.get(Cluster, { name: 'store-1' })).status?.clockSkewSeconds
    assert.equal(await skew(), undefined)
    const id = (await hub.client.get(Cluster, { name: 'store-1' })).spec.id
    const certificate = hub.certificateFor(id)
    const at = (ms: number) =>
      hub.ask('GET', ROUTES.document, { certificate, headers: { 'flotilla-time': String(hub.clock.now() + ms) } })
    await at(7_200_000)
    assert.equal(await skew(), 7200)
    const { length } = hub.writes
    for (let i = 0; i < 20; i++) await at(7_200_000 + i * 10_000)
    assert.equal(hub.writes.length, length, 'a drift is no news')
    for (let i = 0; i < 50; i++) await at(i * 3_600_000)
    assert.ok(hub.writes.length - length <= 4, 'and a clock that jumps is not written with every request')
    await at(Number.NaN)
    await hub.clock.advance(300_000)
    assert.equal(await skew(), undefined, 'the real agent’s clock is right')
  })
})
