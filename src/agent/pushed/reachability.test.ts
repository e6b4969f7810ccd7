import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { bytesBody } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createReachability } from './reachability.ts'

const OK = () => ({ status: 200, headers: {}, body: bytesBody(utf8('{}')) })
const GET = { method: 'GET', path: '/x', headers: {} }

function world() {
  const clock = createVirtualClock()
  const cluster = { does: 'answer' as 'answer' | 'fail' | 'hang', probes: 0 }
  const access = {
    transport: async (_: unknown, signal: AbortSignal) => {
      cluster.probes += 1
      if (cluster.does === 'fail') throw new Error('connect ECONNREFUSED')
      if (cluster.does === 'hang')
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      return OK()
    },
    renewWhenDue: async () => {},
    reset: async () => {},
  }
  const reach = createReachability({ access, clock, ids: createSeededIds('reach'), log: silentLogger })
  const hub = reach.hub(() => ({ transport: async () => OK(), close: async () => {} }))
  const { transport } = hub({ endpoint: 'https://hub', cas: undefined })
  const life = new AbortController()
  const running = reach.run(life.signal)
  const ask = () => transport(GET, life.signal)
  return { clock, cluster, reach, ask, close: () => (life.abort(), running) }
}

for (const kind of ['fail', 'hang'] as const) {
  test(`a cluster whose API does ${kind} has no link to the hub until it answers again`, async () => {
    const { clock, cluster, reach, ask, close } = world()
    await assert.rejects(ask(), /has not been reached yet/)
    await clock.advance(1000)
    assert.equal((await ask()).status, 200)
    cluster.does = kind
    await clock.advance(9500)
    assert.equal((await ask()).status, 200, 'one lost probe is not an outage')
    await clock.advance(60_000)
    assert.equal(reach.problem()?.reason, 'Unreachable')
    await assert.rejects(ask(), /cannot be reached/)
    const before = cluster.probes
    await clock.advance(3_600_000)
    assert.ok(cluster.probes - before < 200, `${cluster.probes - before} probes in an hour`)
    cluster.does = 'answer'
    await clock.advance(90_000)
    assert.deepEqual([reach.isUp(), (await ask()).status], [true, 200])
    await close()
  })
}
