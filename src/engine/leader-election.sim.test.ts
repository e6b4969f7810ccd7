import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../client/create-client.ts'
import type { Handler } from '../core/http.ts'
import type { Host } from '../sim/kernel/process.ts'
import type { World } from '../sim/kernel/world.ts'
import { createFakeApi } from '../testing/hub/fake-api.ts'
import { assertDeterministic, simulate } from '../testing/simulation/run-seeds.ts'
import { runLeaderElection } from './leader-election.ts'

interface Leaders {
  /** Who leads now, by process. */
  readonly now: Set<string>
  /** Every leader so far, in order. */
  readonly all: string[]
}

function hubs(world: World, count: number): Leaders {
  const api = createFakeApi()
  world.start('api', async (host) => {
    const handler: Handler = (request, _caller, signal) => api.transport(request, signal)
    host.listen('api', handler)
    await host.untilStopped()
  })
  const now = new Set<string>()
  const all: string[] = []
  async function lead(host: Host, signal: AbortSignal): Promise<void> {
    assert.deepEqual([...now], [], `${host.name} leads while another does`)
    now.add(host.name)
    all.push(host.name)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    now.delete(host.name)
  }
  for (let n = 1; n <= count; n += 1) {
    world.start(`hub-${n}`, (host) =>
      runLeaderElection(
        {
          client: createClient({ transport: host.connect('api', { user: host.name, groups: [] }), clock: host.clock }),
          clock: host.clock,
          ids: host.ids,
          log: host.log,
          namespace: 'flotilla-system',
          name: 'hub',
          identity: `${host.name}-${host.incarnation}`,
          lead: (signal) => lead(host, signal),
        },
        host.signal,
      ),
    )
  }
  return { now, all }
}

const someoneLeads = { withinMs: 120_000, what: 'a leader' }
const processOf = (world: World, name: string) => world.processes().find((process) => process.name === name)!

describe('leader election', () => {
  it('one leads, and another takes over after a kill', async () => {
    const run = await assertDeterministic(
      async (world) => {
        const leaders = hubs(world, 3)
        await world.runUntil(() => leaders.now.size === 1, someoneLeads)
        const [first] = leaders.all
        await world.run(300_000)
        assert.deepEqual(leaders.all, [first], 'it stays')
        processOf(world, first!).kill()
        leaders.now.delete(first!)
        await world.run(14_000)
        assert.deepEqual(leaders.all, [first], 'no process takes a lease that may be held')
        await world.runUntil(() => leaders.now.size === 1, someoneLeads)
        assert.notEqual(leaders.all[1], first)
      },
      { seed: 1 },
    )
    assert.ok(run.steps > 0)
  })

  it('a leader that stops hands over at once', async () => {
    await simulate(
      async (world) => {
        const leaders = hubs(world, 2)
        await world.runUntil(() => leaders.now.size === 1, someoneLeads)
        const stopping = processOf(world, leaders.all[0]!).stop()
        await world.run(6_000)
        await stopping
        assert.equal(leaders.now.size, 1)
        assert.equal(leaders.all.length, 2)
      },
      { seeds: 5 },
    )
  })

  it('there are never two, whatever the network does, and after it calms down there is one', async () => {
    await simulate(
      async (world) => {
        const leaders = hubs(world, 3)
        for (let round = 0; round < 20; round += 1) {
          const hub = `hub-${world.ids.integer(1, 3)}`
          if (world.ids.chance(0.5)) world.network.cut({ from: hub, to: 'api' })
          else world.network.heal({ from: hub, to: 'api' })
          await world.run(world.ids.integer(1_000, 30_000))
        }
        world.network.calm()
        await world.runUntil(() => leaders.now.size === 1, someoneLeads)
      },
      { seeds: 10, link: { latencyMs: [1, 500], drop: 0.05, reset: 0.02 } },
    )
  })
})
