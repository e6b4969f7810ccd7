/** Connections to real gateways: TLS with the CAs of the trust bundle alone, through a proxy where one is set, and with resumed sessions. */
import { createTlsSessions, createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import type { ConnectHub } from './hub-api.ts'

// One for the stream, one for reports, a few for blobs.
const MAX_CONNECTIONS = 4

/** Makes the connector of one agent; `proxyFor` names the proxy to an endpoint. */
export function createConnectHub(proxyFor: (endpoint: string) => string | undefined = () => undefined): ConnectHub {
  // After a hub restart every agent of a fleet comes back at once: a resumed session spares both sides the signatures.
  const sessions = createTlsSessions()
  return ({ endpoint, cas, certificate, privateKey }) => {
    const credentials =
      certificate === undefined || privateKey === undefined ? {} : { cert: certificate, key: new Secret(privateKey) }
    // Without CAs there is one request only, for the trust bundle, whose signature by the pinned root is the proof.
    const server = cas === undefined ? { insecure: true } : { ca: cas.join('\n') }
    const proxy = proxyFor(endpoint)
    const options = { maxConnections: MAX_CONNECTIONS, ...(proxy === undefined ? { sessions } : { proxy }) }
    return createUndiciTransport({ server: endpoint, ...server, ...credentials }, options)
  }
}
