/**
 * A hub whose database is the one of an hour ago, as a restored backup or a copied file brings it back (I-08, I-11,
 * I-24, I-25).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { loadTrust, TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import { newEpoch } from '../../wire/trust/rotate-keys.ts'
import { SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const WITHIN = { withinMs: 3_600_000 }

async function copyOf(store: Store): Promise<Store> {
  const copy = createMemoryStore()
  for (const { key, value } of (await store.list({ prefix: '/' })).entries) {
    const object = JSON.parse(value) as { metadata: { resourceVersion: string } }
    // A stored object says its own revision, as a restore leaves it.
    const text = (revision: number) =>
      JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } })
    await copy.commit({ key, expect: 0, value: text })
  }
  return copy
}

async function applyText(world: World, fleet: Fleet, text: string): Promise<void> {
  const manifests = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: note\n  namespace: default\ndata:\n  text: ${text}\n`
  const bundle: Bundle = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Bundle',
    metadata: { name: 'note', namespace: 'default' },
    spec: { manifests, placement: SHOP_PLACEMENT.metadata.name, rollout: { concurrency: 9 } },
  }
  const options = { fieldManager: 'person', force: true }
  let done = false
  const write = async () => {
    await fleet.client.apply(
      Placement,
      { ...SHOP_PLACEMENT, metadata: { ...SHOP_PLACEMENT.metadata, namespace: 'default' } },
      options,
    )
    await fleet.client.apply(Bundle, bundle, options)
    done = true
  }
  void write().catch(() => {})
  await world.runUntil(() => done, { ...WITHIN, what: `the API takes ${text}` })
}

async function texts(fleet: Fleet): Promise<string[]> {
  const found: string[] = []
  for (const { store } of fleet.members) {
    for (const { metadata, data } of await listStored(store, ConfigMap))
      if (metadata.name === 'note') found.push(data?.['text'] ?? '')
  }
  return found
}

const until = (world: World, fleet: Fleet, text: string) =>
  world.runUntil(async () => (await texts(fleet)).every((one) => one === text) && (await texts(fleet)).length === 2, {
    ...WITHIN,
    what: `${text} everywhere`,
  })

test('is told so by its agents, changes nothing, and goes on in a new epoch when a person says so', async () => {
  await simulate(
    async (world) => {
      const fleet = await startFleet(world, { clusters: 2 })
      await applyText(world, fleet, 'one')
      await until(world, fleet, 'one')
      const past = await copyOf(fleet.disk.store)
      await applyText(world, fleet, 'two')
      await until(world, fleet, 'two')
      await applyText(world, fleet, 'three')
      await until(world, fleet, 'three')

      fleet.hub.kill()
      fleet.disk.store = past
      fleet.hub.start()
      await world.runUntil(
        async () => (await listStored(fleet.hubStore, Cluster)).every(({ status }) => status?.ahead !== undefined),
        { ...WITHIN, what: 'both agents telling the truth' },
      )
      await applyText(world, fleet, 'past')
      await world.run(300_000)
      assert.deepEqual(await texts(fleet), ['three', 'three'])
      for (const { status } of await listStored(fleet.hubStore, Cluster)) {
        const reasons = status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? []
        assert.ok(reasons.includes('HubBehind AgentAhead') && reasons.includes('Assigned HubBehind'), reasons.join())
      }

      fleet.hub.kill()
      const trust = loadTrust((name) => fleet.disk.keys[name])
      const change = { rootKey: fleet.disk.keys[TRUST_FILES.root]!, now: world.clock.now() }
      for (const { name, text } of newEpoch(trust, change)) fleet.disk.keys[name] = text
      fleet.hub.start()
      await world.run(300_000)
      assert.deepEqual(await texts(fleet), ['three', 'three'], 'an epoch alone changes nothing')
      await applyText(world, fleet, 'four')
      await until(world, fleet, 'four')
    },
    { seeds: 1 },
  )
})
