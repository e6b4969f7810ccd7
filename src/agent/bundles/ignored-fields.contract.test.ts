/** Ignored fields on an embedded cluster; drift.real.test.ts has the same cases on a real one. */
import { after, before, describe } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { ignoredFieldsContract } from '../../testing/agents/ignored-fields-contract.ts'
import type { IgnoringSite } from '../../testing/agents/ignored-fields-contract.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'

describe('ignored fields on an embedded cluster', () => {
  const clock = createVirtualClock()
  const ids = createSeededIds('ignored')
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
  const agent = createOperatingAgent({ transport: cluster.transport, clock, ids: ids.fork('agent') })
  const site: IgnoringSite = {
    agent,
    client: cluster.client,
    until: (what, holds) => clock.runUntil(holds, { withinMs: 600_000, what }),
    rest: () => clock.advance(60_000),
  }
  before(() => agent.start())
  after(async () => {
    const stopped = agent.stop()
    await clock.settle()
    await stopped
    await cluster.close()
  })
  ignoredFieldsContract(() => site)
})
