/** Two hubs at work on one database, as after a pause of the leader, of which one hears of some things late. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Store } from '../../store/store.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { gatewayOf, delayWatches } from '../../testing/storm/faults.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { Host } from '../kernel/process.ts'
import type { World } from '../kernel/world.ts'

const MINUTE = 60_000
const AS_PERSON = { fieldManager: 'person', force: true }

/** The database as a reader sees it that gets changes of one kind a minute late, and all other changes at once. */
const behindOn =
  (kind: Kind) =>
  (store: Store, host: Host): Store => {
    const [soon, slow] = [300, MINUTE].map((lagMs) => delayWatches(store, host, () => lagMs)) as [Store, Store]
    const watch: Store['watch'] = (prefix, ...rest) =>
      (prefix.startsWith(storePrefix(kind)) ? slow : soon).watch(prefix, ...rest)
    return { ...store, watch }
  }

/** Counts the writes of some kinds until it is asked. */
function countWrites(store: Store, ...kinds: readonly Kind[]): () => Promise<number> {
  const ended = new AbortController()
  let writes = 0
  const follow = async (kind: Kind): Promise<void> => {
    for await (const { value } of store.watch(storePrefix(kind), store.revision(), ended.signal))
      if (value !== undefined) writes += 1
  }
  const following = kinds.map((kind) => follow(kind).catch(() => {})) // ends with the count
  return async () => {
    ended.abort()
    await Promise.all(following)
    return writes
  }
}

async function fleetWithShop(world: World, clusters = 1): Promise<Fleet> {
  const fleet = await startFleet(world, { clusters })
  await retryUntilAccepted(world, 'the placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, AS_PERSON))
  await retryUntilAccepted(world, 'the bundle', () => fleet.client.apply(Bundle, SHOP_BUNDLE, AS_PERSON))
  await world.run(MINUTE)
  return fleet
}

async function edit(world: World, fleet: Fleet): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('shop:1.0', 'shop:2.0')
  const edited = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests } }
  await retryUntilAccepted(world, 'the edit', () => fleet.client.apply(Bundle, edited, AS_PERSON))
}

test('one that hears of an edit late makes no Release of what was there before', async () => {
  await simulate(
    async (world) => {
      const fleet = await fleetWithShop(world)
      const second = fleet.startSecondHub(behindOn(Bundle))
      await world.run(2 * MINUTE)
      await edit(world, fleet)
      for (const ms of [5_000, 3 * MINUTE]) {
        await world.run(ms)
        const releases = await listStored(fleet.hubStore, Release)
        assert.deepEqual(releases.map(({ metadata }) => metadata.name).sort(), ['shop-g1', 'shop-g2'])
      }
      second.kill()
    },
    { seeds: 3 },
  )
})

test('two that see different summaries of who is there do not write against each other without end', async () => {
  await simulate(
    async (world) => {
      const fleet = await fleetWithShop(world)
      fleet.startSecondHub(behindOn(Lease))
      await world.run(2 * MINUTE)
      const counted = countWrites(fleet.hubStore, Cluster)
      for (let time = 0; time < 2; time++) {
        world.network.cut(gatewayOf('store-1'))
        await world.run(4 * MINUTE)
        world.network.heal(gatewayOf('store-1'))
        await world.run(4 * MINUTE)
      }
      const writes = await counted()
      assert.ok(writes >= 4, 'it went away and came back')
      assert.ok(writes < 200, `${writes} writes about one cluster in 16 minutes`)
    },
    { seeds: 3 },
  )
})

for (const kind of [ClusterReport, Release, Rollout]) {
  test(`two of which one hears late of a ${kind.kind} do not write a rollout against each other without end`, async () => {
    await simulate(
      async (world) => {
        const fleet = await fleetWithShop(world, 4)
        fleet.startSecondHub(behindOn(kind))
        await world.run(2 * MINUTE)
        const counted = countWrites(fleet.hubStore, Rollout, Bundle)
        await edit(world, fleet)
        await world.run(4 * MINUTE)
        const [rollouts, writes] = [await listStored(fleet.hubStore, Rollout), await counted()]
        const told = rollouts.map(
          ({ metadata, status }) => `${metadata.name} ${status?.phase} ${status?.counts?.ready}`,
        )
        assert.deepEqual(told.sort(), ['shop-g1 Completed 4', 'shop-g2 Completed 4'])
        assert.ok(writes >= 10, `${writes} writes: there was a rollout`)
        assert.ok(writes < 80, `${writes} writes of one rollout over four clusters`)
      },
      { seeds: 3 },
    )
  })
}
