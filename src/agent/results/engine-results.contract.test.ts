/** Results of policy engines on an embedded cluster; engine-results.real.test.ts has the same cases on a real one. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { clientOver } from '../../client/create-client.ts'
import { createDiscovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import { silentLogger } from '../../core/log.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { ENGINE_KINDS, kyvernoReport } from '../../testing/agents/engine-kinds.ts'
import { resultsContract } from '../../testing/agents/results-contract.ts'
import { createMemoryStorage } from '../storage/storage.ts'
import { createEngineResults } from './engine-results.ts'

describe('results of policy engines on an embedded cluster', () => {
  const clock = createVirtualClock()
  const ids = createSeededIds('results')
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
  const storage = createMemoryStorage()
  let reports = 0
  let stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const rest = createRest({ transport: cluster.transport, clock, userAgent: 'flotilla-agent/test' })
  const create = (localLimits: LocalLimits = {}) =>
    createEngineResults({
      client: clientOver(rest),
      discovery: createDiscovery(rest),
      clock,
      ids,
      log: silentLogger,
      localLimits,
      storage,
      onChange: () => (reports += 1),
    })
  let results = create()
  const start = () => {
    stopping = new AbortController()
    running = results.run(stopping.signal)
  }
  const stop = async () => {
    stopping.abort()
    await clock.settle()
    await running
  }
  const until = (what: string, holds: () => boolean) => clock.runUntil(holds, { withinMs: 600_000, what })
  before(start)
  after(async () => {
    await stop()
    await cluster.close()
  })
  resultsContract(() => ({
    results: () => results,
    client: cluster.client,
    until,
    rest: () => clock.advance(120_000),
    reports: () => {
      const count = reports
      reports = 0
      return count
    },
    restart: async () => {
      await stop()
      results = create()
      start()
    },
  }))

  it('within the local limits only', async () => {
    const pod = { namespace: 'default', name: 'hidden', uid: '5d0f2a51-0000-4000-8000-000000000009' }
    const report = kyvernoReport(ENGINE_KINDS.PolicyReport, pod, [{ policy: 'hidden', result: 'fail' }])
    await cluster.client.create(ENGINE_KINDS.PolicyReport, report)
    await until('it is told', () => results.current()?.policies.some(({ policy }) => policy === 'hidden') ?? false)
    await stop()
    results = create({ namespaces: ['shop-*'] })
    start()
    await until('it is not told', () => results.current()?.policies.length === 0)
    assert.deepEqual(results.current(), { policies: [] })
  })
})
