/** events, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../../core/log.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { createEventRecorder } from '../../../engine/event-recorder.ts'
import { createVirtualClock } from '../../../sim/kernel/virtual-clock.ts'
import { buildBundle, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { events } from './events.ts'

test('events of every namespace come with the newest last, and can be asked for one object or for warnings only', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
  const run = (flags = {}) => events({ connection, terminal, signal: new AbortController().signal, flags })
  await run()
  assert.equal(taken().err, 'No events in the last hour.\n')

  const clock = createVirtualClock(systemClock.now())
  const recorder = createEventRecorder({ client, clock, log: silentLogger })
  const offline = { type: 'Normal', reason: 'Silent', message: 'not heard' } as const
  const failed = { type: 'Warning', reason: 'RenderFailed', message: 'no such\nkey' } as const
  const cluster = buildCluster('store-1')
  const bundle = buildBundle('default/hello', { placement: 'p' })
  for (const { message, after } of [
    { message: 'not heard', after: 0 },
    { message: 'not heard at all', after: 5_000 },
    { message: 'not heard for long', after: 6_000 },
  ]) {
    await clock.advance(after)
    await recorder.record(cluster, [{ ...offline, message }], 'flotilla-test')
  }
  await recorder.record(bundle, [failed], 'flotilla-test')

  await run()
  const lines = taken().out.trimEnd().split('\n')
  assert.equal(lines.length, 3)
  assert.match(lines[0]!, /^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/)
  assert.match(
    lines.find((line) => line.includes('Silent'))!,
    /Normal +Silent +cluster\/store-1 +not heard for long \(2 times\)$/,
  )
  assert.match(
    lines.find((line) => line.includes('RenderFailed'))!,
    /bundle\/default\/hello +no such key$/,
  )

  await run({ for: 'cluster/store-1', output: 'json' })
  assert.equal(JSON.parse(taken().out).count, 2)
  await run({ warnings: true, output: 'json' })
  assert.equal(JSON.parse(taken().out).reason, 'RenderFailed')
  await client.create(Cluster, buildCluster('store-2'))
  await run({ for: 'cluster/store-2' })
  assert.equal(taken().err, 'No events for cluster/store-2 in the last hour.\n')
  assert.match(
    await expectErrorText(run({ for: 'cluster/store-3' })),
    /cluster "store-3" not found[^]*did you mean "store-2"\?/,
  )
  assert.match(await expectErrorText(run({ for: 'bundle/missing' })), /bundle "missing" not found in any namespace/)
  assert.match(await expectErrorText(run({ for: 'hello' })), /invalid --for "hello": must be KIND\/NAME/)
})
