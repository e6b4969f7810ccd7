/** Windows and freezes end to end: hub and agents, also while they cannot reach each other. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { formatTime } from '../../core/time/time.ts'
import { isObject } from '../../core/json.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { spanAt } from '../../plan/windows/window.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { startFleet, untilAnswered } from './fleet.ts'
import type { Fleet, FleetMember } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const MINUTE = 60_000
const AS_PERSON = { fieldManager: 'person', force: true }

async function applyShop(world: World, fleet: Fleet, text: string): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('good morning', text)
  const spec = { ...SHOP_BUNDLE.spec, manifests, rollout: { concurrency: 3 } }
  await untilAnswered(world, () => fleet.client.apply(Placement, SHOP_PLACEMENT, AS_PERSON))
  await untilAnswered(world, () => fleet.client.apply(Bundle, { ...SHOP_BUNDLE, spec }, AS_PERSON))
}

const freeze = (world: World, spec: Partial<ClusterWindow['spec']> = {}): ClusterWindow =>
  build(ClusterWindow, 'season', {
    spec: {
      mode: 'Freeze',
      times: [{ from: formatTime(world.clock.now() - MINUTE), until: formatTime(world.clock.now() + 9 * MINUTE) }],
      reason: 'stocktaking',
      ...spec,
    },
  })

/** `store-1 Ready 2, store-2 …` as their agents last reported. */
async function told(fleet: Fleet): Promise<string> {
  const reports = await listStored(fleet.hubStore, ClusterReport)
  return reports
    .map(
      ({ metadata, spec }) => `${metadata.name} ${spec.bundles.map((row) => `${row.state} ${row.generation}`).join()}`,
    )
    .sort()
    .join(', ')
}

async function textOf(member: FleetMember): Promise<string | undefined> {
  const maps = await listStored(member.store, ConfigMap)
  const found = maps.find(({ metadata }) => metadata.name === 'greeting') as { data?: { text: string } } | undefined
  return found?.data?.text
}

async function rolloutSays(fleet: Fleet, name: string): Promise<string> {
  const rollout = (await listStored(fleet.hubStore, Rollout)).find(({ metadata }) => metadata.name === name)
  return rollout?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? ''
}

describe('a freeze', () => {
  test('holds a store while the rest go on, on the hub; what runs there stays and is repaired; it follows when lifted', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 3 })
        await applyShop(world, fleet, 'good morning')
        await world.run(120_000)
        await untilAnswered(world, () => fleet.client.create(ClusterWindow, freeze(world, { clusters: ['store-2'] })))
        await world.run(5_000)
        await applyShop(world, fleet, 'good evening')
        await world.run(180_000)
        assert.equal(await told(fleet), 'store-1 Ready 2, store-2 Ready 1, store-3 Ready 2')
        assert.match(
          await rolloutSays(fleet, 'shop-g2'),
          /2 of 3 ready; store-2 is frozen or on hold and is admitted afterwards/,
        )
        await untilAnswered(world, () =>
          fleet.members[1]!.client.delete(ConfigMap, { name: 'greeting', namespace: 'shop' }),
        )
        await world.run(60_000)
        assert.equal(await textOf(fleet.members[1]!), 'good morning', 'repaired, and not moved')
        await untilAnswered(world, () => fleet.client.delete(ClusterWindow, { name: 'season' }))
        await world.run(120_000)
        assert.equal(await told(fleet), 'store-1 Ready 2, store-2 Ready 2, store-3 Ready 2')
      },
      { seeds: 1 },
    )
  })

  test('that is set after the admission holds at the agent, which hears of both at once', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 2 })
        await applyShop(world, fleet, 'good morning')
        await world.run(120_000)
        world.network.cut({ from: 'agent-of-store-2', to: 'gateway' })
        await applyShop(world, fleet, 'good evening')
        await world.run(20_000)
        const admitted = (await listStored(fleet.hubStore, Rollout)).flatMap(({ status }) => status?.admissions ?? [])
        assert.deepEqual(
          admitted.map(({ cluster }) => cluster),
          ['store-2'],
          'handed out, and not heard',
        )
        await untilAnswered(world, () => fleet.client.create(ClusterWindow, freeze(world)))
        await world.run(20_000)
        world.network.healAll()
        await world.run(5 * MINUTE)
        assert.equal(await textOf(fleet.members[1]!), 'good morning')
        assert.equal(await told(fleet), 'store-1 Ready 2, store-2 Pending 2')
        await world.run(5 * MINUTE)
        assert.equal(await textOf(fleet.members[1]!), 'good evening', 'begins by itself when the freeze is over')
      },
      { seeds: 1 },
    )
  })

  test('lets a release with an exception pass, and no later release', async () => {
    await simulate(
      async (world) => {
        const fleet = await startFleet(world, { clusters: 2 })
        const subjects = [{ kind: 'Group' as const, name: 'on-call' }]
        await untilAnswered(world, () =>
          fleet.client.create(ClusterWindow, freeze(world, { exceptions: [{ name: 'incident', subjects }] })),
        )
        await applyShop(world, fleet, 'good morning')
        await world.run(120_000)
        assert.match(
          await rolloutSays(fleet, 'shop-g1'),
          /No cluster of ring "\S+" can change now: store-1, store-2\. Freeze "season"/,
        )
        await untilAnswered(world, async () => {
          const rollout = await fleet.client.get(Rollout, { name: 'shop-g1', namespace: 'default' })
          return fleet.client.update(Rollout, { ...rollout, spec: { ...rollout.spec, exceptions: subjects } })
        })
        await world.run(120_000)
        assert.equal(await told(fleet), 'store-1 Ready 1, store-2 Ready 1')
        await applyShop(world, fleet, 'good evening')
        await world.run(120_000)
        assert.equal(await told(fleet), 'store-1 Ready 1, store-2 Ready 1')
      },
      { seeds: 1 },
    )
  })
})

test('a hold of a cluster reaches its agent: what was admitted does not begin, and begins when it is released', async () => {
  await simulate(
    async (world) => {
      const fleet = await startFleet(world, { clusters: 1 })
      await applyShop(world, fleet, 'good morning')
      await world.run(120_000)
      world.network.cut({ from: 'agent-of-store-1', to: 'gateway' })
      await applyShop(world, fleet, 'good evening')
      await world.run(20_000)
      const hold = (held: Cluster['spec']['hold']) =>
        untilAnswered(world, async () => {
          const { spec, ...cluster } = await fleet.client.get(Cluster, { name: 'store-1' })
          const { hold: _, ...rest } = spec
          return fleet.client.update(Cluster, { ...cluster, spec: { ...rest, ...(held ? { hold: held } : {}) } })
        })
      await hold({ reason: 'fire alarm', since: formatTime(world.clock.now()) })
      await world.run(20_000)
      world.network.healAll()
      await world.run(3 * MINUTE)
      assert.equal(await textOf(fleet.members[0]!), 'good morning')
      const [report] = await listStored(fleet.hubStore, ClusterReport)
      assert.match(
        report?.spec.bundles[0]?.message ?? '',
        /on hold since .*: fire alarm\. End this with `flotilla cluster release/,
      )
      await hold(undefined)
      await world.run(120_000)
      assert.equal(await textOf(fleet.members[0]!), 'good evening')
    },
    { seeds: 1 },
  )
})

/** Notes when each cluster begins each generation: the first inventory that names it. */
function watchBeginnings(fleet: Fleet, world: World, signal: AbortSignal) {
  const begun: { readonly cluster: string; readonly generation: number; readonly at: number }[] = []
  for (const { name, store } of fleet.members) {
    const seen = new Set<number>()
    const follow = async (): Promise<void> => {
      for await (const { value } of store.watch(storePrefix(ConfigMap), 0, signal)) {
        const state = value === undefined ? undefined : (JSON.parse(value) as { data?: { state?: string } }).data?.state
        const inventory: unknown = state === undefined ? undefined : JSON.parse(state)
        if (!isObject(inventory) || typeof inventory['generation'] !== 'number') continue
        if (seen.has(inventory['generation'])) continue
        seen.add(inventory['generation'])
        begun.push({ cluster: name, generation: inventory['generation'], at: world.clock.now() })
      }
    }
    follow().catch(() => {}) // ends with the scenario
  }
  return begun
}

test('no content begins outside the windows of its site, through drops and restarts, in a zone with quarter hours', async () => {
  const ZONES = ['Europe/Berlin', 'Asia/Kathmandu']
  const times = [{ schedule: '*/10 * * * *', duration: '3m' }]
  const isDeep = process.env['FLOTILLA_DEEP'] !== undefined
  let beginnings = 0
  await simulate(
    async (world) => {
      const life = new AbortController()
      const fleet = await startFleet(world, { clusters: ZONES.length })
      const begun = watchBeginnings(fleet, world, life.signal)
      await untilAnswered(world, () =>
        fleet.client.create(
          ClusterWindow,
          build(ClusterWindow, 'often', { spec: { mode: 'Open', times, reason: 'r' } }),
        ),
      )
      for (const [i, timeZone] of ZONES.entries()) {
        await untilAnswered(world, async () => {
          const cluster = await fleet.client.get(Cluster, { name: `store-${i + 1}` })
          return fleet.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, timeZone } })
        })
      }
      const trouble = async (): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          await world.clock.sleep(world.ids.integer(MINUTE, 3 * MINUTE))
          const process = world.ids.pick([fleet.hub, ...fleet.members.map(({ agent }) => agent)])
          if (!process.running()) continue
          process.kill()
          await world.clock.sleep(world.ids.integer(1_000, MINUTE))
          process.start()
        }
      }
      void trouble()
      for (const text of isDeep ? ['one', 'two'] : ['one']) {
        await world.run(world.ids.integer(0, 6 * MINUTE))
        await applyShop(world, fleet, text)
      }
      await world.run(15 * MINUTE)
      life.abort()
      const last = isDeep ? 2 : 1
      assert.equal(await told(fleet), `store-1 Ready ${last}, store-2 Ready ${last}`)
      for (const { cluster, generation, at } of begun) {
        const zone = ZONES[Number(cluster.slice(6)) - 1]!
        // The write that is seen comes a moment after the decision.
        const isOpen = [at, at - 5_000].some((moment) => spanAt(times[0]!, zone, moment).isIn)
        assert.ok(isOpen, `${cluster} began generation ${generation} at ${formatTime(at)}, when its window was closed`)
      }
      beginnings += begun.length
    },
    { seeds: isDeep ? 50 : 1 },
  )
  assert.ok(beginnings >= 2, `only ${beginnings} beginnings seen`)
})
