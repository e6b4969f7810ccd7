/** Parts that all socket transports share: the server's address, the client's identity, and the writing of headers. */
import { compact } from '../core/compact.ts'
import type { Transport } from '../core/http.ts'
import type { Secret } from '../core/secret.ts'

/** Where a server is and how both sides prove who they are. */
export interface Connection {
  /** `https://host:port`, perhaps with a path in front of everything. */
  readonly server: string
  /** PEM; the system's roots when absent. */
  readonly ca?: string
  /** PEM of the client's certificate; with `key`. */
  readonly cert?: string
  readonly key?: Secret<string>
  readonly token?: Secret<string>
  /** File of the token on this machine, which is read again while the connection is used. */
  readonly tokenFile?: string
  /** The name in the server's certificate when it is not the host. */
  readonly serverName?: string
  /** Believe any certificate; only because kubeconfigs may say so. */
  readonly insecure?: boolean
}

/** A transport with sockets behind it. */
export interface SocketTransport {
  readonly transport: Transport
  /** Ends all connections, also watches. */
  close(): Promise<void>
}

/** A connection as Node's TLS takes it. */
export function tlsOptions({ ca, cert, key, serverName, insecure }: Connection) {
  return compact({
    ca,
    cert,
    key: key?.reveal(),
    servername: serverName,
    rejectUnauthorized: insecure ? false : undefined,
  })
}

/** The path in front of everything. */
export function pathPrefix(url: URL): string {
  return url.pathname.replace(/\/+$/, '')
}

/** Headers of an answer; a repeated header is joined. */
export function flatHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flat
}
