/**
 * A bad day of a small fleet, drawn from a seed: releases that are good, bad at one site or cut their clusters off,
 * while messages are lost, processes die or stand still, a part of the fleet goes away and comes back at once, clocks
 * are wrong, clusters change their labels, an agent lies, and a second hub acts on what it saw minutes ago. Then the
 * faults stop, and everything must come to rest.
 */
import assert from 'node:assert/strict'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { startFleet } from '../../sim/fleet/fleet.ts'
import type { Fleet, FleetOptions } from '../../sim/fleet/fleet.ts'
import type { SeededIds } from '../../sim/kernel/seeded-ids.ts'
import type { World } from '../../sim/kernel/world.ts'
import { build } from '../fixtures/builders.ts'
import { listStored, watchFleet, recheckOnWrite } from '../simulation/fleet-invariants.ts'
import { watchTruth } from '../simulation/fleet-truth.ts'
import type { FleetTruth } from '../simulation/fleet-truth.ts'
import { SHOP_BUNDLE, UNGUARDED_SHOP_PLACEMENT } from '../simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../simulation/until-accepted.ts'
import { simulate } from '../simulation/run-seeds.ts'
import { CANARY, FAULTS, gatewayOf, labelsOf, falseReadyReports, injectFaults, SECOND_HUB_LAG_MS } from './faults.ts'
import type { StormRun, Fault } from './faults.ts'

const MINUTE = 60_000
const WITHIN = { withinMs: 5_400_000 }
const AS_PERSON = { fieldManager: 'person', force: true }

/** How large a day is. */
export interface StormSize {
  readonly clusters: number
  /** The budget of all but the first ring. */
  readonly rest: { readonly concurrency: number; readonly maxFailed: number }
  /** Releases while there is trouble, and for how long each is left alone, at least and at most. */
  readonly edits: number
  readonly editMs: readonly [number, number]
  /** How much faster than on a whole day one fault follows another. */
  readonly pace: number
  /** How long writes may take to end, and then nothing is written for as long again. */
  readonly restMs: number
  readonly faults: readonly Fault[]
}

/** A day with all that can meet: four clusters, two releases, as many faults as not. */
export function wholeDay(ids: SeededIds): StormSize {
  return {
    clusters: 4,
    rest: { concurrency: 1, maxFailed: 1 },
    edits: 2,
    editMs: [MINUTE, 7 * MINUTE],
    pace: 1,
    restMs: 6 * MINUTE,
    faults: FAULTS.filter(() => ids.chance(0.45)),
  }
}

/**
 * A day with the least that can go wrong, to have very many: three clusters, and one to three faults in quick
 * succession.
 */
export function smallDay(ids: SeededIds): StormSize {
  const faults = new Set(Array.from({ length: ids.integer(1, 3) }, () => ids.pick(FAULTS)))
  return {
    clusters: 3,
    rest: { concurrency: 1, maxFailed: ids.integer(0, 1) },
    edits: ids.integer(1, 2),
    editMs: [5_000, 2 * MINUTE],
    pace: 3,
    restMs: 2 * MINUTE,
    faults: [...faults],
  }
}

/** What a day is asked to be. */
export interface StormOptions {
  /** A whole one unless told. */
  readonly size?: (ids: SeededIds) => StormSize
  /** Without it, the seed chooses some. */
  readonly faults?: readonly Fault[]
  /** Something that is wrong on purpose, to see that it is noticed. */
  readonly plant?: (day: StormRun) => Promise<void>
  /** Parts of the fleet that have a mistake. */
  readonly mistakes?: Partial<Pick<FleetOptions, 'behaviourOf' | 'betweenOf' | 'hubStoreOf'>>
}

interface Mood {
  readonly faults: ReadonlySet<Fault>
  /** Whether the liar still lies. */
  lies: boolean
  badSite: string
  /** Clusters that their own revision has cut off. */
  readonly cutOff: Set<string>
}

/** Runs one day; throws the first broken promise. */
export async function storm(world: World, options: StormOptions = {}): Promise<FleetTruth> {
  const life = new AbortController()
  const { size = wholeDay } = options
  const { clusters, rest, edits, editMs, pace, restMs, faults: drawn } = size(world.ids)
  const faults = new Set(options.faults ?? drawn)
  const mood: Mood = { faults, lies: faults.has('liar'), badSite: '', cutOff: new Set() }
  const liars = new Set(faults.has('liar') ? [`store-${world.ids.integer(2, clusters)}`] : [])
  const fleet = await startFleet(world, {
    clusters,
    labels: (index) => labelsOf(`store-${index + 1}`),
    behaviourOf: (name) => ({
      isBroken: (image) => image.includes('bad') && (name === mood.badSite || liars.has(name)),
    }),
    betweenOf: (name, gateway) => (liars.has(name) ? falseReadyReports(gateway, () => mood.lies) : gateway),
    ...options.mistakes,
  })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const truth = watchTruth(
    world,
    fleet,
    {
      budgetOf: (name) =>
        name === CANARY ? { ring: 'canary', most: 1 } : { ring: 'rest', most: rest.concurrency + rest.maxFailed },
      firstRing: 'canary',
      liars,
      // When the hub began to listen is known to about a second.
      offlineAfterMs: 2 * MINUTE - 2_000,
      hubLagMs: SECOND_HUB_LAG_MS,
      isCutOff: (name) => {
        // A healed link is healed for all faults.
        if (!world.network.isCut(gatewayOf(name))) mood.cutOff.delete(name)
        return mood.cutOff.has(name)
      },
    },
    life.signal,
  )
  const check = (): void => {
    assert.deepEqual([...truth.violations, ...watch.violations].slice(0, 6), [])
  }
  const settledAt = (version: string) => recheckOnWrite(fleet.hubStore, () => isSettled(fleet, truth, version))
  await prepare(world, fleet, rest)
  await release(world, fleet, '1.0')
  await world.runUntil(settledAt('1.0'), { ...WITHIN, what: 'version 1.0 everywhere' })
  check()

  if (options.plant) {
    await options.plant({ world, fleet, cutOff: mood.cutOff })
    await world.run(30_000)
    check()
  }
  world.focus()
  const trouble = injectFaults({ world, fleet, cutOff: mood.cutOff }, { faults, pace }, life.signal)
  for (let edit = 2; edit <= 1 + edits; edit++) {
    mood.badSite = `store-${world.ids.integer(1, clusters)}`
    await release(world, fleet, `${edit}.0-${kindOfRelease(world, mood)}`)
    await world.run(world.ids.integer(...editMs))
    check()
  }
  await trouble.stop()
  mood.lies = false
  await release(world, fleet, '9.0')
  await world.runUntil(settledAt('9.0'), { ...WITHIN, what: 'I-12: version 9.0 everywhere' })
  check()
  await comesToRest(world, fleet, restMs)
  check()
  assert.ok(watch.seen() > 20, `only ${watch.seen()} changes seen`)
  life.abort()
  return truth
}

/** Runs the days of many seeds; throws the first broken promise, and when a promise was never put to the test. */
export async function stormSeeds(seeds: number, options: StormOptions = {}): Promise<void> {
  const looks = new Map<string, number>()
  await simulate(
    async (world) => {
      const truth = await storm(world, options)
      for (const [invariant, count] of truth.looks) looks.set(invariant, (looks.get(invariant) ?? 0) + count)
    },
    { seeds },
  )
  for (const invariant of ['I-04', 'I-04 rings', 'I-14', 'I-23'])
    assert.ok((looks.get(invariant) ?? 0) > 0, `${invariant} was never put to the test`)
}

async function prepare(world: World, fleet: Fleet, rest: StormSize['rest']): Promise<void> {
  const plan = build(RolloutPlan, 'default/careful', {
    spec: {
      rings: [
        {
          name: 'canary',
          selector: { matchLabels: { ring: 'canary' } },
          concurrency: 1,
          maxFailed: 0,
          soak: '20s',
          startBy: '90s',
        },
        { name: 'rest', ...rest, startBy: '90s' },
      ],
      onFailure: world.ids.pick(['Pause', 'RollBackRing', 'RollBackAll'] as const),
      progressDeadline: '10m',
      start: 'Automatic',
    },
  })
  await retryUntilAccepted(world, 'the plan', () => fleet.client.apply(RolloutPlan, plan, AS_PERSON))
  await retryUntilAccepted(world, 'the placement', () =>
    fleet.client.apply(Placement, UNGUARDED_SHOP_PLACEMENT, AS_PERSON),
  )
}

function kindOfRelease(world: World, { faults }: Mood): string {
  const kinds = ['good', ...(faults.has('bad site') ? ['bad'] : []), ...(faults.has('cut off') ? ['cut', 'cut'] : [])]
  return world.ids.pick(kinds)
}

/** A new version of the shop, by the plan `careful`. */
export async function release(world: World, fleet: Fleet, version: string): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('shop:1.0', `shop:${version}`)
  const bundle = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, rollout: { plan: 'careful' } } }
  await retryUntilAccepted(world, `version ${version}`, () => fleet.client.apply(Bundle, bundle, AS_PERSON))
}

/** Whether every cluster has a version and says Ready, and no rollout is under way. */
export async function isSettled(fleet: Fleet, truth: FleetTruth, version: string): Promise<boolean> {
  if (fleet.members.some(({ name }) => truth.versionOf(name) !== version)) return false
  const reports = await listStored(fleet.hubStore, ClusterReport)
  const isReady = ({ spec }: ClusterReport) => spec.bundles.every(({ state }) => state === 'Ready')
  const rollouts = await listStored(fleet.hubStore, Rollout)
  const over = new Set(['Completed', 'Superseded', 'Aborted', 'Failed'])
  return (
    reports.length === fleet.members.length &&
    reports.every(isReady) &&
    rollouts.every(({ status }) => over.has(status?.phase ?? ''))
  )
}

/** Throws unless nothing is written any more. */
export async function comesToRest(world: World, fleet: Fleet, restMs: number): Promise<void> {
  await world.run(restMs)
  const before = fleet.hubStore.revision()
  await world.run(restMs)
  const { entries } = await fleet.hubStore.list({ prefix: '/' })
  const written = entries.filter(({ key, modRevision }) => modRevision > before && !key.includes('/leases/'))
  assert.deepEqual(
    written.map(({ key }) => key),
    [],
    'I-12: at rest nothing is written',
  )
}
