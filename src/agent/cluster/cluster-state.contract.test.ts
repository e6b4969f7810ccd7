/**
 * The agent's records in a cluster that may answer any write with silence: nothing is lost, and in the end nothing is
 * left.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import type { Transport } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { AGENT_NAMESPACE, CONFIG_MAPS } from './agent-objects.ts'
import { createClusterState } from './cluster-state.ts'
import type { Inventory } from './inventory.ts'

const BUNDLE = 'default/large'
const SIGNAL = new AbortController().signal

// More than a ConfigMap may hold inline, in as many pages as it takes.
function inventory(generation: number, objects: number): Inventory {
  const item = (index: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: `map-${index}` })
  const set = `sha256:${'0'.repeat(64)}` as const
  const some = Array.from({ length: objects }, (_, index) => item(index))
  return { bundle: BUNDLE, generation, epoch: 1, set, phase: 'Settled', objects: some }
}

/** A cluster whose agent can be killed after some writes, and started again. */
function setUp() {
  const clock = createVirtualClock()
  const cluster = createEmbeddedCluster({ name: 'c', clock, ids: createSeededIds('c'), log: silentLogger })
  const door = { writes: 0, failAfter: Number.POSITIVE_INFINITY, pageLists: 0 }
  const transport: Transport = async (request, signal) => {
    if (request.path.includes('agent-state%3Dpage')) door.pageLists += 1
    if (request.method !== 'GET') {
      if (door.writes >= door.failAfter) throw new Error('killed')
      door.writes += 1
    }
    return cluster.transport(request, signal)
  }
  return {
    door,
    start: () => createClusterState(createClient({ transport, clock })),
    names: async () => {
      const select = { namespace: AGENT_NAMESPACE, labelSelector: 'flotilla.dev/agent-state' }
      return (await cluster.client.list(CONFIG_MAPS, select)).items.map(({ metadata }) => metadata.name)
    },
    close: () => cluster.close(),
  }
}

/** Kills the agent after each write of what it does, starts it again, and looks. */
async function killedAnywhere(
  begin: Inventory,
  act: (state: ReturnType<typeof createClusterState>) => Promise<void>,
  look: (setting: ReturnType<typeof setUp>, isKilled: boolean) => Promise<void>,
): Promise<number> {
  for (let point = 0; ; point++) {
    const setting = setUp()
    const state = setting.start()
    await state.writeInventory(begin)
    setting.door.failAfter = setting.door.writes + point
    const isKilled = await act(state).then(
      () => false,
      () => true,
    )
    setting.door.failAfter = Number.POSITIVE_INFINITY
    await look(setting, isKilled)
    await setting.close()
    if (!isKilled) return point
  }
}

describe('a large inventory', () => {
  it('is there as it was, or as it is to be, wherever its writing ends; its removal leaves no page', async () => {
    const [old, next] = [inventory(1, 6000), inventory(2, 2600)]
    const points = await killedAnywhere(
      old,
      (state) => state.writeInventory(next),
      async (setting, isKilled) => {
        const again = setting.start()
        const [found, ...more] = await again.listInventories(SIGNAL)
        assert.equal(more.length, 0)
        assert.ok(found!.objects.length === 6000 || found!.objects.length === 2600)
        if (!isKilled) assert.equal(found!.objects.length, 2600)
        // What is small again needs no page, and the one that is not in use may still be there.
        await again.writeInventory(inventory(3, 3))
        await again.deleteInventory(BUNDLE)
        assert.deepEqual(await setting.names(), [])
      },
    )
    assert.ok(points >= 5, `only ${points} writes to be killed after`)
  })

  it('that is being removed can be removed to its end by another start', async () => {
    const points = await killedAnywhere(
      inventory(1, 6000),
      (state) => state.deleteInventory(BUNDLE),
      async (setting, isKilled) => {
        const again = setting.start()
        const found = await again.listInventories(SIGNAL)
        assert.equal(found.length, (await setting.names()).length > 0 ? 1 : 0, 'what is left has its head')
        assert.equal(found.length > 0, isKilled)
        await again.deleteInventory(BUNDLE)
        assert.deepEqual(await setting.names(), [])
      },
    )
    assert.ok(points >= 5, `only ${points} writes to be killed after`)
  })

  it('of another bundle keeps its pages', async () => {
    const setting = setUp()
    const state = setting.start()
    await state.writeInventory(inventory(1, 3000))
    await state.writeInventory({ ...inventory(1, 3000), bundle: 'default/other' })
    await state.deleteInventory(BUNDLE)
    assert.equal((await setting.start().listInventories(SIGNAL))[0]?.objects.length, 3000)
    assert.equal((await setting.names()).length, 3)
    await setting.close()
  })

  it('is removed with one listing for all that are removed by one start', async () => {
    const setting = setUp()
    const bundles = ['default/a', 'default/b', 'default/c']
    const state = setting.start()
    for (const bundle of bundles) await state.writeInventory({ ...inventory(1, 3000), bundle })
    const again = setting.start()
    await again.deleteInventory('default/a')
    await again.deleteInventory('default/b')
    await again.writeInventory({ ...inventory(1, 3000), bundle: 'default/d' })
    await again.deleteInventory('default/c')
    await again.deleteInventory('default/d')
    assert.deepEqual(await setting.names(), [])
    assert.equal(setting.door.pageLists, 1)
    again.forget()
    await again.deleteInventory('default/a')
    assert.equal(setting.door.pageLists, 2, 'another cluster, another listing')
    await setting.close()
  })
})
