import { createUndiciTransport } from '../client/undici-transport.ts'
import { Secret } from '../core/secret.ts'
import type { ConnectHub } from './hub-api.ts'

// One for the stream, one for reports, a few for blobs.
const MAX_CONNECTIONS = 4

/** Connects to a real gateway: TLS with the CAs of the trust bundle alone, never the system's. */
export const connectHub: ConnectHub = ({ endpoint, cas, certificate, privateKey }) => {
  const credentials =
    certificate === undefined || privateKey === undefined ? {} : { cert: certificate, key: new Secret(privateKey) }
  // Without CAs there is one request only, for the trust bundle, whose signature by the pinned root is the proof.
  const server = cas === undefined ? { insecure: true } : { ca: cas.join('\n') }
  return createUndiciTransport({ server: endpoint, ...server, ...credentials }, { maxConnections: MAX_CONNECTIONS })
}
