// Tested by src/hub/run.contract.test.ts
/**
 * Starts the threads that the roles of a hub need beside its API: the gateway, the renderer, the fetcher and, on a
 * kube-apiserver, the views.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobsConfig } from '../../blobs/open-blobs.ts'
import { drainMs, hubRoles, programEnvironment, readDays, splitList } from '../config.ts'
import type { HubConfig } from '../config.ts'
import { replaceFileAtomically } from '../home/atomic-files.ts'
import type { DataDirectory } from '../home/data-directory.ts'
import { sourceEgress } from '../http/egress-rules.ts'
import { hubsLackingTrust } from '../home/publish-health.ts'
import { servedDialects } from '../home/dialect-names.ts'
import { parseAddress } from '../http/listen-address.ts'
import { issueGatewayListenerCertificate, readHubKeys, readKeysIn } from '../keys/hub-keys.ts'
import type { HubKeys } from '../keys/hub-keys.ts'
import { createKeyReloader } from '../keys/key-reloader.ts'
import type { KeyReloader } from '../keys/key-reloader.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'
import { HUB_USERS } from '../ports.ts'
import type { HubPorts } from '../ports.ts'
import { startFetcher } from '../threads/limited-fetcher.ts'
import type { LimitedFetcher } from '../threads/limited-fetcher.ts'
import { createRenderer } from '../threads/limited-renderer.ts'
import type { LimitedRenderer } from '../threads/limited-renderer.ts'
import type { GatewayDrain, GatewaySettings } from '../threads/messages.ts'
import { plainConnection } from '../threads/plain-connection.ts'
import type { KeptThread } from '../threads/supervisor.ts'
import { startThread, THREAD_LIMITS } from '../threads/thread.ts'
import { startAggregatedApi } from '../view/aggregated-api.ts'
import type { AggregatedApi } from '../view/aggregated-api.ts'
import type { GatewayAddress } from './gateway-address.ts'
import type { Home } from './open-home.ts'
import type { Starting } from './starting.ts'

export interface ThreadInputs {
  readonly directory: DataDirectory
  readonly keys: HubKeys
  readonly address: GatewayAddress
  readonly home: Home
  readonly blobs: BlobsConfig
}

/** Threads of roles that this process does not have are undefined. */
export interface HubThreads {
  readonly gateway: KeptThread<'gateway'> | undefined
  /** Name of this hub, unique among the hubs of its home. */
  readonly name: string
  readonly renderer: LimitedRenderer | undefined
  readonly fetcher: LimitedFetcher | undefined
  /** Undefined also with the embedded home, whose API serves the views itself. */
  readonly views: AggregatedApi | undefined
  /** The hub's keys as they are now, also after a rotation. */
  readonly keys: KeyReloader
  /** Lets the gateway refuse or accept new clusters. */
  setMaintenance(maintenance: Maintenance | undefined): Promise<void>
}

export async function startThreads(config: HubConfig, inputs: ThreadInputs, starting: Starting): Promise<HubThreads> {
  const { clock, log, life, closeLater, supervisor } = starting
  const { directory, home, keys, blobs } = inputs
  // The same after a restart with this directory, and unique among hubs that share a home.
  const name = home.isShared ? (config.name ?? (await gatewayName(directory, starting))) : '0'
  const roles = hubRoles(config)
  let settings = gatewayKeys(keys, inputs.address, starting)
  const gateway = roles.includes('gateway')
    ? await startGateway(config, { ...inputs, name, settings }, starting)
    : undefined
  const tellGateway = async (changed: Partial<GatewaySettings>): Promise<void> => {
    settings = { ...settings, ...changed }
    await gateway?.tell(settings, life)
  }
  const isRenderer = roles.includes('renderers')
  const renderer = isRenderer ? createRenderer({ blobs, clock, log, noteEnd: supervisor.noteEnd }) : undefined
  if (renderer) closeLater(() => renderer.close())
  const fetcher = isRenderer ? await startSourceThreads(config, inputs, starting) : undefined
  if (fetcher) closeLater(() => fetcher.close())
  const views = roles.includes('views') ? await startViews(config, inputs, starting) : undefined
  if (views) {
    closeLater(() => views.thread.close())
    closeLater(() => views.withdraw())
  }
  const leaveMs = drainMs(config)
  if (gateway && leaveMs > 0) {
    starting.leaveFirst((signal) => gateway.ask({ drainMs: leaveMs }, signal), leaveMs)
  }

  const reloader = createKeyReloader(keys, {
    clock,
    log,
    read: () => (config.keys === undefined ? readHubKeys(directory) : readKeysIn(config.keys)),
    // A gateway that does not know a new signer cannot hand out what it signed.
    lacking: async (version) =>
      home.isShared
        ? (await hubsLackingTrust(home.client, { version, nowMs: clock.now() })).filter((other) => other !== name)
        : [],
    spread: async (next) => {
      await tellGateway(gatewayKeys(next, inputs.address, starting))
      await home.renew(next, life)
      await views?.renew(next, life)
    },
  })
  const reloading = reloader.run(life)
  closeLater(() => reloading)
  const setMaintenance: HubThreads['setMaintenance'] = (maintenance) =>
    tellGateway({ maintenance: maintenance?.reason })
  return { name, gateway, renderer, fetcher, views, keys: reloader, setMaintenance }
}

async function startSourceThreads(config: HubConfig, { directory, blobs }: ThreadInputs, starting: Starting) {
  const { clock, ids, log, supervisor } = starting
  return await startFetcher({
    init: {
      blobs,
      folder: directory.file('sources'),
      git: { ...programEnvironment(), home: directory.file(join('sources', 'home')) },
      localPaths: splitList(config.sourcePaths),
      egress: sourceEgress(config),
    },
    clock,
    ids,
    log,
    noteEnd: supervisor.noteEnd,
  })
}

async function startViews(config: HubConfig, { home, keys, blobs }: ThreadInputs, starting: Starting) {
  if (config.kubeconfig === undefined) return undefined
  return await startAggregatedApi({
    ...starting,
    client: home.client,
    home: home.server,
    api: plainConnection(home.as(HUB_USERS.controllers)),
    blobs,
    dialects: servedDialects(config),
    listen: parseAddress(config.listen),
    url: config.viewUrl,
    keys,
    logLevel: config.logLevel,
  })
}

interface GatewayInputs extends ThreadInputs {
  readonly name: string
  readonly settings: GatewaySettings
}

async function startGateway(
  config: HubConfig,
  { name, settings: first, address, home, blobs }: GatewayInputs,
  starting: Starting,
): Promise<KeptThread<'gateway'>> {
  const init = {
    name,
    listen: address.listen,
    api: plainConnection(home.as(HUB_USERS.gateway)),
    blobs,
    ...first,
    agentBundle: home.agentBundle,
    evidenceRetentionMs: readDays(config.evidenceRetention),
    logLevel: config.logLevel,
  }
  const gateway = await starting.supervisor.keepThread('gateway', {
    start: (settings, ready) =>
      startThread(
        'gateway',
        { ...init, ...settingsIn(settings), listen: { ...address.listen, ...ready } },
        THREAD_LIMITS.gateway,
      ),
  })
  starting.closeLater(() => gateway.close())
  return gateway
}

function settingsIn(settings: GatewaySettings | GatewayDrain | undefined): GatewaySettings | undefined {
  return settings && 'server' in settings ? settings : undefined
}

function gatewayKeys(keys: HubKeys, { names }: GatewayAddress, ports: HubPorts): GatewaySettings {
  const { root, envelopes, newest, transportCa } = keys.trust
  return {
    server: issueGatewayListenerCertificate(keys, names, ports),
    transportCa,
    trust: { root, envelopes, newest },
  }
}

async function gatewayName(directory: DataDirectory, { ids }: HubPorts): Promise<string> {
  const file = directory.file('gateway-name')
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known) return known.trim()
  const name = ids.suffix(8)
  await replaceFileAtomically(file, `${name}\n`, ids)
  return name
}
