/**
 * A whole hub in one thread, with transports in memory: what the simulator runs. A real hub runs the same parts
 * (compose-api.ts, compose-gateway.ts, compose-controllers.ts) in threads of their own; see run.ts.
 */
import type { ApiServer } from '../../apiserver/server/api-server.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { Client } from '../../client/client.ts'
import type { AskGatePort, FetchSourcePort } from '../../controllers/controllers.ts'
import { createClient } from '../../client/create-client.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Gateway } from '../../gateway/create-gateway.ts'
import type { Store } from '../../store/store.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import { composeApi } from './compose-api.ts'
import { announceHub, composeControllers } from './compose-controllers.ts'
import { composeGateway } from './compose-gateway.ts'
import { dialectControllers, installDialects } from '../home/dialects.ts'
import { installFirstProjects } from '../home/first-projects.ts'
import { inProcessTransport } from './in-process-transport.ts'
import { HUB_USERS } from '../ports.ts'
import { createBundleRenderer } from './bundle-renderer.ts'
import type { HubPorts } from '../ports.ts'
import type { DialectName } from '../home/dialect-names.ts'

export interface HubOptions extends HubPorts {
  readonly store: Store
  readonly blobs: Blobs
  /** Read on every use: trust changes while a hub runs. */
  readonly trust: () => HubTrust
  readonly gatewayName?: string
  readonly metrics?: Metrics
  /** Fetches sources. If omitted, every fetch fails: a simulated world has no git server. */
  readonly fetchSource?: FetchSourcePort
  /** Asks gates. If omitted, every gate is unreachable. */
  readonly askGate?: AskGatePort
  /** Dialects by name. */
  readonly dialects?: readonly DialectName[]
}

const noSources: FetchSourcePort = async () => ({
  kind: 'Failed',
  reason: 'NoNetwork',
  message: 'The hub is simulated and has no git server.',
  retry: false,
})

const noGates: AskGatePort = async () => ({
  kind: 'Unreachable',
  message: 'The hub is simulated and has no network.',
})

/** A hub in one thread. */
export interface ComposedHub {
  readonly api: ApiServer
  readonly gateway: Gateway
  /** A client of the API as the administrator. */
  readonly client: Client
  /** Announces the hub and runs the controllers until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

export function composeHub(options: HubOptions): ComposedHub {
  const {
    store,
    blobs,
    trust,
    metrics,
    fetchSource: _fetchSource,
    askGate = noGates,
    dialects: _dialects,
    ...ports
  } = options
  const api = composeApi({ ...ports, store, blobs, dialects: options.dialects ?? [] })
  const clientOf = (user: (typeof HUB_USERS)[keyof typeof HUB_USERS]): Client =>
    createClient({ transport: inProcessTransport(api.handle, user), clock: ports.clock, userAgent: user.commonName })
  const client = clientOf(HUB_USERS.admin)
  const gateway = composeGateway({
    ...ports,
    name: options.gatewayName ?? '0',
    client: clientOf(HUB_USERS.gateway),
    blobs,
    trust,
    transportCa: () => trust().transportCa,
  })
  const controllersClient = clientOf(HUB_USERS.controllers)
  const controllers = composeControllers({
    ...ports,
    client: controllersClient,
    blobs,
    trust: {
      get signer() {
        return trust().signer
      },
      get newest() {
        return trust().newest
      },
    },
    render: createBundleRenderer({ blobs, clock: ports.clock, ids: ports.ids }),
    fetchSource: options.fetchSource ?? noSources,
    askGate,
    ...(metrics && { metrics }),
    dialects: dialectControllers(options.dialects ?? []),
  })
  return {
    api,
    gateway,
    client,
    run: async (signal) => {
      await announceHub(client, trust(), {})
      await installDialects(options.dialects ?? [], {
        client,
        controllers: controllersClient,
        clock: ports.clock,
        signal,
      })
      await installFirstProjects({ client, signal })
      await controllers.run(signal)
    },
    close: async () => {
      await controllers.close()
      await gateway.close()
      await api.close()
    },
  }
}
