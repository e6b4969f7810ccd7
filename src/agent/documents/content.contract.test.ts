/** How content travels: once, as a difference, in parts, and on from where it broke off. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { configMap, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { ROUTES } from '../../wire/link/frames.ts'

const BUNDLE = 'default/hello'
let hub: TestHub
let site: AgentUnderTest

beforeEach(async () => {
  hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  site = createAgentUnderTest(hub, 'store-1', { joinCode })
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
})
afterEach(async () => {
  await site.close()
  await hub.close()
})

/** Many objects of text that does not compress to nothing. */
function objects(count: number, bytes: number, changed: Readonly<Record<number, string>> = {}): UnknownObject[] {
  const ids = countingIds(3)
  return Array.from({ length: count }, (_, index) => {
    const text = ids.suffix(bytes)
    return configMap(`c${index}`, { text, more: changed[index] ?? 'as it was' })
  })
}

async function run(generation: number, content: UnknownObject[]): Promise<number> {
  const before = total()
  await hub.assign('store-1', { [BUNDLE]: { generation, objects: content } })
  await hub.clock.runUntil(() => isReady(generation), { withinMs: 600_000, what: `generation ${generation} Ready` })
  return total() - before
}

const idOf = async () => (await hub.client.get(Cluster, { name: 'store-1' })).spec.id

function isReady(generation: number): boolean {
  const row = site.agent().report().bundles[0]
  return row?.generation === generation && row.state === 'Ready'
}

function total(): number {
  let sum = 0
  for (const [path, bytes] of hub.network.received) {
    if (path.startsWith(ROUTES.set) || path.startsWith(ROUTES.blob) || path === ROUTES.document) sum += bytes
  }
  return sum
}

describe('content', () => {
  it('comes whole once, and after a one-line change as about one line', async () => {
    const whole = await run(1, objects(60, 2000))
    assert.ok(whole > 60_000, `${whole} bytes`)
    const change = await run(2, objects(60, 2000, { 7: 'changed' }))
    assert.ok(change < 1500, `${change} bytes`)
    assert.equal((await site.configMap('c7'))?.['data']?.['more' as never], 'changed')
    // Also after a restart, and for what is taken back.
    await site.stop()
    await site.start()
    await hub.clock.advance(60_000)
    const back = await run(3, objects(60, 2000))
    assert.ok(back < 1500, `${back} bytes`)
    assert.equal(hub.network.requests.filter((request) => request.includes(ROUTES.blob)).length, 0)
  })

  it('comes no faster than the line of its site, which is free for the rest meanwhile', async () => {
    const cluster = await hub.client.get(Cluster, { name: 'store-1' })
    await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, maxBytesPerSecond: 10_000 } })
    await hub.clock.settle()
    const begin = hub.clock.monotonicMs()
    const bytes = await run(1, objects(60, 2000))
    const tookMs = hub.clock.monotonicMs() - begin
    assert.ok(bytes > 50_000, `${bytes} bytes`)
    assert.ok(tookMs + 1 >= (bytes / 10_000 - 1) * 1000, `${bytes} bytes in ${tookMs} ms`)
    assert.equal(site.agent().linkState(), 'Following')
    // A small change does not wait for what was sent before it.
    await hub.clock.advance(60_000)
    const again = hub.clock.monotonicMs()
    await run(2, objects(60, 2000, { 30: 'changed' }))
    assert.ok(hub.clock.monotonicMs() - again < 10_000)
  })

  it('goes on where it broke off, and comes whole when its base was lost', async () => {
    hub.network.cuts = [3000, 20_000, 5000, 0, 512]
    const whole = await run(1, objects(60, 2000))
    assert.deepEqual(hub.network.cuts, [])
    const [set] = (await hub.client.get(Assignment, { name: 'store-1' })).spec.entries
    const packed = hub.network.received.get(`${ROUTES.set}${set!.set}`)!
    assert.ok(packed < 110_000, `${packed} of ${whole} bytes: nothing came twice`)

    for await (const digest of site.blobs.list()) await site.blobs.delete(digest)
    const again = await run(2, objects(60, 2000, { 7: 'changed' }))
    assert.ok(again > 60_000, `${again} bytes`)
  })

  it('that is not what was signed is never taken: other bytes, another set, a part, nothing', async () => {
    await run(1, objects(3, 200))
    const [before] = (await hub.client.get(Assignment, { name: 'store-1' })).spec.entries
    const old = await hub.ask('GET', `${ROUTES.set}${before!.set}`, { certificate: hub.certificateFor(await idOf()) })
    const wrong: ((path: string, bytes: Uint8Array) => Uint8Array)[] = [
      (_path, bytes) => bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte)),
      () => utf8(old.text),
      (_path, bytes) => bytes.subarray(0, bytes.length >> 1),
      () => new Uint8Array(),
      () => utf8('{"format":"flotilla.dev/pack/v1"}\n'),
    ]
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: objects(3, 200, { 1: 'changed' }) } })
    for (const [index, bend] of wrong.entries()) {
      hub.network.bends = (path, bytes) => (path.startsWith(ROUTES.set) ? bend(path, bytes) : bytes)
      await hub.clock.advance(60_000)
      assert.equal((await site.configMap('c1'))?.['data']?.['more' as never], 'as it was', `lie ${index}`)
      assert.equal(isReady(2), false)
    }
    hub.network.bends = undefined
    await hub.clock.runUntil(() => isReady(2), { withinMs: 600_000, what: 'the true content' })
    assert.equal((await site.configMap('c1'))?.['data']?.['more' as never], 'changed')
  })

  it('of any size comes in parts', async () => {
    await run(1, objects(30, 700_000))
    const asked = hub.network.requests.filter((request) => request.includes(ROUTES.set)).length
    assert.ok(asked >= 3, `${asked} parts`)
    const change = await run(2, objects(30, 700_000, { 3: 'x', 29: 'y' }))
    assert.ok(change < 2000, `${change} bytes`)
  })
})
