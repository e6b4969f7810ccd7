/**
 * The demo: a real hub in its own directory, a git repository, embedded clusters, and a real agent for each over mutual
 * TLS.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isApiError, toError } from '../../core/errors.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import { inviteCluster } from '../../hub/join/invite-cluster.ts'
import type { LogLevel } from '../../hub/logger.ts'
import type { HubPorts } from '../../hub/ports.ts'
import { startHub } from '../../hub/run.ts'
import type { RunningHub } from '../../hub/run.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Source } from '../../kinds/native/source.ts'
import { BASELINE_BUNDLE, DEMO_BUNDLE, DEMO_PLACEMENT, demoPlan, demoSource, firstFiles } from './content.ts'
import { openChangeBoard } from './change-board.ts'
import type { ChangeBoard } from './change-board.ts'
import { openControlSocket } from './control-socket.ts'
import { openDemoDirectory } from './demo-directory.ts'
import { createSituationRunner, FIRST_VERSION } from './situations.ts'
import { createRepository } from './repository.ts'
import type { Repository } from './repository.ts'
import { createSite } from './site.ts'
import type { Site } from './site.ts'
import { demoStores, labelsOf } from './stores.ts'
import type { Store } from './stores.ts'

/** What a demo is made of. */
export interface DemoOptions extends HubPorts {
  readonly clusters: number
  /** Whether some stores are in trouble from the start. */
  readonly withTrouble: boolean
  /** Where the hub keeps its data; in the directory of the demo when absent. */
  readonly data?: string
  /**
   * Directory of a demo that can be continued later. Defaults to a temporary directory that is deleted with the demo.
   */
  readonly keep?: string
  readonly logLevel: LogLevel
}

/** A running demo. */
export interface Demo {
  readonly hub: RunningHub
  readonly sites: readonly Site[]
  readonly repository: Repository
  /** The socket on which situations are asked for. */
  readonly door: string
  /** Resolves when all have joined and the first content is on its way. */
  readonly arrived: Promise<void>
  /** Rejects when a part of the demo fails; resolves when the demo was closed. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

// Signatures and handshakes keep both sides busy; more at once only makes each of them slower.
const JOINING_AT_ONCE = 8
const POLL_MS = 250
// The default of two minutes until a cluster is offline is too long for a demo.
const TIMES = { checkInSeconds: 10, offlineAfterSeconds: 30 }
// Stores that are offline from the start should be shown as Offline before anything is delivered.
const AWAY_TIMES = { ...TIMES, offlineAfterSeconds: 5 }
const WRITE = { fieldManager: 'flotilla-demo', force: true }

/** Starts the hub and the stores; `arrived` says when they have joined. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { clock, ids, log } = options
  const place = await openDemoDirectory(options.keep)
  const { folder } = place
  const closers: (() => Promise<unknown>)[] = [() => place.leave()]
  const closeAll = async (): Promise<void> => {
    for (let close = closers.pop(); close; close = closers.pop()) await close()
  }
  try {
    const git = join(folder, 'git')
    const sites: Site[] = []
    const board = await openChangeBoard({ listen: place.listen.board, sites: () => sites, log })
    closers.push(() => board.close())
    const [repository, hub] = await Promise.all([
      createRepository(git, clock).then(async (made) => {
        if (made.commits === 0) await made.commit(`shop ${FIRST_VERSION}`, firstFiles(FIRST_VERSION))
        return made
      }),
      startHub(
        {
          data: options.data ?? join(folder, 'hub'),
          listen: place.listen.api,
          gatewayListen: place.listen.gateway,
          consoleListen: '127.0.0.1:0',
          sourcePaths: git,
          gateHosts: board.host,
          logLevel: options.logLevel,
        },
        { clock, ids, log },
      ).then(async (started) => {
        closers.push(() => started.close())
        const hostOf = (url: string) => new URL(url).host
        await place.remember({ api: hostOf(started.api), gateway: hostOf(started.gateway), board: board.host })
        return started
      }),
    ])
    return await startSites(options, { folder, hub, repository, board, sites, closers, closeAll })
  } catch (caught) {
    await closeAll()
    throw caught
  }
}

interface Started {
  readonly folder: string
  readonly hub: RunningHub
  readonly repository: Repository
  readonly board: ChangeBoard
  readonly sites: Site[]
  readonly closers: (() => Promise<unknown>)[]
  readonly closeAll: () => Promise<void>
}

async function startSites(options: DemoOptions, started: Started): Promise<Demo> {
  const { clock, ids, log } = options
  const { folder, hub, repository, board, sites, closers, closeAll } = started
  const life = new AbortController()
  const running: Promise<void>[] = []
  closers.push(async () => {
    life.abort()
    await Promise.allSettled(running)
    for (const { cluster } of sites) await cluster.close()
  })
  await inParallel(demoStores(options.clusters, options.withTrouble), JOINING_AT_ONCE, async (store) => {
    const agents = join(folder, 'agents')
    const joinCode = await invited(store, { hub, clock, ids, agents })
    const site = await createSite({ store, folder: agents, clock, ids, log, ...(joinCode && { joinCode }) })
    sites.push(site)
    running.push(site.run(life.signal))
  })
  sites.sort((a, b) => (a.store.name < b.store.name ? -1 : 1))
  const door = join(folder, 'door')
  const stores = sites.map(({ store }) => store)
  // Without faulty stores, the rollout needs no time to be watched.
  const soak = stores.some(({ fault: trouble }) => trouble) ? '5s' : '1s'
  const plan = (asksApproval: boolean) => demoPlan({ stores, soak, board: board.url, asksApproval })
  const plays = createSituationRunner({
    client: hub.client,
    sites,
    repository,
    clock,
    signInUrl: () => hub.signInUrl(),
    plan: plan(true),
  })
  const opened = await openControlSocket(door, { plays, log })
  closers.push(() => opened.close())
  const arriving = arrive({ hub, sites, repository }, { clock, signal: life.signal, running, plan: plan(false) })
  arriving.catch(() => {}) // callers that await it get the error
  const failed = Promise.all(running.map((work) => work.catch((caught: unknown) => Promise.reject(toError(caught)))))
  const ended = Promise.race([hub.ended, failed.then(() => hub.ended)])
  ended.catch(() => {}) // the caller listens when it wants to
  return { hub, sites, repository, door, arrived: arriving, ended, close: closeAll }
}

/** The code for a store that has not joined; what its agent began without success is forgotten. */
async function invited(
  store: Store,
  {
    hub,
    clock,
    ids,
    agents,
  }: Pick<DemoOptions, 'clock' | 'ids'> & { readonly hub: RunningHub; readonly agents: string },
): Promise<string | undefined> {
  const known = await hub.client.get(Cluster, { name: store.name }).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
  if (known?.status?.certificate) return undefined
  await rm(join(agents, store.name), { recursive: true, force: true })
  const invitation = { cluster: store.name, labels: labelsOf(store), accept: 'Auto', ttlMs: 3_600_000 } as const
  return (await inviteCluster(invitation, { client: hub.client, clock, ids })).code
}

interface Arriving {
  readonly clock: DemoOptions['clock']
  readonly signal: AbortSignal
  readonly running: Promise<void>[]
  readonly plan: RolloutPlan
}

/** Waits for all to join, lets trouble begin, and says what should run. */
async function arrive(demo: Pick<Demo, 'hub' | 'sites' | 'repository'>, at: Arriving): Promise<void> {
  const { hub, sites, repository } = demo
  const { clock, signal, running, plan } = at
  const waiting = new Map(sites.map((site) => [site.store.name, site]))
  while (waiting.size > 0) {
    const { items } = await hub.client.list(Cluster)
    for (const { metadata, status } of items) {
      const site = waiting.get(metadata.name)
      if (!site || status?.certificate === undefined) continue
      const spec = site.store.fault === 'Offline' ? AWAY_TIMES : TIMES
      await hub.client.patch(Cluster, { name: metadata.name }, { type: 'merge', body: { spec } })
      // At once, so that the hub knows that they are offline soon after the others have joined.
      if (site.store.fault === 'Offline') site.line.cut()
      waiting.delete(metadata.name)
    }
    if (waiting.size > 0) await clock.sleep(POLL_MS, signal)
  }
  for (const { store, line, setBroken } of sites) {
    if (store.fault === 'Flaky') running.push(line.flap(signal))
    if (store.fault === 'Failing') await setBroken(true)
  }
  await hub.client.apply(Source, demoSource(repository.path), WRITE)
  await hub.client.apply(Placement, DEMO_PLACEMENT, WRITE)
  await hub.client.apply(RolloutPlan, plan, WRITE)
  const away = sites.filter(({ store }) => store.fault === 'Offline').map(({ store }) => store.name)
  const bring = async (): Promise<void> => {
    await whenAway(hub, away, at)
    await hub.client.apply(Bundle, BASELINE_BUNDLE, WRITE)
    await hub.client.apply(Bundle, DEMO_BUNDLE, WRITE)
  }
  if (away.length === 0) return await bring()
  running.push(
    bring().catch((caught: unknown) => {
      if (!signal.aborted) throw caught
    }),
  )
}

/**
 * A rollout waits for a store that falls silent after it was admitted, and not for one that was offline before. The
 * stores of the demo are offline from the start.
 */
async function whenAway(hub: RunningHub, names: readonly string[], { clock, signal }: Arriving): Promise<void> {
  const isAway = async (name: string): Promise<boolean> => {
    const { status } = await hub.client.get(Cluster, { name })
    return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'False') ?? false
  }
  while (!(await Promise.all(names.map(isAway))).every(Boolean)) await clock.sleep(POLL_MS, signal)
}
