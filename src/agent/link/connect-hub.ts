/**
 * Connections to real gateways: TLS with only the CAs of the trust bundle, resumed sessions, and the configured proxy.
 */
import { createTlsSessions, createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import type { ConnectHub } from './hub-api.ts'

// A connection for the stream, a connection for reports, and two for blobs.
const MAX_CONNECTIONS = 4

/** Creates the connector of an agent; `proxyFor` returns the proxy for an endpoint. */
export function createConnectHub(proxyFor: (endpoint: string) => string | undefined = () => undefined): ConnectHub {
  // After a restart of the hub all agents connect at once: a resumed session saves both sides the signatures.
  const sessions = createTlsSessions()
  return ({ endpoint, cas, certificate, privateKey }) => {
    const credentials =
      certificate === undefined || privateKey === undefined ? {} : { cert: certificate, key: new Secret(privateKey) }
    // Without CAs the agent only fetches the trust bundle, which the signature of the pinned root proves.
    const server = cas === undefined ? { insecure: true } : { ca: cas.join('\n') }
    const proxy = proxyFor(endpoint)
    const options = { maxConnections: MAX_CONNECTIONS, ...(proxy === undefined ? { sessions } : { proxy }) }
    return createUndiciTransport({ server: endpoint, ...server, ...credentials }, options)
  }
}
