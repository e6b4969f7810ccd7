/**
 * Removal under faults: whatever is lost, killed or restarted, exactly what was made goes, and nothing goes without a
 * tombstone and its receipt.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap, Namespace } from '../../kinds/builtin/core.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { isApiError } from '../../core/errors.ts'
import {
  isOffline,
  recordedIn,
  listStored,
  watchFleet,
  recheckOnWrite,
} from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT, UNGUARDED_SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const WITHIN = { withinMs: 7_200_000 }

const PERSON = { fieldManager: 'person', force: true }

/** Two clusters that run the shop. */
async function bothReady(world: World, signal: AbortSignal, placement = SHOP_PLACEMENT) {
  const fleet = await startFleet(world, { clusters: 2 })
  const watch = watchFleet(fleet.hubStore, signal)
  const bundle = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, rollout: { concurrency: 1 } } }
  await retryUntilAccepted(world, 'placement', () => fleet.client.apply(Placement, placement, PERSON))
  await retryUntilAccepted(world, 'bundle', () => fleet.client.apply(Bundle, bundle, PERSON))
  await world.runUntil(async () => (await readyCount(fleet)) === 2, { ...WITHIN, what: 'both clusters Ready' })
  return { fleet, watch }
}

/** A bundle comes, its clusters change it not, a person deletes it. */
async function comeAndGo(world: World, faults: (fleet: Fleet) => void = () => {}): Promise<void> {
  const life = new AbortController()
  const { fleet, watch } = await bothReady(world, life.signal)
  faults(fleet)
  for (const { client, name } of fleet.members) {
    const bystander = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bystander', namespace: 'shop' } }
    await retryUntilAccepted(world, `a bystander in ${name}`, () => client.apply(ConfigMap, bystander, PERSON))
  }
  world.focus()
  await retryUntilAccepted(world, 'deletion', () =>
    fleet.client.delete(Bundle, { namespace: 'default', name: 'shop' }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
  await world.runUntil(() => isRemoved(fleet), { ...WITHIN, what: 'both clusters removed' })
  watch.check()
  assert.equal(watch.mostInFlight(), 1, 'one slot was used, never more')
  for (const { store, name } of fleet.members) {
    assert.deepEqual(await listStored(store, Deployment), [], `${name} has no Deployment`)
    const shop = (await listStored(store, ConfigMap)).filter(({ metadata }) => metadata.namespace === 'shop')
    assert.deepEqual(
      shop.map(({ metadata }) => metadata.name).filter((one) => one !== 'kube-root-ca.crt'),
      ['bystander'],
      `${name} keeps objects outside the inventory (I-07)`,
    )
    assert.ok(
      (await listStored(store, Namespace)).some(({ metadata }) => metadata.name === 'shop'),
      'kept: no request named it',
    )
    await world.runUntil(async () => (await recordedIn(store)).length === 0, {
      ...WITHIN,
      what: `${name} has forgotten it`,
    })
  }
  for (const { spec } of await listStored(fleet.hubStore, ClusterReport)) {
    assert.equal(spec.removals?.[0]?.state, 'Removed')
    assert.deepEqual(spec.removals[0].left, ['Namespace shop: it may hold what the bundle did not bring'])
  }
  life.abort()
}

/** One wrong letter in the selector: nothing goes before a person says so, and then it goes slot by slot. */
async function wrongLetter(world: World): Promise<void> {
  const life = new AbortController()
  const { fleet, watch } = await bothReady(world, life.signal)
  const key = { namespace: 'default', name: 'stores' }
  const wrong = { ...SHOP_PLACEMENT, spec: { clusterSelector: { matchLabels: { tier: 'stroe' } } } }
  world.focus()
  await retryUntilAccepted(world, 'edit', () => fleet.client.apply(Placement, wrong, PERSON))
  const token = async () => (await listStored(fleet.hubStore, Placement))[0]?.status?.held?.token
  await world.runUntil(async () => (await token()) !== undefined, { ...WITHIN, what: 'the change is held' })
  const shown = await token()
  await world.run(30_000)
  assert.equal(await token(), shown, 'the question stays the same')
  assert.deepEqual(
    (await listStored(fleet.hubStore, Rollout)).filter(({ spec }) => spec.removal),
    [],
    'no removal before the release',
  )
  for (const { store } of fleet.members) assert.equal((await listStored(store, Deployment)).length, 1)
  const body = { metadata: { annotations: { [ALLOW_DROP_ANNOTATION]: shown } } }
  await retryUntilAccepted(world, 'release', () => fleet.client.patch(Placement, key, { type: 'merge', body }))
  await world.runUntil(() => isRemoved(fleet), { ...WITHIN, what: 'both clusters removed' })
  watch.check()
  assert.equal(watch.mostInFlight(), 1, 'one slot was used, never more')
  for (const { store, name } of fleet.members) {
    await world.runUntil(async () => (await listStored(store, Deployment)).length === 0, {
      ...WITHIN,
      what: `${name} has no Deployment`,
    })
  }
  life.abort()
}

async function readyCount(fleet: Fleet): Promise<number> {
  const reports = await listStored(fleet.hubStore, ClusterReport)
  return reports.filter(({ spec }) => spec.bundles.some(({ state }) => state === 'Ready')).length
}

async function isRemoved(fleet: Fleet): Promise<boolean> {
  const assignments = await listStored(fleet.hubStore, Assignment)
  const removals = (await listStored(fleet.hubStore, Rollout)).filter(({ spec }) => spec.removal)
  return (
    removals.length > 0 &&
    removals.every(({ status }) => status?.phase === 'Completed') &&
    assignments.every(({ spec }) => spec.entries.length === 0 && spec.tombstones === undefined)
  )
}

describe('removal in simulation', () => {
  test('gets through a kill around durable steps', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(comeAndGo, { seed: 'leave', every: deep ? 1 : 23 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })

  test('waits for the release of a drop, through a kill around durable steps, and then goes by rings', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const tried = await simulateCrashes(wrongLetter, { seed: 'letter', every: deep ? 1 : 29 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })

  test('gets through a bad network', async () => {
    await simulate(
      async (world) => {
        world.network.setDefaultLink({ latencyMs: [1, 300], drop: 0.02, reset: 0.01 })
        await comeAndGo(world)
      },
      { seeds: process.env['FLOTILLA_DEEP'] ? 100 : 2 },
    )
  })

  test('a cluster that is let go and wanted again while it is away keeps what it runs when it returns', async () => {
    await simulate(
      async (world) => {
        const life = new AbortController()
        const { fleet, watch } = await bothReady(world, life.signal, UNGUARDED_SHOP_PLACEMENT)
        const { name, store, agent } = fleet.members[1]!
        const deleted: string[] = []
        const follow = async (): Promise<void> => {
          for await (const { key, value } of store.watch(storePrefix(Deployment), 0, life.signal)) {
            if (value === undefined) deleted.push(key)
          }
        }
        follow().catch(() => {}) // ends with the test
        agent.kill()
        const isAway = async () => (await listStored(fleet.hubStore, Cluster)).filter(isOffline).length === 1
        await world.runUntil(recheckOnWrite(fleet.hubStore, isAway), { ...WITHIN, what: 'it is offline' })
        for (const tier of ['elsewhere', 'store']) {
          const body = { metadata: { labels: { tier } } }
          await retryUntilAccepted(world, tier, () => fleet.client.patch(Cluster, { name }, { type: 'merge', body }))
          await world.run(world.ids.integer(0, 20_000))
        }
        agent.start()
        await world.run(600_000)
        watch.check()
        assert.deepEqual(deleted, [], 'nothing was deleted')
        assert.equal(await isAway(), false)
        assert.equal(await readyCount(fleet), 2)
        life.abort()
      },
      { seeds: 10 },
    )
  })

  test('an agent that is away while its bundle is deleted removes it when it returns', async () => {
    await simulate(
      (world) =>
        comeAndGo(world, ({ members }) => {
          members[1]!.agent.kill()
          void world.clock.sleep(3_600_000).then(() => members[1]!.agent.start())
        }),
      { seeds: 1 },
    )
  })
})
