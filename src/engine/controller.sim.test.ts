/**
 * The engine over the real API server, in worlds that lose messages and kill processes: it converges and then rests.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiServer } from '../apiserver/server/api-server.ts'
import { createClient } from '../client/create-client.ts'
import { createInformers } from '../client/informers.ts'
import { isApiError } from '../core/errors.ts'
import { BUILTIN_KINDS } from '../kinds/builtin/builtin-kinds.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { NATIVE_KINDS } from '../kinds/native/native-kinds.ts'
import { Placement } from '../kinds/native/placement.ts'
import type { Host } from '../sim/kernel/process.ts'
import type { World } from '../sim/kernel/world.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import type { Store } from '../store/store.ts'
import { buildCluster, buildPlacement } from '../testing/fixtures/builders.ts'
import { simulateCrashes } from '../testing/simulation/crash-points.ts'
import { assertDeterministic, simulate } from '../testing/simulation/run-seeds.ts'
import { createController } from './controller.ts'
import { triggerOnObject } from './trigger.ts'

const ADMIN = { user: 'admin', groups: ['system:masters'] }
const CLUSTERS = 4

function clientOf(host: Host) {
  return createClient({ transport: host.connect('api', ADMIN), clock: host.clock, timeoutMs: 5_000 })
}

function api(disk: Store) {
  return async (host: Host): Promise<void> => {
    const { clock, ids, log } = host
    const server = createApiServer({
      store: host.store(disk),
      clock,
      ids,
      log,
      kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS],
    })
    host.listen('api', server.handle)
    await host.untilStopped()
    await server.close()
  }
}

/** Counts clusters into the status of every Placement. */
async function counter(host: Host): Promise<void> {
  const { clock, ids, log } = host
  const informers = createInformers({ client: clientOf(host), clock, ids, log, watchSeconds: 30 })
  const placements = informers.of(Placement)
  const clusters = informers.of(Cluster)
  const controller = createController<Placement>({
    type: Placement,
    informer: placements,
    client: informers.client,
    clock,
    ids,
    log,
    triggers: [
      triggerOnObject(clusters, () =>
        placements.lister.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
      ),
    ],
    reconciler: {
      name: 'count',
      reconcile: async (draft) => {
        draft.next.status = { ...draft.next.status, selected: clusters.lister.size() } as Placement['status']
        draft.conditions.set('Ready', 'True', 'Counted', 'clusters are counted')
        return {}
      },
    },
  })
  await Promise.all([informers.run(host.signal), controller.run(host.signal)])
}

/** Creates a Placement and clusters, one after the other, until all are there. */
async function person(host: Host): Promise<void> {
  const client = clientOf(host)
  async function insist(create: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await create()
        return
      } catch (caught) {
        if (isApiError(caught, 'AlreadyExists')) return
        await host.clock.sleep(1_000, host.signal)
      }
    }
  }
  await insist(() => client.create(Placement, buildPlacement('default/all')))
  for (let n = 1; n <= CLUSTERS; n += 1) {
    await insist(() => client.create(Cluster, buildCluster(`c${n}`)))
    await host.clock.sleep(host.ids.fraction() * 5_000, host.signal)
  }
  await host.untilStopped()
}

async function scenario(world: World): Promise<void> {
  const disk = createMemoryStore()
  world.start('api', api(disk))
  world.start('controllers', counter)
  world.start('person', person)
  const placement = async () => {
    const entries = (await disk.list({ prefix: '/' })).entries.filter(({ key }) => key.includes('/placements/'))
    return entries[0] && (JSON.parse(entries[0].value) as Placement)
  }
  await world.run(60_000)
  world.network.calm()
  const selected = async () => (await placement())?.status?.selected
  await world.runUntil(async () => (await selected()) === CLUSTERS, { withinMs: 600_000, what: 'all clusters counted' })
  assert.equal((await placement())?.status?.observedGeneration, 1)
  const rested = disk.revision()
  await world.run(600_000)
  assert.equal(disk.revision(), rested, 'nothing is written in steady state')
}

describe('the engine over the API server', () => {
  it('is deterministic', async () => {
    const one = await assertDeterministic(scenario, { seed: 1, link: { drop: 0.02, reset: 0.02 } })
    assert.ok(one.steps > 0)
  })

  it('converges and rests after faults', async () => {
    await simulate(scenario, { seeds: 8, link: { latencyMs: [1, 300], drop: 0.03, reset: 0.05 } })
  })

  it('converges and rests after a crash around every durable step', async () => {
    const tried = await simulateCrashes(scenario, { seed: 1 })
    assert.ok(tried >= 2 * (CLUSTERS + 2), `only ${tried} crashes were tried`)
  })
})
