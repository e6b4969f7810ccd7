/** What meets in one evening: rings, an approval, a frozen store, a store that fails, hubs that die, and a rollback. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { formatTime } from '../../core/time/time.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { listStored, watchFleet } from '../../testing/simulation/fleet-invariants.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import { simulate } from '../../testing/simulation/run-seeds.ts'
import { startFleet } from './fleet.ts'
import type { Fleet, FleetMember } from './fleet.ts'
import type { World } from '../kernel/world.ts'

const MINUTE = 60_000
const WITHIN = { withinMs: 3_600_000 }
const AS_PERSON = { fieldManager: 'person', force: true }
const FROZEN = 'store-5'
const FAILING = 'store-3'

const PLAN = build(RolloutPlan, 'default/careful', {
  spec: {
    rings: [
      { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1, maxFailed: 0, soak: '20s' },
      { name: 'rest', concurrency: 2, maxFailed: 0, approvals: { count: 1, noSelfApproval: false } },
    ],
    onFailure: 'RollBackAll',
    start: 'Automatic',
  },
})

function shop(version: string, rollout: Bundle['spec']['rollout']): Bundle {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('shop:1.0', `shop:${version}`)
  return { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, ...(rollout && { rollout }) } }
}

const versionOf = (value: string): string => /shop:(\d\.\d)/.exec(value)?.[1] ?? ''

/** Every version a store's Deployment has had, in order. */
function watchVersions({ store }: FleetMember, signal: AbortSignal): string[] {
  const seen: string[] = []
  const follow = async (): Promise<void> => {
    for await (const { value } of store.watch(storePrefix(Deployment), 0, signal)) {
      const version = value === undefined ? 'gone' : versionOf(JSON.stringify(JSON.parse(value).spec))
      if (seen.at(-1) !== version) seen.push(version)
    }
  }
  follow().catch(() => {}) // ends with the scenario
  return seen
}

async function rolloutOf(fleet: Fleet, name: string): Promise<Rollout | undefined> {
  return (await listStored(fleet.hubStore, Rollout)).find(({ metadata }) => metadata.name === name)
}

async function states(fleet: Fleet): Promise<string> {
  const reports = await listStored(fleet.hubStore, ClusterReport)
  return reports.map(({ spec }) => spec.bundles.map(({ state }) => state).join()).join(' ')
}

/** Kills the hub or an agent now and then, and starts it again. */
async function disturb(world: World, fleet: Fleet): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await world.clock.sleep(world.ids.integer(1_000, 40_000))
    const process = round % 2 === 0 ? fleet.hub : world.ids.pick(fleet.members).agent
    if (!process.running()) continue
    process.kill()
    await world.clock.sleep(world.ids.integer(100, 20_000))
    process.start()
  }
  world.network.calm()
}

async function evening(world: World): Promise<void> {
  const life = new AbortController()
  const fleet = await startFleet(world, {
    clusters: 5,
    labels: (index) => ({ tier: 'store', ...(index === 0 ? { ring: 'canary' } : {}) }),
    behaviourOf: (name) => ({ isBroken: (image) => name === FAILING && image.endsWith('shop:2.0') }),
  })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const versions = fleet.members.map((member) => watchVersions(member, life.signal))
  const say = (what: string, act: () => Promise<unknown>) => retryUntilAccepted(world, what, act)
  await say('the plan', () => fleet.client.apply(RolloutPlan, PLAN, AS_PERSON))
  await say('the placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, AS_PERSON))
  await say('version 1', () => fleet.client.apply(Bundle, shop('1.0', { concurrency: 5 }), AS_PERSON))
  await world.runUntil(async () => (await rolloutOf(fleet, 'shop-g1'))?.status?.phase === 'Completed', {
    ...WITHIN,
    what: 'version 1 everywhere',
  })

  const [from, until] = [-MINUTE, 24 * 60 * MINUTE].map((ms) => formatTime(world.clock.now() + ms))
  const times = [{ from: from!, until: until! }]
  const freeze = build(ClusterWindow, 'season', {
    spec: { mode: 'Freeze', clusters: [FROZEN], times, reason: 'stocktaking' },
  })
  await say('the freeze', () => fleet.client.apply(ClusterWindow, freeze, AS_PERSON))
  world.network.setDefaultLink({ latencyMs: [1, 200], drop: 0.01, reset: 0.005 })
  void disturb(world, fleet)
  await say('version 2', () => fleet.client.apply(Bundle, shop('2.0', { plan: 'careful' }), AS_PERSON))
  await world.runUntil(async () => (await rolloutOf(fleet, 'shop-g2'))?.status?.ring === 'rest', {
    ...WITHIN,
    what: 'the canary is through',
  })
  await world.run(MINUTE)
  const untouched = versions.map((seen) => seen.join(' '))
  assert.deepEqual(untouched, ['1.0 2.0', '1.0', '1.0', '1.0', '1.0'], 'no cluster changes before the approval')
  const approval = build(Approval, 'default/shop-g2-rest-admin', {
    spec: { rollout: 'shop-g2', plan: 'careful', ring: 'rest', decision: 'Approve', author: 'admin' },
  })
  await say('the approval', () => fleet.client.apply(Approval, approval, AS_PERSON))
  await world.runUntil(async () => (await rolloutOf(fleet, 'shop-g2-undo-0'))?.status?.phase === 'Completed', {
    ...WITHIN,
    what: `${FAILING} fails, and all of it is taken back`,
  })
  await world.run(15 * MINUTE)
  watch.check()
  assert.ok(watch.seen() > 20, `only ${watch.seen()} changes seen`)
  assert.deepEqual(versions[4], ['1.0'], `${FROZEN} is frozen`)
  assert.deepEqual(versions[0], ['1.0', '2.0', '1.0'])
  assert.deepEqual(versions[2], ['1.0', '2.0', '1.0'])
  for (const seen of versions) assert.equal(seen.at(-1), '1.0')
  assert.equal(await states(fleet), 'Ready Ready Ready Ready Ready')
  const before = fleet.hubStore.revision()
  await world.run(10 * MINUTE)
  const { entries } = await fleet.hubStore.list({ prefix: '/' })
  const written = entries.filter(({ key, modRevision }) => modRevision > before && !key.includes('/leases/'))
  assert.deepEqual(
    written.map(({ key }) => key),
    [],
    'I-12: at rest nothing is written',
  )
  life.abort()
}

test('a failure after an approval is taken back past a freeze and dying hubs, within budgets (I-04, I-12, I-23)', async () => {
  await simulate(evening, { seeds: process.env['FLOTILLA_DEEP'] ? 20 : 2 })
})
