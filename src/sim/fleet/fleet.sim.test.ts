/**
 * The thin flow under faults: whatever is lost, killed or restarted, every cluster arrives, and no promise breaks on
 * the way.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Store } from '../../store/store.ts'
import { isOffline, listStored, watchFleet, recheckOnWrite } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { assertDeterministic, simulate } from '../../testing/simulation/run-seeds.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const WITHIN = { withinMs: 3_600_000 }

function bundleOf(text: string, concurrency: number): Bundle {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('good morning', text)
  return { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, rollout: { concurrency } } }
}

async function applyBundle(world: World, fleet: Fleet, text: string, concurrency = 1): Promise<void> {
  const options = { fieldManager: 'person', force: true }
  await retryUntilAccepted(world, 'the API takes a write', () => fleet.client.apply(Placement, SHOP_PLACEMENT, options))
  await retryUntilAccepted(world, 'the API takes a write', () =>
    fleet.client.apply(Bundle, bundleOf(text, concurrency), options),
  )
}

async function untilReady(world: World, fleet: Fleet, generation: number): Promise<void> {
  const clusters = fleet.members.length
  await world.runUntil(
    recheckOnWrite(fleet.hubStore, () => allReady(fleet.hubStore, clusters, generation)),
    { ...WITHIN, what: `${clusters} clusters Ready at generation ${generation}` },
  )
}

async function allReady(store: Store, clusters: number, generation: number): Promise<boolean> {
  const reports = await listStored(store, ClusterReport)
  const ready = reports.filter(({ spec }) =>
    spec.bundles.some((row) => row.generation === generation && row.state === 'Ready'),
  )
  const rollouts = await listStored(store, Rollout)
  const done = rollouts.some(
    ({ spec, status }) => spec.release === `shop-g${generation}` && status?.phase === 'Completed',
  )
  return ready.length === clusters && done
}

async function thinFlow(world: World, faults: (fleet: Fleet) => void = () => {}): Promise<void> {
  const life = new AbortController()
  const fleet = await startFleet(world, { clusters: 3 })
  const watch = watchFleet(fleet.hubStore, life.signal)
  faults(fleet)
  await applyBundle(world, fleet, 'good morning')
  await untilReady(world, fleet, 1)
  watch.check()
  await applyBundle(world, fleet, 'good evening')
  await untilReady(world, fleet, 2)
  watch.check()
  assert.equal(watch.mostInFlight(), 1, 'one slot was used, never more')
  assert.ok(watch.seen() > 12, `only ${watch.seen()} changes seen`)
  life.abort()
}

describe('the thin flow in simulation', () => {
  test('reaches every cluster, and the same seed has the same history', async () => {
    const run = await assertDeterministic(thinFlow, { seed: 'thin' })
    assert.ok(run.steps > 60, `only ${run.steps} durable steps`)
  })

  test('gets through a bad network and restarts', async () => {
    await simulate(
      async (world) => {
        world.network.setDefaultLink({ latencyMs: [1, 400], drop: 0.02, reset: 0.01 })
        await thinFlow(world, (fleet) => disturb(world, fleet))
      },
      { seeds: process.env['FLOTILLA_DEEP'] ? 200 : 3 },
    )
  })

  test('gets through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(thinFlow, { seed: 'crash', every: deep ? 1 : 41 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })

  test('comes to rest: no writes but the summary of who is there', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 3 })
        await applyBundle(world, fleet, 'good morning', 3)
        await untilReady(world, fleet, 1)
        await world.run(600_000)
        const before = fleet.hubStore.revision()
        await world.run(600_000)
        const { entries } = await fleet.hubStore.list({ prefix: '/' })
        const written = entries.filter(({ modRevision }) => modRevision > before).map(({ key }) => key)
        assert.deepEqual(
          written.filter((key) => !key.includes('/leases/')),
          [],
        )
      },
      { seeds: 1 },
    )
  })

  test('a hub that stood still for minutes marks no cluster offline, and goes on (I-15)', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 2 })
        await applyBundle(world, fleet, 'good morning', 2)
        await untilReady(world, fleet, 1)
        const life = new AbortController()
        let looks = 0
        const offline: string[] = []
        const look = async (): Promise<void> => {
          for await (const { value } of fleet.hubStore.watch(storePrefix(Cluster), 0, life.signal)) {
            looks += 1
            if (isOffline(JSON.parse(value!) as Cluster)) offline.push(value!)
          }
        }
        look().catch(() => {}) // ends with the scenario
        for (const pauseMs of [200_000, 1_000_000]) {
          fleet.hub.pause()
          await world.run(pauseMs)
          fleet.hub.resume()
          await world.run(300_000)
        }
        assert.deepEqual(offline, [])
        assert.ok(looks > 0)
        await applyBundle(world, fleet, 'good evening', 2)
        await untilReady(world, fleet, 2)
        life.abort()
      },
      { seeds: 2 },
    )
  })

  test('repairs nothing by deleting: every cluster still has its Deployment after the hub was away for hours', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 2 })
        await applyBundle(world, fleet, 'good morning', 2)
        await untilReady(world, fleet, 1)
        fleet.hub.kill()
        await world.run(7_200_000)
        for (const member of fleet.members) {
          assert.ok(member.agent.running())
          assert.equal((await listStored(member.store, Deployment)).length, 1, member.name)
        }
        fleet.hub.start()
        await world.run(600_000)
        assert.ok(await allReady(fleet.hubStore, 2, 1))
      },
      { seeds: 1 },
    )
  })
})

/** Kills and restarts things at random moments for half an hour, then stops. */
function disturb(world: World, fleet: Fleet): void {
  const processes = [fleet.hub, ...fleet.members.flatMap(({ cluster, agent }) => [cluster, agent])]
  const trouble = async (): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      await world.clock.sleep(world.ids.integer(1_000, 120_000))
      const process = world.ids.pick(processes)
      if (!process.running()) continue
      process.kill()
      await world.clock.sleep(world.ids.integer(100, 30_000))
      process.start()
    }
    world.network.calm()
  }
  void trouble()
}
