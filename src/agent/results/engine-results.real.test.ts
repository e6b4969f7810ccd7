/** Results of policy engines on a real API server, as the account of an agent that may only read. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOver, createClient } from '../../client/create-client.ts'
import { createDiscovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { agentRbac } from '../../hub/join/agent-rbac.ts'
import { clusterOf } from '../../testing/agents/operating-agent.ts'
import { resultsContract } from '../../testing/agents/results-contract.ts'
import type { ResultsSite } from '../../testing/agents/results-contract.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../testing/control-plane/control-plane.ts'
import { passingClock } from '../../testing/control-plane/real-time-clock.ts'
import { createMemoryStorage } from '../storage/storage.ts'
import { RESULTS_TIMING } from '../timing.ts'
import { createEngineResults } from './engine-results.ts'

const HOME = 'flotilla-agent'
const until: ResultsSite['until'] = (what, holds) => passingClock.runUntil(holds, { withinMs: 120_000, what })

/** The results as a user sees them. */
async function agentAs(plane: ControlPlane, user: string) {
  const cluster = await clusterOf(plane.writeKubeconfig(user))
  const rest = createRest({ transport: cluster.transport, clock: systemClock, userAgent: 'flotilla-agent/test' })
  const storage = createMemoryStorage()
  let reports = 0
  let stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const create = () =>
    createEngineResults({
      client: clientOver(rest),
      discovery: createDiscovery(rest),
      clock: systemClock,
      ids: systemIds,
      log: silentLogger,
      localLimits: {},
      storage,
      onChange: () => (reports += 1),
      timing: { ...RESULTS_TIMING, lookMs: 1000, lookIdleMs: 1000, betweenMs: 1000 },
    })
  let results = create()
  const start = () => {
    stopping = new AbortController()
    running = results.run(stopping.signal)
  }
  const stop = async () => {
    stopping.abort()
    await running
  }
  start()
  return {
    results: () => results,
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
    close: async () => {
      await stop()
      await cluster.close()
    },
  }
}

describe('results of policy engines on a real cluster', () => {
  let plane: ControlPlane
  let agent: Awaited<ReturnType<typeof agentAs>>
  let client: ReturnType<typeof createClient>
  let close: () => Promise<void>

  before(async () => {
    plane = await startControlPlane()
    const admin = await clusterOf(plane.kubeconfigPath)
    close = admin.close
    client = createClient({ transport: admin.transport, clock: systemClock })
    const options = { profile: 'read-only', namespaces: [], home: HOME, account: HOME, labels: {} } as const
    for (const object of agentRbac(options)) {
      const { kind } = object as { kind: string }
      if (!kind.startsWith('Cluster')) continue
      const path = `/apis/rbac.authorization.k8s.io/v1/${kind === 'ClusterRole' ? 'clusterroles' : 'clusterrolebindings'}`
      const { status, text } = await plane.call('POST', path, object)
      assert.equal(status, 201, text)
    }
    agent = await agentAs(plane, `system:serviceaccount:${HOME}:${HOME}`)
  })
  after(async () => {
    await agent.close()
    await close()
    await plane.stop()
  })

  resultsContract(() => ({ ...agent, client, until, rest: () => sleep(1500) }))

  it('an agent without the right says which kinds it may not read', async () => {
    const other = await agentAs(plane, 'stranger')
    try {
      await until('the kinds are named', () => other.results().current()?.denied !== undefined)
      assert.deepEqual(other.results().current(), {
        policies: [],
        denied: ['clusterpolicyreports.wgpolicyk8s.io', 'policyreports.wgpolicyk8s.io', 'reports.openreports.io'],
      })
    } finally {
      await other.close()
    }
  })
})
