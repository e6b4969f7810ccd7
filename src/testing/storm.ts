/**
 * A bad day of a small fleet, drawn from a seed: releases that are good, bad at one site or cut their clusters off, while messages are
 * lost, processes die or stand still, a part of the fleet goes away and comes back at once, clocks are wrong, clusters change their labels, an
 * agent lies, and a second hub acts on what it saw minutes ago. Then the faults stop, and everything must come to rest.
 */
import assert from 'node:assert/strict'
import { fromUtf8, utf8 } from '../core/bytes.ts'
import type { HttpRequest, Transport } from '../core/http.ts'
import { Bundle } from '../kinds/bundle.ts'
import { ClusterReport } from '../kinds/cluster-report.ts'
import { Cluster } from '../kinds/cluster.ts'
import { Placement } from '../kinds/placement.ts'
import { RolloutPlan } from '../kinds/rollout-plan.ts'
import { Rollout } from '../kinds/rollout.ts'
import { startFleet } from '../sim/fleet.ts'
import type { Fleet, FleetMember, FleetOptions } from '../sim/fleet.ts'
import type { Host } from '../sim/kernel/process.ts'
import type { World } from '../sim/kernel/world.ts'
import type { Store, StoreEvent, StoreWatch } from '../store/store.ts'
import { ROUTES } from '../wire/frames.ts'
import { build } from './builders.ts'
import { stored, watchFleet, whenWritten } from './fleet-invariants.ts'
import { watchTruth } from './fleet-truth.ts'
import type { FleetTruth } from './fleet-truth.ts'
import { SHOP_BUNDLE, SHOP_PLACEMENT } from './shop-bundle.ts'
import { untilTaken } from './sim-person.ts'
import { simulate } from './sim-seeds.ts'

const MINUTE = 60_000
const WITHIN = { withinMs: 5_400_000 }
const AS_PERSON = { fieldManager: 'person', force: true }
const SECOND_HUB_LAG_MS = MINUTE
const CLUSTERS = 4
const CANARY = 'store-1'
const REST = { concurrency: 1, maxFailed: 1 }

/** The faults a day can have. */
export const FAULTS = [
  'drops',
  'kills',
  'region',
  'clocks',
  'members',
  'second hub',
  'liar',
  'bad site',
  'cut off',
  'pauses',
] as const
type Fault = (typeof FAULTS)[number]

/** What a day is asked to be. */
export interface StormOptions {
  /** Without it, the seed chooses some. */
  readonly faults?: readonly Fault[]
  /** Something that is wrong on purpose, to see that it is noticed. */
  readonly plant?: (day: Day) => Promise<void>
  /** Parts of the fleet that have a mistake. */
  readonly mistakes?: Partial<Pick<FleetOptions, 'behaviourOf' | 'betweenOf' | 'hubStoreOf'>>
}

/** The day as a plant sees it. */
export interface Day {
  readonly world: World
  readonly fleet: Fleet
  /** Clusters that their own revision has cut off. */
  readonly cutOff: Set<string>
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
  const faults = new Set(options.faults ?? FAULTS.filter(() => world.ids.chance(0.45)))
  const mood: Mood = { faults, lies: faults.has('liar'), badSite: '', cutOff: new Set() }
  const liars = new Set(faults.has('liar') ? [`store-${world.ids.integer(2, CLUSTERS)}`] : [])
  const fleet = await startFleet(world, {
    clusters: CLUSTERS,
    labels: (index) => labelsOf(`store-${index + 1}`),
    behaviourOf: (name) => ({
      isBroken: (image) => image.includes('bad') && (name === mood.badSite || liars.has(name)),
    }),
    betweenOf: (name, gateway) => (liars.has(name) ? lying(gateway, () => mood.lies) : gateway),
    ...options.mistakes,
  })
  const watch = watchFleet(fleet.hubStore, life.signal)
  const truth = watchTruth(
    world,
    fleet,
    {
      budgetOf: (name) =>
        name === CANARY ? { ring: 'canary', most: 1 } : { ring: 'rest', most: REST.concurrency + REST.maxFailed },
      firstRing: 'canary',
      liars,
      // When the hub began to listen is known to about a second.
      offlineAfterMs: 2 * MINUTE - 2_000,
      hubLagMs: SECOND_HUB_LAG_MS,
      isCutOff: (name) => {
        // Whoever mends the line mends it for everybody.
        if (!world.network.isCut(gatewayOf(name))) mood.cutOff.delete(name)
        return mood.cutOff.has(name)
      },
    },
    life.signal,
  )
  const check = (): void => {
    assert.deepEqual([...truth.violations, ...watch.violations].slice(0, 6), [])
  }
  const settledAt = (version: string) => whenWritten(fleet.hubStore, () => isSettled(fleet, truth, version))
  await prepare(world, fleet)
  await release(world, fleet, '1.0')
  await world.runUntil(settledAt('1.0'), { ...WITHIN, what: 'version 1.0 everywhere' })
  check()

  if (options.plant) {
    await options.plant({ world, fleet, cutOff: mood.cutOff })
    await world.run(30_000)
    check()
  }
  world.focus()
  const trouble = makeTrouble(world, fleet, mood, life.signal)
  for (let edit = 2; edit <= 3; edit++) {
    mood.badSite = `store-${world.ids.integer(1, CLUSTERS)}`
    await release(world, fleet, `${edit}.0-${kindOfRelease(world, mood)}`)
    await world.run(world.ids.integer(MINUTE, 7 * MINUTE))
    check()
  }
  await trouble.stop()
  mood.lies = false
  await release(world, fleet, '9.0')
  await world.runUntil(settledAt('9.0'), { ...WITHIN, what: 'I-12: version 9.0 everywhere' })
  check()
  await comesToRest(world, fleet)
  check()
  assert.ok(watch.seen() > 20, `only ${watch.seen()} changes seen`)
  life.abort()
  return truth
}

/** Runs the days of many seeds; throws the first broken promise, and when a promise was never put to the test. */
export async function stormSeeds(seeds: number): Promise<void> {
  const looks = new Map<string, number>()
  await simulate(
    async (world) => {
      const truth = await storm(world)
      for (const [invariant, count] of truth.looks) looks.set(invariant, (looks.get(invariant) ?? 0) + count)
    },
    { seeds },
  )
  for (const invariant of ['I-04', 'I-04 rings', 'I-14', 'I-23'])
    assert.ok((looks.get(invariant) ?? 0) > 0, `${invariant} was never put to the test`)
}

const gatewayOf = (name: string) => ({ from: `agent-of-${name}`, to: 'gateway' })

const labelsOf = (name: string): Record<string, string> => ({
  tier: 'store',
  ...(name === CANARY ? { ring: 'canary' } : {}),
})

async function prepare(world: World, fleet: Fleet): Promise<void> {
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
        { name: 'rest', ...REST, startBy: '90s' },
      ],
      onFailure: world.ids.pick(['Pause', 'RollBackRing', 'RollBackAll'] as const),
      progressDeadline: '10m',
      start: 'Automatic',
    },
  })
  await untilTaken(world, 'the plan', () => fleet.client.apply(RolloutPlan, plan, AS_PERSON))
  await untilTaken(world, 'the placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, AS_PERSON))
}

function kindOfRelease(world: World, { faults }: Mood): string {
  const kinds = ['good', ...(faults.has('bad site') ? ['bad'] : []), ...(faults.has('cut off') ? ['cut', 'cut'] : [])]
  return world.ids.pick(kinds)
}

/** A new version of the shop, by the plan `careful`. */
export async function release(world: World, fleet: Fleet, version: string): Promise<void> {
  const manifests = SHOP_BUNDLE.spec.manifests!.replace('shop:1.0', `shop:${version}`)
  const bundle = { ...SHOP_BUNDLE, spec: { ...SHOP_BUNDLE.spec, manifests, rollout: { plan: 'careful' } } }
  await untilTaken(world, `version ${version}`, () => fleet.client.apply(Bundle, bundle, AS_PERSON))
}

/** Whether every cluster has a version and says Ready, and no rollout is under way. */
export async function isSettled(fleet: Fleet, truth: FleetTruth, version: string): Promise<boolean> {
  if (fleet.members.some(({ name }) => truth.versionOf(name) !== version)) return false
  const reports = await stored(fleet.hubStore, ClusterReport)
  const isReady = ({ spec }: ClusterReport) => spec.bundles.every(({ state }) => state === 'Ready')
  const rollouts = await stored(fleet.hubStore, Rollout)
  const over = new Set(['Completed', 'Superseded', 'Aborted', 'Failed'])
  return (
    reports.length === fleet.members.length &&
    reports.every(isReady) &&
    rollouts.every(({ status }) => over.has(status?.phase ?? ''))
  )
}

/** Throws unless nothing is written any more. */
export async function comesToRest(world: World, fleet: Fleet): Promise<void> {
  await world.run(6 * MINUTE)
  const before = fleet.hubStore.revision()
  await world.run(6 * MINUTE)
  const { entries } = await fleet.hubStore.list({ prefix: '/' })
  const written = entries.filter(({ key, modRevision }) => modRevision > before && !key.includes('/leases/'))
  assert.deepEqual(
    written.map(({ key }) => key),
    [],
    'I-12: at rest nothing is written',
  )
}

/** Begins the faults of the day; `stop` ends all of them. */
function makeTrouble(world: World, fleet: Fleet, { faults, cutOff }: Mood, signal: AbortSignal) {
  const { ids, clock, network } = world
  const ending = new AbortController()
  const over = AbortSignal.any([signal, ending.signal])
  const running: Promise<void>[] = []
  const processes = [fleet.hub, ...fleet.members.flatMap(({ cluster, agent }) => [cluster, agent])]
  const again = (fault: Fault, everyMs: number, act: () => Promise<void>): void => {
    if (!faults.has(fault)) return
    const loop = async (): Promise<void> => {
      while (!over.aborted) {
        await clock.sleep(ids.integer(1_000, everyMs), over)
        await act()
      }
    }
    running.push(loop().catch(() => {})) // the day is over
  }
  const pause = (atMost: number) => clock.sleep(ids.integer(100, atMost), over)

  if (faults.has('drops')) network.setDefaultLink({ latencyMs: [1, 400], drop: 0.02, reset: 0.01 })
  again('kills', 2 * MINUTE, async () => {
    const process = ids.pick(processes)
    if (!process.running()) return
    process.kill()
    await pause(MINUTE)
    process.start()
  })
  again('pauses', 4 * MINUTE, async () => {
    const process = ids.pick(world.processes())
    process.pause()
    // A hub that goes on rightly calls offline whoever could not be heard by another.
    await pause(faults.has('second hub') ? MINUTE : 4 * MINUTE)
    process.resume()
  })
  again('region', 4 * MINUTE, async () => {
    const region = fleet.members.filter(() => ids.chance(0.6))
    for (const { name } of region) network.cut(gatewayOf(name))
    await pause(6 * MINUTE)
    for (const { name } of region) network.heal(gatewayOf(name))
  })
  again('clocks', 3 * MINUTE, async () => {
    if (ids.chance(0.3)) clock.jumpWall(ids.integer(-2, 5) * MINUTE)
    else ids.pick(fleet.members).agent.setSkew(ids.integer(-60, 60) * MINUTE)
  })
  again('members', 3 * MINUTE, async () => {
    const { name } = ids.pick(fleet.members.slice(1))
    await relabel(fleet, name, { tier: 'elsewhere' })
    await pause(3 * MINUTE)
    await relabel(fleet, name, labelsOf(name))
  })
  if (faults.has('second hub'))
    fleet.startSecondHub((store, host) => late(store, host, () => ids.integer(0, SECOND_HUB_LAG_MS)))
  if (faults.has('cut off')) {
    for (const member of fleet.members) void cutOffBy({ world, fleet, cutOff }, member, over).catch(() => {})
  }
  return {
    stop: async () => {
      ending.abort()
      world.endFocus()
      // Whoever was killed around its last step is up again by then.
      await world.run(2_000)
      const second = world.processes().find(({ name }) => name === 'second-hub')
      second?.kill()
      network.calm()
      for (const process of processes) {
        process.setSkew(0)
        process.resume()
        if (!process.running()) process.start()
      }
      for (const { name } of fleet.members) {
        await untilTaken(world, `the labels of ${name}`, () => relabel(fleet, name, labelsOf(name)))
      }
    },
  }
}

/** Gives a cluster other labels. */
export async function relabel(fleet: Fleet, name: string, labels: Record<string, string>): Promise<void> {
  const cluster = await fleet.client.get(Cluster, { name })
  await fleet.client.update(Cluster, { ...cluster, metadata: { ...cluster.metadata, labels } })
}

/** A revision that cuts its cluster off: as soon as it is there, nothing gets through any more, until somebody drives there. */
export async function cutOffBy(
  { world, cutOff }: Day,
  { name, store }: FleetMember,
  signal: AbortSignal,
): Promise<void> {
  for await (const { key, value } of store.watch('/apps/', 0, signal)) {
    if (!key.endsWith('/shop/shop') || !value?.includes('-cut')) continue
    world.network.cut(gatewayOf(name))
    cutOff.add(name)
    await world.clock.sleep(world.ids.integer(MINUTE, 8 * MINUTE), signal)
    world.network.heal(gatewayOf(name))
  }
}

/** Whatever the agent has to report, the hub hears that all is Ready. */
export function lying(gateway: Transport, lies: () => boolean): Transport {
  return (request, signal) => gateway(lies() && request.path === ROUTES.report ? embellished(request) : request, signal)
}

function embellished(request: HttpRequest): HttpRequest {
  const report = JSON.parse(fromUtf8(request.body!)) as { bundles?: { state: string }[] }
  const bundles = report.bundles?.map((row) => ({ ...row, state: 'Ready' }))
  return { ...request, body: utf8(JSON.stringify({ ...report, ...(bundles ? { bundles } : {}) })) }
}

/** A store whose watches tell everything late, each kind by its own time; reads and writes are of now. */
export function late(store: Store, host: Host, lagMs: () => number): Store {
  return {
    ...store,
    watch: (prefix, after, signal): StoreWatch => {
      const watch = store.watch(prefix, after, signal)
      const lag = lagMs()
      async function* events(): AsyncGenerator<StoreEvent> {
        const coming: { readonly event: StoreEvent; readonly at: number }[] = []
        const read = async (): Promise<void> => {
          for await (const event of watch) coming.push({ event, at: host.clock.monotonicMs() + lag })
        }
        let broken: unknown
        read().catch((caught: unknown) => (broken = caught))
        while (!signal.aborted) {
          if (broken !== undefined) throw broken
          const next = coming[0]
          await host.clock.sleep(next ? next.at - host.clock.monotonicMs() : 1_000, signal).catch(() => {}) // the watch ends
          if (next) yield coming.shift()!.event
        }
      }
      return { [Symbol.asyncIterator]: events, atHand: () => undefined, progress: () => after }
    },
  }
}
