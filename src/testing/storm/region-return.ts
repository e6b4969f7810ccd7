/**
 * A region returns in the middle of a rollout: all its clusters reconnect, report and fetch the new version at once,
 * and the version is bad on every cluster of the region. The rollout's promises hold: at most the ring's concurrency
 * changes at once, at most the budget is ever broken, no cluster begins after its start-by time, and the next release
 * reaches all clusters.
 */
import assert from 'node:assert/strict'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { startFleet } from '../../sim/fleet/fleet.ts'
import type { Fleet } from '../../sim/fleet/fleet.ts'
import type { World } from '../../sim/kernel/world.ts'
import { build } from '../fixtures/builders.ts'
import { isOffline, listStored, watchFleet, recheckOnWrite } from '../simulation/fleet-invariants.ts'
import { watchTruth } from '../simulation/fleet-truth.ts'
import type { FleetTruth } from '../simulation/fleet-truth.ts'
import { SHOP_PLACEMENT } from '../simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../simulation/until-accepted.ts'
import { simulate } from '../simulation/run-seeds.ts'
import { comesToRest, isSettled, release } from './storm.ts'

const MINUTE = 60_000
const CANARY = 'store-1'
const AS_PERSON = { fieldManager: 'person', force: true }

/** What to simulate. */
export interface RegionOptions {
  /** How many clusters come back at once. */
  readonly clusters: number
  /** How many of a ring may change at once, and how many may fail. */
  readonly concurrency: number
  readonly maxFailed: number
}

/** What was seen. */
export interface RegionSeen {
  readonly truth: FleetTruth
  /** The most clusters that held a slot of a Rollout at once. */
  readonly mostInFlight: number
  /** How many had the bad version when the rollout stopped. */
  readonly struck: number
}

/** Runs it; throws the first broken promise. */
export async function regionReturns(world: World, options: RegionOptions): Promise<RegionSeen> {
  const life = new AbortController()
  const { concurrency, maxFailed } = options
  const fleet = await startFleet(world, {
    clusters: options.clusters + 1,
    labels: (index) => ({ tier: 'store', ring: index === 0 ? 'canary' : 'rest' }),
    behaviourOf: (name) => ({ isBroken: (image) => image.includes('bad') && name !== CANARY }),
  })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const budgetOf = (name: string) =>
    name === CANARY ? { ring: 'canary', most: 1 } : { ring: 'rest', most: concurrency + maxFailed }
  // The hub's deadline is two minutes; when it began to listen is known to about a second.
  const promised = { budgetOf, firstRing: 'canary', offlineAfterMs: 2 * MINUTE - 2_000 }
  const check = (): void => assert.deepEqual([...truth.violations, ...watch.violations].slice(0, 6), [])
  const region = fleet.members.slice(1)
  const gatewayOf = (name: string) => ({ from: `agent-of-${name}`, to: 'gateway' })
  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    await world.runUntil(recheckOnWrite(fleet.hubStore, holds), { withinMs: 120 * MINUTE, what })
    check()
  }

  await prepare(world, fleet, options)
  await retryUntilAccepted(world, 'the placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, AS_PERSON))
  await release(world, fleet, '1.0')
  const truth = watchTruth(world, fleet, promised, life.signal)
  await until('version 1.0 everywhere', () => isSettled(fleet, truth, '1.0'))

  for (const { name } of region) world.network.cut(gatewayOf(name))
  await until('the region offline', async () => (await offline(fleet)) === region.length)
  await release(world, fleet, '2.0-bad')
  await until('the canary through', async () => (await rolloutOf(fleet, 'shop-g2'))?.status?.ring === 'rest')
  await world.run(MINUTE)
  const before = truth.looks.get('I-15')
  for (const { name } of region) world.network.heal(gatewayOf(name))
  await until('the rollout stops', async () => (await rolloutOf(fleet, 'shop-g2'))?.status?.phase === 'Failed')
  await world.run(3 * MINUTE)
  check()
  assert.equal(truth.looks.get('I-15'), before, 'I-15: who came back is not called offline again')
  const struck = region.filter(({ name }) => truth.versionOf(name) === '2.0-bad').length

  await release(world, fleet, '3.0')
  await until('I-12: version 3.0 everywhere', () => isSettled(fleet, truth, '3.0'))
  await comesToRest(world, fleet, 6 * MINUTE)
  check()
  life.abort()
  return { truth, mostInFlight: watch.mostInFlight(), struck }
}

/** Runs it once, and looks that what it is about did happen. */
export async function checkRegion(options: RegionOptions): Promise<void> {
  const { clusters, concurrency, maxFailed } = options
  const LEAST = { 'I-04': 4 * clusters, 'I-14': 2 * clusters, 'I-15': clusters, 'I-23': 2 * clusters }
  await simulate(
    async (world) => {
      const { truth, mostInFlight, struck } = await regionReturns(world, options)
      assert.equal(mostInFlight, concurrency, 'all slots were in use, and no more')
      assert.ok(struck > maxFailed && struck <= concurrency + maxFailed, `${struck} were struck`)
      for (const [invariant, least] of Object.entries(LEAST))
        assert.ok((truth.looks.get(invariant) ?? 0) >= least, `${invariant} was hardly put to the test`)
    },
    { seeds: 1 },
  )
}

async function prepare(world: World, fleet: Fleet, { concurrency, maxFailed }: RegionOptions): Promise<void> {
  const plan = build(RolloutPlan, 'default/careful', {
    spec: {
      rings: [
        { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1, maxFailed: 0, startBy: '90s' },
        { name: 'rest', concurrency, maxFailed, startBy: '90s' },
      ],
      onFailure: 'Pause',
      progressDeadline: '5m',
      start: 'Automatic',
    },
  })
  await retryUntilAccepted(world, 'the plan', () => fleet.client.apply(RolloutPlan, plan, AS_PERSON))
}

async function offline(fleet: Fleet): Promise<number> {
  return (await listStored(fleet.hubStore, Cluster)).filter(isOffline).length
}

async function rolloutOf(fleet: Fleet, name: string): Promise<Rollout | undefined> {
  return (await listStored(fleet.hubStore, Rollout)).find(({ metadata }) => metadata.name === name)
}
