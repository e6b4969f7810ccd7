/** What goes wrong on a bad day: the faults, and how each strikes. */
import { STATEMENT_HEADER } from '../../wire/link/report-statement.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { HttpRequest, Transport } from '../../core/http.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { Fleet, FleetMember } from '../../sim/fleet/fleet.ts'
import type { Host } from '../../sim/kernel/process.ts'
import type { World } from '../../sim/kernel/world.ts'
import type { Store, StoreEvent, StoreWatch } from '../../store/store.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { retryUntilAccepted } from '../simulation/until-accepted.ts'

const MINUTE = 60_000

/** How late the second hub may hear of what is in the database. */
export const SECOND_HUB_LAG_MS = MINUTE

/** The cluster that goes first. */
export const CANARY = 'store-1'

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

/** One of them. */
export type Fault = (typeof FAULTS)[number]

/** The day as a plant sees it. */
export interface StormRun {
  readonly world: World
  readonly fleet: Fleet
  /** Clusters that their own revision has cut off. */
  readonly cutOff: Set<string>
}

/** How bad it is. */
export interface FaultPlan {
  readonly faults: ReadonlySet<Fault>
  /** How much faster one fault follows another. */
  readonly pace: number
}

/** The line between an agent and its gateway. */
export const gatewayOf = (name: string) => ({ from: `agent-of-${name}`, to: 'gateway' })

/** The labels that a cluster should have. */
export const labelsOf = (name: string): Record<string, string> => ({
  tier: 'store',
  ...(name === CANARY ? { ring: 'canary' } : {}),
})

/** Begins the faults of the day; `stop` ends all of them. */
export function injectFaults(
  day: StormRun,
  { faults, pace }: FaultPlan,
  signal: AbortSignal,
): { stop(): Promise<void> } {
  const { world, fleet } = day
  const { ids, clock, network } = world
  const ending = new AbortController()
  const over = AbortSignal.any([signal, ending.signal])
  const running: Promise<void>[] = []
  const processes = [fleet.hub, ...fleet.members.flatMap(({ cluster, agent }) => [cluster, agent])]
  const again = (fault: Fault, everyMs: number, act: () => Promise<void>): void => {
    if (!faults.has(fault)) return
    const loop = async (): Promise<void> => {
      while (!over.aborted) {
        await clock.sleep(ids.integer(1_000, everyMs / pace), over)
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
    // A hub that continues correctly marks a cluster offline that no hub could hear.
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
    fleet.startSecondHub((store, host) => delayWatches(store, host, () => ids.integer(0, SECOND_HUB_LAG_MS)))
  if (faults.has('cut off')) {
    for (const member of fleet.members) void releaseCuttingOff(day, member, over).catch(() => {})
  }
  return {
    stop: async () => {
      ending.abort()
      world.endFocus()
      // A process that was killed around its last step has restarted by then.
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
        await retryUntilAccepted(world, `the labels of ${name}`, () => relabel(fleet, name, labelsOf(name)))
      }
    },
  }
}

/** Gives a cluster other labels. */
export async function relabel(fleet: Fleet, name: string, labels: Record<string, string>): Promise<void> {
  const cluster = await fleet.client.get(Cluster, { name })
  await fleet.client.update(Cluster, { ...cluster, metadata: { ...cluster.metadata, labels } })
}

/**
 * A revision that cuts its cluster off: once it is applied, no message gets through until a person repairs the cluster.
 */
export async function releaseCuttingOff(
  { world, cutOff }: StormRun,
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
export function falseReadyReports(gateway: Transport, lies: () => boolean): Transport {
  return (request, signal) => gateway(lies() && request.path === ROUTES.report ? embellished(request) : request, signal)
}

/** The false report has no signature: it reaches the hub as the report of an agent that does not sign. */
function embellished(request: HttpRequest): HttpRequest {
  const { [STATEMENT_HEADER]: _statement, ...headers } = request.headers ?? {}
  const report = JSON.parse(fromUtf8(request.body!)) as { bundles?: { state: string }[] }
  const bundles = report.bundles?.map((row) => ({ ...row, state: 'Ready' }))
  return { ...request, headers, body: utf8(JSON.stringify({ ...report, ...(bundles ? { bundles } : {}) })) }
}

/** A store whose watches tell everything late, each kind by its own time; reads and writes are of now. */
export function delayWatches(store: Store, host: Host, lagMs: () => number): Store {
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
