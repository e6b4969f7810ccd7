import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRest } from '../../client/rest.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { keepsApiService } from '../../testing/api-contract/builtin/kubernetes-service.ts'

test('an embedded cluster keeps the Service that leads to its API, and writes nothing while it is there', async (t) => {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const cluster = createEmbeddedCluster({ name: 'a', clock, ids: systemIds, log: silentLogger, store })
  t.after(() => cluster.close())
  const rest = createRest({ transport: cluster.transport, clock })
  await keepsApiService({ rest, pass: () => clock.advance(10_000) })
  const { revision } = await store.list({ prefix: '/' })
  await clock.advance(3_600_000)
  assert.equal((await store.list({ prefix: '/' })).revision, revision)
})
