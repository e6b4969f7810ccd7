/** Gateways beside each other: agents spread over them, and a gateway that stops sends its agents to the others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Cluster } from '../kinds/native/cluster.ts'
import { createAgentUnderTest } from '../testing/agents/agent-under-test.ts'
import { configMap, startTestHub } from '../testing/hub/test-hub.ts'
import { ROUTES } from '../wire/link/frames.ts'

const ENDPOINTS = ['https://gateway-a.example:7444', 'https://gateway-b.example:7444'] as const
const AGENTS = 12
const BUNDLE = 'default/hello'

async function twoGateways(t: TestContext) {
  const open: { close(): Promise<void> }[] = []
  t.after(async () => {
    for (const part of open.splice(0)) await part.close()
  })
  const hub = await startTestHub()
  open.push(hub)
  const second = await hub.startGateway('b')
  hub.network.at.set(ENDPOINTS[1], second)
  hub.amend({ endpoints: [...ENDPOINTS] })
  const sites = []
  for (let n = 0; n < AGENTS; n++) {
    const joinCode = await hub.token(`store-${n}`, { clusterName: `store-${n}` })
    const site = createAgentUnderTest(hub, `store-${n}`, { joinCode })
    open.unshift(site)
    await site.start()
    sites.push(site)
  }
  const areFollowing = () => hub.gateway.streams() + second.streams() >= AGENTS
  await hub.clock.runUntil(areFollowing, { withinMs: 120_000, what: 'all agents following' })
  // Beyond the time after which a stream counts as settled.
  await hub.clock.advance(60_000)
  return { hub, first: hub.gateway, second, sites }
}

test('agents spread over gateways, and leave a gateway that stops, one by one', async (t) => {
  const { hub, first, second, sites } = await twoGateways(t)
  const before = first.streams()
  assert.ok(before > 0 && before < AGENTS, `${before} of ${AGENTS} agents follow the first gateway`)
  assert.equal(before + second.streams(), AGENTS)

  const counts = new Set<number>()
  const draining = first.drain(20_000)
  for (let passed = 0; passed < 21; passed++) {
    counts.add(first.streams())
    await hub.clock.advance(1000)
  }
  await draining
  assert.equal(first.streams(), 0)
  assert.ok(counts.size > Math.min(2, before - 1), `the agents left at ${counts.size} moments`)
  await hub.clock.runUntil(() => second.streams() === AGENTS, { withinMs: 10_000, what: 'all agents at the other one' })
  await first.close()

  for (const [n] of sites.entries()) {
    await hub.assign(`store-${n}`, { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
  }
  for (const site of sites) await site.until(BUNDLE, 'Ready')
})

test('a gateway that stops refuses streams and answers everything else', async (t) => {
  const { hub, first } = await twoGateways(t)
  await hub.assign('store-0', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
  const draining = first.drain(0)
  await hub.clock.settle()
  await draining
  const certificate = hub.certificateFor((await hub.client.get(Cluster, { name: 'store-0' })).spec.id)
  for (const path of [ROUTES.follow, `${ROUTES.follow}?wait=20`]) {
    const answer = await hub.ask('GET', path, { certificate })
    assert.equal(answer.status, 503)
    assert.match(answer.text, /this gateway is stopping/)
  }
  assert.equal((await hub.ask('GET', ROUTES.document, { certificate })).status, 200)
})
