/**
 * Deliveries under faults: content reaches exactly the clusters that are named, and goes by a tombstone and its receipt
 * alone.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isApiError } from '../../core/errors.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { isOffline, listStored, recheckOnWrite, watchFleet } from '../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { shopDelivery, shopObjects, storeObjects } from '../../testing/simulation/shop-delivery.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import type { World } from '../kernel/world.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'

const WITHIN = { withinMs: 7_200_000 }
const PERSON = { fieldManager: 'person', force: true }
const KEY = { namespace: 'default', name: 'shop' }

async function deliver(
  world: World,
  fleet: Fleet,
  delivery: { readonly clusters: string[]; readonly text?: string; readonly options?: Delivery['spec']['options'] },
): Promise<void> {
  const set = await storeObjects(fleet.hubBlobs, shopObjects(delivery.text))
  const object = shopDelivery(set, delivery.clusters, delivery.options)
  await retryUntilAccepted(world, 'delivery', () => fleet.client.apply(Delivery, object, PERSON))
}

async function remove(world: World, fleet: Fleet): Promise<void> {
  await retryUntilAccepted(world, 'deletion', () =>
    fleet.client.delete(Delivery, KEY).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
}

async function readiness(fleet: Fleet): Promise<string | undefined> {
  const [delivery] = await listStored(fleet.hubStore, Delivery)
  const condition = delivery?.status?.conditions?.find(({ type }) => type === 'Ready')
  const isCurrent = delivery?.status?.observedGeneration === delivery?.metadata.generation
  return isCurrent ? condition?.reason : undefined
}

const hasShop = async (member: Fleet['members'][number] | undefined) =>
  (await listStored(member!.store, Deployment)).some(({ metadata }) => metadata.name === 'shop')

async function untilReason(world: World, fleet: Fleet, reason: string): Promise<void> {
  await world.runUntil(
    recheckOnWrite(fleet.hubStore, async () => (await readiness(fleet)) === reason),
    { ...WITHIN, what: `the Delivery is ${reason}` },
  )
}

const isForgotten = async (fleet: Fleet) =>
  (await listStored(fleet.hubStore, Delivery)).length === 0 &&
  (await listStored(fleet.hubStore, Assignment)).every(
    ({ spec }) => spec.entries.length + (spec.tombstones?.length ?? 0) === 0,
  )

/** Content comes to one of two clusters, changes, moves to the other, and goes. */
async function comeMoveGo(world: World): Promise<void> {
  const life = new AbortController()
  const fleet = await startFleet(world, { clusters: 2 })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const [first, second] = fleet.members
  world.focus()
  await deliver(world, fleet, { clusters: ['store-1'] })
  await untilReason(world, fleet, 'Delivered')
  assert.deepEqual([await hasShop(first), await hasShop(second)], [true, false])
  await deliver(world, fleet, { clusters: ['store-2'], text: 'good evening' })
  await untilReason(world, fleet, 'Delivered')
  assert.ok(await hasShop(second))
  await world.runUntil(async () => !(await hasShop(first)), { ...WITHIN, what: 'store-1 has lost it' })
  await remove(world, fleet)
  await world.runUntil(() => isForgotten(fleet), { ...WITHIN, what: 'the Delivery is gone' })
  assert.equal(await hasShop(second), false)
  watch.check()
  assert.ok(watch.seen() > 10)
  life.abort()
}

describe('a Delivery in simulation', () => {
  test('comes, moves and goes through a kill around durable steps (I-08, I-24)', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(comeMoveGo, { seed: 'parcel', every: deep ? 1 : 31 })
    assert.ok(tried > 3, `only ${tried} crashes tried`)
  })

  test('gets through a bad network', async () => {
    await simulate(
      async (world) => {
        world.network.setDefaultLink({ latencyMs: [1, 300], drop: 0.02, reset: 0.01 })
        await comeMoveGo(world)
      },
      { seeds: process.env['FLOTILLA_DEEP'] ? 100 : 2 },
    )
  })

  test('deleted while its cluster is away: with Orphan everything stays, and the Delivery does not wait', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 1 })
        await deliver(world, fleet, { clusters: ['store-1'], options: { delete: { bundleDeleted: 'Orphan' } } })
        await untilReason(world, fleet, 'Delivered')
        const { agent } = fleet.members[0]!
        agent.kill()
        const isAway = async () => (await listStored(fleet.hubStore, Cluster)).every(isOffline)
        await world.runUntil(recheckOnWrite(fleet.hubStore, isAway), { ...WITHIN, what: 'it is offline' })
        await remove(world, fleet)
        const isGone = async () => (await listStored(fleet.hubStore, Delivery)).length === 0
        await world.runUntil(isGone, { ...WITHIN, what: 'the Delivery is gone' })
        const [assignment] = await listStored(fleet.hubStore, Assignment)
        assert.deepEqual(
          assignment!.spec.tombstones?.map(({ bundle, policy }) => [bundle, policy]),
          [['default/delivery:shop', 'Orphan']],
        )
        agent.start()
        await world.runUntil(() => isForgotten(fleet), { ...WITHIN, what: 'the receipt is stored' })
        assert.ok(await hasShop(fleet.members[0]), 'nothing was deleted')
      },
      { seeds: 2 },
    )
  })

  test('of an unknown cluster waits, says so, and reaches the cluster when it joins', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 1 })
        await deliver(world, fleet, { clusters: ['store-1', 'store-9'] })
        await untilReason(world, fleet, 'NotAdmitted')
        await world.runUntil(() => hasShop(fleet.members[0]), { ...WITHIN, what: 'store-1 has it' })
        const [delivery] = await listStored(fleet.hubStore, Delivery)
        const admitted = delivery!.status!.conditions!.find(({ type }) => type === 'Admitted')!
        assert.equal(admitted.reason, 'ClusterNotFound')
        assert.match(admitted.message, /Cluster store-9 does not exist/)
        await deliver(world, fleet, { clusters: ['store-1'] })
        await untilReason(world, fleet, 'Delivered')
      },
      { seeds: 1 },
    )
  })
})
