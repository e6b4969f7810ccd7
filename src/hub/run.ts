/**
 * A running hub: its data directory, keys, home, threads, controllers and listeners, started in order, closed in
 * reverse.
 */
import type { Client } from '../client/client.ts'
import { CONTROLLER_GROUPS } from '../controllers/controllers.ts'
import { compact } from '../core/compact.ts'
import { Stalled, toError } from '../core/errors.ts'
import { hubRoles, splitList } from './config.ts'
import type { HubConfig, HubRole } from './config.ts'
import { createFleetView } from './console/fleet-view.ts'
import { keepLastSigned, signCheckpoints } from './sign-audit.ts'
import { publishHealth } from './home/publish-health.ts'
import { createStorageWatch, measureStorage } from './home/storage-health.ts'
import { openDataDirectory } from './home/data-directory.ts'
import type { DataDirectory } from './home/data-directory.ts'
import { servedDialects } from './home/dialect-names.ts'
import { openMaintenanceWatch } from './home/maintenance-watch.ts'
import { createPeerWatch } from './home/peer-controllers.ts'
import { pushEgress } from './http/egress-rules.ts'
import { createHttpGet } from '../source/http-get.ts'
import { sourceEgress } from './http/egress-rules.ts'
import { createGateRequests } from './http/gate-requests.ts'
import { formatAddress, isWildcard } from './http/listen-address.ts'
import { hubAuthorities, loadHubKeys, MIN_AGENT_VERSION, readMountedKeys } from './keys/hub-keys.ts'
import type { LoadedKeys, TrustSpec } from './keys/hub-keys.ts'
import { requireSealingKeys } from './keys/sealing-keys.ts'
import { createMetricsPage } from './metrics/metrics-page.ts'
import { watchMainThread } from './threads/main-watchdog.ts'
import { HUB_USERS } from './ports.ts'
import type { HubPorts } from './ports.ts'
import { createPushedAgents } from './push/pushed-agents.ts'
import type { PushedAgents, PushedAgentsOptions } from './push/pushed-agents.ts'
import { openHubBlobs, readBlobsConfig } from './start/blobs-config.ts'
import { gatewayAddress } from './start/gateway-address.ts'
import type { GatewayAddress } from './start/gateway-address.ts'
import { openHome } from './start/open-home.ts'
import { startControllers } from './start/start-controllers.ts'
import { startListeners } from './start/start-listeners.ts'
import { startThreads } from './start/start-threads.ts'
import { beginStart, runBeside } from './start/starting.ts'
import type { Starting } from './start/starting.ts'

/** Addresses and files of a hub that is ready. */
export interface HubAddresses {
  /** `https://…` of the API. */
  readonly api: string
  /** `https://…` that agents use. */
  readonly gateway: string
  /** File with the administrator's kubeconfig. */
  readonly kubeconfig: string
  /** What this process does. */
  readonly roles: readonly HubRole[]
  /** A new address of the console that signs one browser in. Throws without the role `console`. */
  signInUrl(): string
}

export interface RunningHub extends HubAddresses {
  /** A client of the API, as the administrator. */
  readonly client: Client
  /** File of the root key, if this start created it. */
  readonly newRoot: string | undefined
  /** Builds the console in the background, if this is a clone without a built one. */
  prepareConsole(): void
  /** Resolves when the hub is closed. Rejects when a part of the hub fails, after the other parts are closed. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

async function loadKeys(
  config: HubConfig,
  { directory, trusted }: { readonly directory: DataDirectory; readonly trusted: TrustSpec },
  starting: Starting,
): Promise<LoadedKeys> {
  if (config.keys === undefined) return await loadHubKeys(directory, trusted, starting)
  if (config.kubeconfig !== undefined) return await readMountedKeys(config.keys, trusted)
  throw new Stalled('BadConfig', 'keys has no effect with an embedded home', {
    todo: 'omit the flag: an embedded hub keeps its keys in its data directory',
  })
}

/** Starts a hub and waits until it is ready. After a failure, the parts that had started are closed. */
export async function startHub(config: HubConfig, ports: HubPorts): Promise<RunningHub> {
  const { starting, closeAll } = beginStart(ports)
  try {
    const started = await start(config, starting)
    return { ...started, ...endOfHub(starting, closeAll) }
  } catch (caught) {
    await closeAll()
    throw caught
  }
}

async function start(config: HubConfig, starting: Starting): Promise<Omit<RunningHub, 'ended' | 'close'>> {
  const { clock, ids, log, life, closeLater, supervisor } = starting
  const directory = await openDataDirectory(config.data, clock)
  closeLater(() => directory.release())
  if (config.kubeconfig === undefined) await requireSealingKeys(directory)
  const address = await gatewayAddress(config)
  const roles = hubRoles(config)
  const isGateway = roles.includes('gateway')
  const trusted = { endpoints: isGateway ? [address.url] : [], minAgentVersion: MIN_AGENT_VERSION }
  const keys = await loadKeys(config, { directory, trusted }, starting)
  const home = await openHome(config, { directory, keys }, starting)
  const { client } = home
  const blobsConfig = await readBlobsConfig(config, directory.file('blobs'))
  const blobs = await openHubBlobs(blobsConfig, starting)
  closeLater(() => blobs.close())
  const threads = await startThreads(config, { directory, keys, address, home, blobs: blobsConfig }, starting)

  const maintenance = await openMaintenanceWatch({ client, clock, log }, life)
  const view = createFleetView({ client, clock, ids, log, maintenance: maintenance.current })
  const { views, gateway, keys: reloader } = threads
  const authorities = () => hubAuthorities(reloader.current(), config.kubeconfig === undefined)
  const page = createMetricsPage({
    clock,
    facts: () => (roles.includes('console') ? view.facts() : undefined),
    threads: () => [...home.threads, ...(gateway ? [{ name: 'gateway' as const, metrics: gateway.metrics }] : [])],
    supervisor,
    authorities,
    isInMaintenance: () => maintenance.current() !== undefined,
  })
  const dialects = servedDialects(config)
  const peers = home.isShared && dialects.length > 0 ? createPeerWatch(dialects, { client, clock, log }) : undefined
  const pushGateway = isGateway ? localUrl(address) : keys.trust.newest.bundle.endpoints[0]!
  const pushedAgents = roles.includes('controllers')
    ? await openPushedAgents(config, { directory, gateway: pushGateway, trust: keys.trust }, starting)
    : undefined
  const groups = startControllers(
    {
      client,
      trust: reloader.trust,
      onTrustChange: reloader.onChange,
      blobs,
      groups: CONTROLLER_GROUPS.filter((group) => roles.includes(group)),
      render: threads.renderer?.render ?? notHere,
      fetchSource: threads.fetcher?.fetch ?? notHere,
      askGate: createGateRequests(
        compact({
          clock,
          hosts: config.gateHosts === undefined ? undefined : splitList(config.gateHosts),
        }),
      ),
      httpGet: createHttpGet(sourceEgress(config)),
      metrics: page.metrics,
      dialects,
      peers,
      isShared: home.isShared,
      isPaused: maintenance.current() !== undefined,
      name: threads.name,
      pushedAgents,
      views,
    },
    starting,
  )
  const followMaintenance = maintenance.run(async (now) => {
    await Promise.all([groups.setPaused(now !== undefined), threads.setMaintenance(now)])
  }, life)
  closeLater(() => followMaintenance)
  if (roles.includes('console')) runBeside(starting, 'console', view.run)
  const watching = watchMainThread({ clock, log }, life)
  closeLater(() => watching)
  const storage = createStorageWatch({ clock, log }, () => measureStorage(directory))
  const measuring = storage.run(life)
  closeLater(() => measuring)
  const said = { authorities, storage, peers, isShared: home.isShared, maintenance, keys: reloader }
  const health = { clock, ids, log, client, name: threads.name, supervisor, ...said }
  const publishing = publishHealth(health, life)
  closeLater(() => publishing)
  if (config.kubeconfig === undefined) {
    const trust = () => reloader.current().trust
    const lastSigned = keepLastSigned(directory.file('audit-signed.json'), ids)
    const signing = signCheckpoints({ clock, log, client, rest: home.rest, trust, lastSigned }, life)
    closeLater(() => signing)
  }
  const administrator = home.as(HUB_USERS.admin)
  const listeners = await startListeners(
    config,
    { directory, client, administrator, view, metrics: page.text },
    starting,
  )
  return {
    api: home.server,
    gateway: isGateway ? address.url : keys.trust.newest.bundle.endpoints.join(','),
    roles,
    kubeconfig: home.kubeconfig,
    ...listeners,
    client: home.clientFor(HUB_USERS.admin),
    newRoot: keys.newRoot,
  }
}

/** The gateway of this process. */
function localUrl({ listen: { host, port } }: GatewayAddress): string {
  return `https://${formatAddress({ host: isWildcard(host) ? '127.0.0.1' : host, port })}`
}

/** Renders and fetches on a hub without the role `renderers`, which asks for neither. */
const notHere = async (): Promise<never> => {
  throw new Error('this process has no renderers')
}

/** Undefined on a hub that runs no agents. */
async function openPushedAgents(
  config: HubConfig,
  parts: {
    readonly directory: DataDirectory
    readonly gateway: string
    readonly trust: PushedAgentsOptions['trust']
  },
  { clock, ids, log, supervisor }: Starting,
): Promise<PushedAgents | undefined> {
  if (config.push === 'Disabled') return undefined
  const { directory, gateway, trust } = parts
  return await createPushedAgents({
    clock,
    ids,
    log,
    trust,
    folder: directory.file('pushed'),
    gateway,
    egress: pushEgress(config),
    noteEnd: supervisor.noteEnd,
    logLevel: config.logLevel,
  })
}

function endOfHub({ deaths }: Starting, closeAll: () => Promise<void>): Pick<RunningHub, 'ended' | 'close'> {
  const closed = Promise.withResolvers<void>()
  const close = async (): Promise<void> => {
    await closeAll()
    closed.resolve()
  }
  const ended = Promise.race([closed.promise, ...deaths]).catch(async (caught: unknown) => {
    await close()
    throw toError(caught)
  })
  ended.catch(() => {}) // the caller may listen later
  return { ended, close }
}

/** A line with all addresses, the first output of `hub run` for scripts. */
export function readyLine(hub: HubAddresses): string {
  const console = hub.roles.includes('console') ? hub.signInUrl() : 'none'
  return `flotilla hub ready: api ${hub.api} gateway ${hub.gateway} console ${console} kubeconfig ${hub.kubeconfig}`
}
