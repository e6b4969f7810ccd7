/** A running hub: its directory, keys, threads, controllers and console, started in order and closed in reverse. */
import { hostname } from 'node:os'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../client/client.ts'
import { createClient } from '../client/create-client.ts'
import { kubeconfigFor, readKubeconfig } from '../client/kubeconfig.ts'
import { createUndiciTransport } from '../client/undici-transport.ts'
import type { Connection } from '../client/connection.ts'
import { runBlobCollector } from '../blobs/collector.ts'
import { createFileBlobs } from '../blobs/file-blobs.ts'
import { deadline, untilAborted } from '../core/async/deadline.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { Secret } from '../core/secret.ts'
import { VERSION } from '../core/version.ts'
import { runLeaderElection } from '../engine/leader-election.ts'
import { writeYaml } from '../yaml/write/write-yaml.ts'
import { certificateNames, formatAddress, isWildcard, parseAddress, reachableHost } from './http/listen-address.ts'
import { findAgentBundle } from './join/agent-bundle.ts'
import { blobRoots } from './home/blob-roots.ts'
import { announceHub, composeControllers } from './compose/compose-controllers.ts'
import { programEnvironment } from './config.ts'
import type { HubConfig } from './config.ts'
import { CONSOLE_SOCKET, openConsoleSocket } from './console/console-socket.ts'
import { startConsole } from './console/console.ts'
import { openDataDirectory } from './home/data-directory.ts'
import type { DataDirectory } from './home/data-directory.ts'
import { dialectControllers, parseDialects, installDialects } from './home/dialects.ts'
import { createFleetView } from './console/fleet-view.ts'
import { freePort } from './http/free-port.ts'
import { SYSTEM_NAMESPACE } from './home/hub-info.ts'
import { replaceFileAtomically } from './home/atomic-files.ts'
import { createKeyReloader } from './keys/key-reloader.ts'
import {
  issueApiClientCertificate,
  issueApiServerCertificate,
  issueGatewayListenerCertificate,
  loadHubKeys,
  readHubKeys,
} from './keys/hub-keys.ts'
import type { HubKeys } from './keys/hub-keys.ts'
import { installKinds, installPolicies, installRoles } from './home/kube-home.ts'
import { startAggregatedApi } from './view/aggregated-api.ts'
import { listenForMetrics } from './metrics/metrics-listener.ts'
import { createMetricsPage } from './metrics/metrics-page.ts'
import { plainConnection } from './threads/plain-connection.ts'
import { createGateRequests } from './http/gate-requests.ts'
import { HUB_USERS } from './ports.ts'
import type { HubPorts } from './ports.ts'
import { DATABASE_FILE, loadSealingKeys, requireSealingKeys } from './keys/sealing-keys.ts'
import { startFetcher } from './threads/limited-fetcher.ts'
import { createRenderer } from './threads/limited-renderer.ts'
import type { GatewayKeys } from './threads/messages.ts'
import { API_THREAD_LIMITS, startThread } from './threads/thread.ts'
import type { Thread } from './threads/thread.ts'
import { listenForWebhooks } from './http/webhook-listener.ts'

/** A hub that is ready. */
export interface RunningHub {
  /** `https://…` of the API. */
  readonly api: string
  /** `https://…` that agents use. */
  readonly gateway: string
  readonly kubeconfig: string
  /** A fresh address of the live page that signs one browser in. */
  signInUrl(): string
  /** One line with all addresses, for people and for scripts. */
  readyLine(): string
  /** A client of the API, as the administrator. */
  readonly client: Client
  /** Where the root key was put, when this start made it. */
  readonly newRoot: string | undefined
  /** Resolves when the hub was closed; rejects when a part of it died, and closes the rest. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** What a home offers: how to reach its API as the hub's different users. */
interface Home {
  readonly server: string
  as(user: (typeof HUB_USERS)[keyof typeof HUB_USERS]): Connection
  /** Gives its listener a new certificate. */
  renew(keys: HubKeys, signal: AbortSignal): Promise<void>
  /** The threads it needs on this machine. */
  readonly threads: readonly Pick<Thread<'api'>, 'metrics'>[]
  /** Several hubs may share it, so one must lead. */
  readonly isShared: boolean
}

/** Things to close, last opened first. */
type Closers = (() => Promise<void> | void)[]

/** A part that has not closed by then is left behind, so that the hub ends whatever its parts do; threads end themselves sooner. */
const CLOSE_WITHIN_MS = 15_000

/** Starts a hub and waits until it is ready; what was started before a failure is closed again. */
export async function startHub(config: HubConfig, ports: HubPorts): Promise<RunningHub> {
  const closers: Closers = []
  const closeAll = async (): Promise<void> => {
    for (let close = closers.pop(); close; close = closers.pop()) {
      const closing = { clock: ports.clock, ms: CLOSE_WITHIN_MS, what: 'a part of the hub was asked to close' }
      await deadline(closing, (signal) => untilAborted(Promise.resolve(close()), signal)).catch((caught: unknown) => {
        ports.log.error({ err: toError(caught) }, 'a part did not close cleanly')
      })
    }
  }
  try {
    return await start(config, { ...ports, closers, closeAll })
  } catch (caught) {
    await closeAll()
    throw caught
  }
}

interface Starting extends HubPorts {
  readonly closers: Closers
  readonly closeAll: () => Promise<void>
}

async function start(config: HubConfig, starting: Starting): Promise<RunningHub> {
  const { clock, ids, log, closers, closeAll } = starting
  const directory = await openDataDirectory(config.data, clock)
  closers.push(() => directory.release())
  if (config.kubeconfig === undefined) await requireSealingKeys(directory)
  const gatewayAddress = parseAddress(config.gatewayListen)
  const gatewayListen = { ...gatewayAddress, port: gatewayAddress.port || (await freePort(gatewayAddress.host)) }
  const gatewayHost = reachableHost(gatewayListen.host, hostname())
  const gatewayUrl = config.gatewayUrl ?? `https://${formatAddress({ ...gatewayListen, host: gatewayHost })}`
  const wanted = { endpoints: [gatewayUrl], minAgentVersion: '0.1.0' }
  const keys = await loadHubKeys(directory, wanted, starting)

  const deaths: Promise<never>[] = []
  const home =
    config.kubeconfig === undefined
      ? await startEmbeddedHome(config, directory, { keys, deaths, starting })
      : await openKubeHome(config.kubeconfig, config.context)
  const admin = home.as(HUB_USERS.admin)
  const kubeconfig = directory.file('admin.kubeconfig')
  await replaceFileAtomically(kubeconfig, writeYaml(kubeconfigFor('flotilla', { ...admin, user: 'admin' })), ids)

  const clientOf = (user: (typeof HUB_USERS)[keyof typeof HUB_USERS], connection = home.as(user)): Client => {
    const { transport, close } = createUndiciTransport(connection)
    closers.push(close)
    return createClient({ transport, clock, userAgent: `flotilla/${VERSION} (${user.commonName})` })
  }
  const client = clientOf(HUB_USERS.admin, admin)
  const hubClient = clientOf(HUB_USERS.controllers)
  const life = new AbortController()
  if (config.kubeconfig !== undefined) {
    await installKinds(hubClient, clock, life.signal)
    await installRoles(hubClient, life.signal)
  }
  await installPolicies(hubClient, life.signal)
  const dialects = parseDialects(config.dialects)
  await installDialects(dialects, { client: hubClient, clock, signal: life.signal })
  const agentBundle = await findAgentBundle()
  await announceHub(hubClient, keys.trust, agentBundle?.digest)

  const blobsFolder = directory.file('blobs')
  const gatewayNames = certificateNames([gatewayListen.host, gatewayHost, new URL(gatewayUrl).hostname])
  const gatewayKeys = ({ trust, ...more }: HubKeys): GatewayKeys => ({
    server: issueGatewayListenerCertificate({ trust, ...more }, gatewayNames, starting),
    transportCa: trust.transportCa,
    trust: { root: trust.root, envelopes: trust.envelopes, newest: trust.newest },
  })
  const gateway = await startThread('gateway', {
    // Stable over restarts of this directory's hub, unique among hubs that share a home.
    name: home.isShared ? await gatewayName(directory, starting) : '0',
    listen: gatewayListen,
    api: plainConnection(home.as(HUB_USERS.gateway)),
    blobs: blobsFolder,
    ...gatewayKeys(keys),
    agentBundle,
    logLevel: config.logLevel,
  })
  closers.push(() => gateway.close())
  const renderer = createRenderer({ blobs: blobsFolder, clock, log })
  closers.push(() => renderer.close())
  const fetcher = await startFetcher({
    init: {
      blobs: blobsFolder,
      folder: directory.file('sources'),
      git: { ...programEnvironment(), home: directory.file(join('sources', 'home')) },
      localPaths: listOf(config.sourcePaths ?? ''),
    },
    clock,
    ids,
    log,
  })
  closers.push(() => fetcher.close())
  deaths.push(gateway.death)

  const views =
    config.kubeconfig === undefined
      ? undefined
      : await startAggregatedApi({
          ...starting,
          client: hubClient,
          home: home.server,
          api: plainConnection(home.as(HUB_USERS.controllers)),
          blobs: blobsFolder,
          listen: parseAddress(config.listen),
          url: config.viewUrl,
          keys,
          logLevel: config.logLevel,
        })
  if (views) {
    closers.push(
      () => views.thread.close(),
      () => views.withdraw(),
    )
    deaths.push(views.thread.death)
  }

  const kept = createKeyReloader(keys, {
    clock,
    log,
    read: () => readHubKeys(directory),
    spread: async (next) => {
      await gateway.call(gatewayKeys(next), life.signal)
      await home.renew(next, life.signal)
      await views?.renew(next, life.signal)
    },
  })
  const keeping = kept.run(life.signal)
  closers.push(() => keeping)

  const view = createFleetView({ client: clientOf(HUB_USERS.admin, admin), clock, ids, log })
  const threads = [...home.threads, gateway]
  const page = createMetricsPage({ clock, facts: () => view.facts(), threads: () => threads })
  const working = runControllers(
    {
      client: hubClient,
      trust: kept.trust,
      onTrustChange: kept.onChange,
      blobsFolder,
      render: renderer.render,
      fetchSource: fetcher.fetch,
      askGate: createGateRequests({
        clock,
        ...(config.gateHosts === undefined ? {} : { hosts: listOf(config.gateHosts) }),
      }),
      metrics: page.metrics,
      dialects: dialectControllers(dialects),
      ...(views ? { alongside: (term) => views.run(term) } : {}),
    },
    { clock, ids, log, signal: life.signal, isShared: home.isShared },
  )
  working.catch(() => {}) // `ended` hears it
  closers.push(() => working.catch(() => {})) // `ended` has said it

  const viewing = view.run(life.signal)
  viewing.catch(() => {}) // `ended` hears it
  closers.push(() => viewing.catch(() => {}))
  const console = await startConsole({
    listen: parseAddress(config.consoleListen),
    view,
    metrics: page.text,
    clock,
    ids,
    log,
  })
  closers.push(() => console.close())
  const door = await openConsoleSocket(directory.file(CONSOLE_SOCKET), { signInUrl: console.signInUrl, log })
  closers.push(() => door.close())
  if (config.metricsListen !== undefined) {
    const listen = parseAddress(config.metricsListen)
    const metrics = await listenForMetrics({ listen, text: page.text, log })
    closers.push(() => metrics.close())
  }
  if (config.webhookListen !== undefined) {
    const listen = parseAddress(config.webhookListen)
    const webhooks = await listenForWebhooks({ listen, client: hubClient, clock, log })
    closers.push(() => webhooks.close())
  }
  closers.push(() => life.abort()) // everybody stops first, then their connections close

  const closed = Promise.withResolvers<void>()
  const close = async (): Promise<void> => {
    await closeAll()
    closed.resolve()
  }
  const ended = Promise.race([closed.promise, ...deaths, failing(working), failing(viewing)]).catch(
    async (caught: unknown) => {
      await close()
      throw toError(caught)
    },
  )
  ended.catch(() => {}) // the caller listens when it wants to
  return {
    api: home.server,
    gateway: gatewayUrl,
    kubeconfig,
    signInUrl: () => console.signInUrl(),
    readyLine: () =>
      `flotilla hub ready: api ${home.server} gateway ${gatewayUrl} console ${console.signInUrl()} kubeconfig ${kubeconfig}`,
    client,
    newRoot: keys.newRoot,
    ended,
    close,
  }
}

/** The parts of a list with commas. */
function listOf(text: string): string[] {
  return text.split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

/** Rejects with what the work rejects with, and never resolves. */
function failing(work: Promise<void>): Promise<never> {
  return new Promise((_resolve, reject) => void work.catch(reject))
}

interface EmbeddedParts {
  readonly keys: HubKeys
  readonly deaths: Promise<never>[]
  readonly starting: Starting
}

async function startEmbeddedHome(config: HubConfig, directory: DataDirectory, parts: EmbeddedParts): Promise<Home> {
  const { keys, deaths, starting } = parts
  const listen = parseAddress(config.listen)
  const init = {
    listen,
    database: directory.file(DATABASE_FILE),
    blobs: directory.file('blobs'),
    sealingKeys: await loadSealingKeys(directory, starting.ids),
    server: issueApiServerCertificate(keys, certificateNames([listen.host, hostname()]), starting),
    clientCa: keys.apiCa.certificate,
    tokenKeys: keys.tokenKeys,
    dialects: parseDialects(config.dialects),
    logLevel: config.logLevel,
  }
  const api = await startThread('api', init, API_THREAD_LIMITS)
  starting.closers.push(() => api.close())
  deaths.push(api.death)
  const host = isWildcard(listen.host) ? '127.0.0.1' : listen.host
  const server = `https://${formatAddress({ host, port: api.ready.port })}`
  return {
    server,
    threads: [api],
    isShared: false,
    renew: async (next, signal) => {
      const names = certificateNames([listen.host, hostname()])
      await api.call(issueApiServerCertificate(next, names, starting), signal)
    },
    as: (user) => {
      const { certificate, privateKey } = issueApiClientCertificate(keys, user, starting)
      return { server, ca: keys.apiCa.certificate, cert: certificate, key: new Secret(privateKey) }
    },
  }
}

async function openKubeHome(file: string, context: string | undefined): Promise<Home> {
  const { connection } = await readKubeconfig({
    text: await readFile(file, 'utf8'),
    file,
    ...(context !== undefined && { context }),
    readFile: (path) => readFile(path, 'utf8'),
  })
  return { server: connection.server, threads: [], isShared: true, renew: async () => {}, as: () => connection }
}

async function gatewayName(directory: DataDirectory, { ids }: HubPorts): Promise<string> {
  const file = directory.file('gateway-name')
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known) return known.trim()
  const name = ids.suffix(8)
  await replaceFileAtomically(file, `${name}\n`, ids)
  return name
}

interface Work extends HubPorts {
  readonly signal: AbortSignal
  readonly isShared: boolean
  readonly log: Logger
}

interface WorkParts extends Pick<
  Parameters<typeof composeControllers>[0],
  'client' | 'trust' | 'onTrustChange' | 'render' | 'fetchSource' | 'askGate' | 'metrics' | 'dialects'
> {
  readonly blobsFolder: string
  /** What else only the leading hub does. */
  readonly alongside?: (term: AbortSignal) => Promise<void>
}

async function runControllers({ blobsFolder, alongside, ...parts }: WorkParts, work: Work): Promise<void> {
  const { signal, isShared, ...ports } = work
  const blobs = createFileBlobs({ folder: blobsFolder, ids: ports.ids })
  const roots = (term: AbortSignal) => blobRoots(parts.client, term)
  const lead = async (term: AbortSignal): Promise<void> => {
    const collecting = runBlobCollector({ blobs, roots, clock: ports.clock, log: ports.log }, term)
    const beside = alongside?.(term)
    await composeControllers({ ...parts, ...ports, blobs }).run(term)
    await Promise.all([collecting, beside])
  }
  // The directory's lock makes an embedded hub the only one.
  if (!isShared) return await lead(signal)
  await runLeaderElection(
    {
      ...ports,
      client: parts.client,
      namespace: SYSTEM_NAMESPACE,
      name: 'flotilla-hub',
      identity: `${hostname()}-${ports.ids.suffix(5)}`,
      lead,
    },
    signal,
  )
}
