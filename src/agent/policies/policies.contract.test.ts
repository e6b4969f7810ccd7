/** Checks on an embedded cluster; policies.real.test.ts has the same cases on a real one. */
import { after, before, describe } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import { policiesContract } from '../../testing/agents/policies-contract.ts'
import type { PolicySite } from '../../testing/agents/policies-contract.ts'

describe('checks on an embedded cluster', () => {
  const clock = createVirtualClock()
  const ids = createSeededIds('policies')
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: ids.fork('cluster'), log: silentLogger })
  const agent = createOperatingAgent({ transport: cluster.transport, clock, ids: ids.fork('agent') })
  const stop = async () => {
    const stopped = agent.stop()
    await clock.settle()
    await stopped
  }
  const site: PolicySite = {
    agent,
    client: cluster.client,
    until: (what, holds) => clock.runUntil(holds, { withinMs: 600_000, what }),
    rest: () => clock.advance(120_000),
    restart: async () => {
      await stop()
      agent.start()
    },
  }
  before(() => agent.start())
  after(async () => {
    await stop()
    await cluster.close()
  })
  policiesContract(() => site)
})
