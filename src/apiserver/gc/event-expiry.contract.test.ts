/** Events go by themselves, an hour after they were last seen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createEventRecorder } from '../../engine/event-recorder.ts'
import { composeApi } from '../../hub/compose/compose-api.ts'
import { inProcessTransport } from '../../hub/compose/in-process-transport.ts'
import { HUB_USERS } from '../../hub/ports.ts'
import { Event } from '../../kinds/builtin/core.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'

const MINUTE_MS = 60_000

test('an event is gone an hour after it was last seen, and not before', async (t) => {
  const clock = createVirtualClock()
  const api = composeApi({ store: createMemoryStore(), clock, ids: systemIds, log: silentLogger })
  t.after(() => api.close())
  const client = createClient({ transport: inProcessTransport(api.handle, HUB_USERS.admin), clock })
  const recorder = createEventRecorder({ client, clock, log: silentLogger })
  const tell = (reason: string) =>
    recorder.record(buildCluster('store-1'), [{ type: 'Normal', reason, message: 'words' }], 'flotilla-test')
  const known = async () => (await client.list(Event)).items.map(({ reason }) => String(reason)).sort()
  await tell('Once')
  await tell('Again')
  await clock.advance(40 * MINUTE_MS)
  await tell('Again')
  assert.deepEqual(await known(), ['Again', 'Once'])
  await clock.advance(19 * MINUTE_MS)
  assert.deepEqual(await known(), ['Again', 'Once'])
  await clock.advance(10 * MINUTE_MS)
  assert.deepEqual(await known(), ['Again'])
  await clock.advance(60 * MINUTE_MS)
  assert.deepEqual(await known(), [])
})

test('too many events are dropped, not queued', async (t) => {
  const clock = createVirtualClock()
  const api = composeApi({ store: createMemoryStore(), clock, ids: systemIds, log: silentLogger })
  t.after(() => api.close())
  const client = createClient({ transport: inProcessTransport(api.handle, HUB_USERS.admin), clock })
  const recorder = createEventRecorder({ client, clock, log: silentLogger })
  const news = Array.from({ length: 150 }, (_, i) => ({ type: 'Normal' as const, reason: `R${i}`, message: '' }))
  await recorder.record(buildCluster('store-1'), news, 'flotilla-test')
  assert.equal((await client.list(Event)).items.length, 100)
  await clock.advance(2_000)
  await recorder.record(buildCluster('store-1'), news.slice(100), 'flotilla-test')
  assert.equal((await client.list(Event)).items.length, 120)
})
