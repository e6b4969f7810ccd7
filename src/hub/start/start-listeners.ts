// Tested by src/hub/console/oidc-sign-in.contract.test.ts
/** Starts the plain listeners of a hub: the console with its sign-in socket, and on request metrics and webhooks. */
import type { Client } from '../../client/client.ts'
import type { Connection } from '../../client/connection.ts'
import type { Ids } from '../../core/ids.ts'
import { notReadyReason } from '../../plan/fleet/hub-health.ts'
import { Stalled } from '../../core/errors.ts'
import { hubRoles } from '../config.ts'
import type { HubConfig } from '../config.ts'
import { CONSOLE_SOCKET, openConsoleSocket } from '../console/console-socket.ts'
import { assetPlaces, createConsoleAssets } from '../console/console-assets.ts'
import { startConsole } from '../console/console.ts'
import type { ConsoleIssuer } from '../console/console.ts'
import { openUserApi } from '../console/user-api.ts'
import type { FleetView } from '../console/fleet-view.ts'
import type { DataDirectory } from '../home/data-directory.ts'
import { parseAddress } from '../http/listen-address.ts'
import type { RepositoryWebhook, RepositoryWebhookOptions } from '../http/repository-webhook.ts'
import { listenForWebhooks } from '../http/webhook-listener.ts'
import { listenForMetrics } from '../metrics/metrics-listener.ts'
import { servedDialects } from '../home/dialect-names.ts'
import type { DialectName } from '../home/dialect-names.ts'
import { consoleExposure, readCertificate, readClientSecret, readOidcSettings } from './oidc-config.ts'
import type { Starting } from './starting.ts'

export interface ListenerInputs {
  readonly directory: DataDirectory
  readonly client: Client
  /** The API as the administrator. */
  readonly administrator: Connection
  readonly view: FleetView
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>
}

export interface HubListeners {
  /** A new address of the console that signs one browser in. Throws on a hub without console. */
  readonly signInUrl: () => string
  /** Builds the page now, if this is a clone without a built one. */
  readonly prepareConsole: () => void
}

export async function startListeners(
  config: HubConfig,
  inputs: ListenerInputs,
  starting: Starting,
): Promise<HubListeners> {
  const { client, metrics } = inputs
  const { clock, log, closeLater, supervisor, life } = starting
  const console = hubRoles(config).includes('console')
    ? await startConsoleListener(config, inputs, starting)
    : NO_CONSOLE
  if (config.metricsListen !== undefined) {
    const listener = await listenForMetrics({
      listen: parseAddress(config.metricsListen),
      text: metrics,
      notReady: () => (life.aborted ? 'the hub is stopping' : notReadyReason(supervisor.health())),
      log,
    })
    closeLater(() => listener.close())
  }
  if (config.webhookListen !== undefined) {
    const doors = await webhookDoors(servedDialects(config), { client, clock, log })
    const listen = parseAddress(config.webhookListen)
    const listener = await listenForWebhooks({ listen, client, clock, log, doors })
    closeLater(() => listener.close())
  }
  return console
}

/** Loaded only on hubs that serve the kinds of the dialect. */
async function webhookDoors(
  dialects: readonly DialectName[],
  options: RepositoryWebhookOptions,
): Promise<RepositoryWebhook[]> {
  const doors: RepositoryWebhook[] = []
  if (dialects.includes('argo')) doors.push((await import('../http/argo-webhook.ts')).createArgoWebhook(options))
  if (dialects.includes('fleet')) doors.push((await import('../http/fleet-webhook.ts')).createFleetWebhook(options))
  return doors
}

const NO_CONSOLE: HubListeners = {
  signInUrl: () => {
    throw new Stalled('BadConfig', 'this hub has no console', { todo: 'add console to its roles' })
  },
  prepareConsole: () => {},
}

async function startConsoleListener(
  config: HubConfig,
  { directory, administrator, view, metrics }: ListenerInputs,
  { clock, ids, log, closeLater }: Starting,
): Promise<HubListeners> {
  const { cert: _cert, key: _key, token: _token, tokenFile: _file, ...server } = administrator
  const assets = createConsoleAssets({ places: assetPlaces(), log })
  const { url, tls } = consoleExposure(config)
  const console = await startConsole({
    listen: parseAddress(config.consoleListen),
    url,
    certificate: tls && { read: () => readCertificate(tls) },
    oidc: await consoleIssuer(config, ids),
    view,
    assets,
    metrics,
    clock,
    ids,
    log,
    // A user acts with the user's own token, on both homes; the hub never impersonates.
    openApi: (token) => openUserApi(token === 'administrator' ? administrator : { ...server, token }, clock),
  })
  closeLater(() => console.close())
  const socket = await openConsoleSocket(directory.file(CONSOLE_SOCKET), { signInUrl: console.signInUrl, log })
  closeLater(() => socket.close())
  return { signInUrl: () => console.signInUrl(), prepareConsole: assets.prepare }
}

/** Loaded only on hubs with an issuer: the libraries cost memory. */
async function consoleIssuer(config: HubConfig, ids: Ids): Promise<ConsoleIssuer | undefined> {
  const settings = await readOidcSettings(config)
  if (!settings) return undefined
  const [{ createCodeFlow }, { createIssuerFetch }, clientSecret] = await Promise.all([
    import('../../client/oidc/code-flow.ts'),
    import('../../client/oidc/issuer-fetch.ts'),
    readClientSecret(config),
  ])
  const flow = createCodeFlow({ settings, clientSecret, ids, fetch: createIssuerFetch(settings), renews: true })
  return { issuer: settings.issuer, flow }
}
