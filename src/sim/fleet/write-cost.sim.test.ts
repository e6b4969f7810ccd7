/** What a change costs the hub, in durable writes: as much as it concerns, whatever else is in the fleet. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Bundle, REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { shopDelivery, shopObjects, storeObjects } from '../../testing/simulation/shop-delivery.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const [FEW, MANY] = [2, 6]
const PERSON = { fieldManager: 'person', force: true }
/** Long enough for a small fleet to come to rest. */
const REST_MS = 60_000

async function release(world: World, { client }: Fleet, text: string): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('good morning', text)
  const bundle = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, rollout: { concurrency: MANY } } }
  await retryUntilAccepted(world, 'the Placement is taken', () => client.apply(Placement, SHOP_PLACEMENT, PERSON))
  await retryUntilAccepted(world, 'the Bundle is taken', () => client.apply(Bundle, bundle, PERSON))
  await world.run(REST_MS)
}

/** The keys that a change writes until the fleet is at rest again, but for who leads and who was heard. */
async function keysWrittenBy(fleet: Fleet, change: () => Promise<void>): Promise<string[]> {
  const life = new AbortController()
  const keys: string[] = []
  const follow = async (): Promise<void> => {
    for await (const { key } of fleet.hubStore.watch('/', fleet.hubStore.revision(), life.signal)) keys.push(key)
  }
  const following = follow().catch((error: unknown) => {
    if (!life.signal.aborted) throw error
  })
  await change()
  life.abort()
  await following
  return keys.filter((key) => !key.includes('/leases/'))
}

async function costs(
  world: World,
  clusters: number,
): Promise<{ readonly released: string[]; readonly relabelled: string[] }> {
  const fleet = await startFleet(world, { clusters })
  await release(world, fleet, 'good morning')
  const released = await keysWrittenBy(fleet, () => release(world, fleet, 'good evening'))
  const relabelled = await keysWrittenBy(fleet, async () => {
    const floor = { type: 'merge', body: { metadata: { labels: { floor: 'second' } } } } as const
    await retryUntilAccepted(world, 'the label is taken', () => fleet.client.patch(Cluster, { name: 'store-1' }, floor))
    await world.run(REST_MS)
  })
  return { released, relabelled }
}

const written: Record<string, { readonly released: string[]; readonly relabelled: string[] }> = {}
before(async () => {
  for (const [name, clusters] of Object.entries({ few: FEW, many: MANY })) {
    await simulate(
      async (world) => {
        written[name] = await costs(world, clusters)
      },
      { seeds: 1 },
    )
  }
})

test('a new content is three writes a cluster: its document, its report, its part of the rollout (I-29)', () => {
  const { few, many } = written
  assert.ok(few!.released.length > 3 * FEW, 'the writes were seen')
  assert.ok(many!.released.length - few!.released.length <= 3 * (MANY - FEW), many!.released.join('\n'))
  const own = many!.released.filter((key) => key.endsWith('/store-1'))
  assert.deepEqual(own, ['/flotilla.dev/assignments/store-1', '/flotilla.dev/clusterreports/store-1'])
})

test('a label of one cluster is written for that cluster, however many others there are (I-16)', () => {
  const { few, many } = written
  assert.deepEqual(many!.relabelled, few!.relabelled)
  assert.deepEqual([...new Set(many!.relabelled)], ['/flotilla.dev/clusters/store-1'])
})

test('a Delivery is three writes a cluster, and one of its state when the cluster has it (I-29)', async () => {
  await simulate(
    async (world) => {
      const fleet = await startFleet(world, { clusters: MANY })
      const clusters = fleet.members.map(({ name }) => name)
      const delivered = (name: string, text: string) => async () => {
        const set = await storeObjects(fleet.hubBlobs, shopObjects(text, name))
        const delivery = shopDelivery(set, clusters)
        const metadata = { ...delivery.metadata, name, finalizers: [REMOVAL_FINALIZER] }
        await retryUntilAccepted(world, 'the Delivery is taken', () =>
          fleet.client.apply(Delivery, { ...delivery, metadata }, PERSON),
        )
        await world.run(REST_MS)
      }
      await delivered('one', 'good morning')()
      const changed = await keysWrittenBy(fleet, delivered('one', 'good evening'))
      const own = changed.filter((key) => key.endsWith('/store-1'))
      assert.deepEqual(own, ['/flotilla.dev/assignments/store-1', '/flotilla.dev/clusterreports/store-1'])
      const deliveries = changed.filter((key) => key.includes('/deliveries/'))
      // The edit of the person, the admissions of all clusters at once, and the state at the end.
      assert.ok(deliveries.length <= 4, deliveries.join('\n'))
      assert.ok(changed.length - deliveries.length <= 2 * MANY, changed.join('\n'))
    },
    { seeds: 1 },
  )
})
