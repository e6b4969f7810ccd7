/**
 * A hub that was down, slow or busy marks no cluster offline (I-15): what its gateways publish about unheard clusters.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { Lease } from '../kinds/builtin/coordination.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { buildCluster } from '../testing/fixtures/builders.ts'
import { startTestHub } from '../testing/hub/test-hub.ts'
import type { TestHubOptions } from '../testing/hub/test-hub.ts'
import { INSTANCE_HEADER, ROUTES } from '../wire/link/frames.ts'
import { LIVENESS_ANNOTATION, LIVENESS_NAMESPACE, livenessLeaseName, parseLiveness } from '../wire/link/liveness.ts'

async function hubOfTwo(t: TestContext, options: TestHubOptions = {}) {
  const hub = await startTestHub('liveness', options)
  t.after(() => hub.close())
  for (const name of ['a', 'b']) await hub.client.create(Cluster, buildCluster(name, { spec: { id: name } }))
  await hub.clock.settle()
  const body = utf8(JSON.stringify({ report: digestOf('as before') }))
  return {
    ...hub,
    checkIn: async (name: string, instance = 'only0001') => {
      const by = { certificate: hub.certificateFor(name), body }
      const headers = { [INSTANCE_HEADER]: instance }
      return (await hub.ask('POST', ROUTES.checkIn, { ...by, headers })).status
    },
    /** What the newest summary says, some ten seconds late. */
    summary: async (gateway = '0') => {
      const key = { namespace: LIVENESS_NAMESPACE, name: livenessLeaseName(gateway) }
      const lease = await hub.client.get(Lease, key)
      return parseLiveness(lease.metadata.annotations?.[LIVENESS_ANNOTATION] ?? '')
    },
  }
}

const about = (seconds: number | undefined, expected: number): void =>
  assert.ok(Math.abs((seconds ?? Number.NaN) - expected) <= 12, `${seconds} s, not about ${expected} s`)

describe('silence', () => {
  it('is counted from when a cluster should have come back that the gateway itself sent away', async (t) => {
    const hub = await hubOfTwo(t, { loadLimits: { perSecond: 0.02, burst: 4, atWork: 100 } })
    while ((await hub.checkIn('b')) !== 429);
    assert.equal(await hub.checkIn('a'), 429)
    await hub.clock.advance(60_000)
    assert.equal((await hub.summary()).seen['a'], 0, 'it does as it was told')
    // The longest retry time that load shedding gives.
    await hub.clock.advance(300_000)
    about((await hub.summary()).seen['a'], 240)
  })

  it('of a cluster is not broken by a copy of its agent that is sent away', async (t) => {
    const hub = await hubOfTwo(t, { loadLimits: { perSecond: 0.05, burst: 6, atWork: 100 } })
    const [speaker, copy] = ['speaker1', 'copy0001']
    assert.equal(await hub.checkIn('a', speaker), 200)
    assert.equal(await hub.checkIn('a', copy), 200, 'a restart, for all we know')
    assert.equal(await hub.checkIn('a', speaker), 200, 'two of them')
    while ((await hub.checkIn('b')) !== 429);
    assert.equal(await hub.checkIn('a', copy), 429)
    await hub.clock.advance(40_000)
    about((await hub.summary()).seen['a'], 40)
  })

  it('is not counted while the gateway stands still, again and again', async (t) => {
    const hub = await hubOfTwo(t)
    assert.equal(await hub.checkIn('a'), 200)
    for (let round = 0; round < 120; round++) {
      hub.clock.standStill(2500)
      await hub.clock.advance(1000)
    }
    // Seven minutes of which it listened for two.
    const { up, seen } = await hub.summary()
    about(seen['a'], 120)
    about(up, 120)
  })

  it('begins anew for all clusters after a long pause', async (t) => {
    const hub = await hubOfTwo(t)
    assert.equal(await hub.checkIn('a'), 200)
    await hub.clock.advance(100_000)
    hub.clock.standStill(40_000)
    await hub.clock.advance(30_000)
    about((await hub.summary()).up, 25)
  })

  it('is not counted by a gateway that does not know its clusters yet', async (t) => {
    const hub = await hubOfTwo(t)
    hub.network.apiUp = false
    const starting = hub.startGateway('1')
    await hub.clock.advance(300_000)
    hub.network.apiUp = true
    await hub.clock.advance(60_000)
    await starting
    const { up } = await hub.summary('1')
    assert.ok(up <= 60, `${up} s`)
  })
})

describe('a slow API', () => {
  it('has only so many waiting for it: the others come back, and all are heard meanwhile', async (t) => {
    const hub = await hubOfTwo(t, { loadLimits: { perSecond: 1000, burst: 1000, atWork: 20 } })
    const names = Array.from({ length: 200 }, (_, n) => `n${n}`)
    for (const name of names) await hub.client.create(Cluster, buildCluster(name, { spec: { id: name } }))
    await hub.clock.settle()
    hub.network.apiMs = 5000
    // Each is new here, so that its first word is written down.
    const first = names.map((name) => hub.checkIn(name, `agent-of-${name}`.replaceAll('-', '0')))
    await hub.clock.advance(6000)
    const answers = await Promise.all(first)
    assert.deepEqual(new Set(answers), new Set([200, 429]))
    assert.ok(hub.network.apiAskedMost <= 20, `${hub.network.apiAskedMost} waited`)
    hub.network.apiMs = 0
    await hub.clock.advance(12_000)
    assert.equal(Object.keys((await hub.summary()).seen).filter((id) => id.startsWith('n')).length, names.length)
  })

  it('is no failure of the gateway: agents are told to come back', async (t) => {
    const hub = await hubOfTwo(t)
    hub.network.apiMs = 120_000
    const body = utf8(JSON.stringify({ epoch: 1, revision: 1, agentVersion: '0.1.0', bundles: [] }))
    const asked = hub.ask('POST', ROUTES.report, { certificate: hub.certificateFor('a'), body })
    await hub.clock.advance(100_000)
    assert.equal((await asked).status, 503)
  })
})
