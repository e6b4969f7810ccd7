import { Pool } from 'undici'
import type { HttpResponse, Transport } from '../core/http.ts'
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

/** How many sockets, and how long one may stay unused. */
export interface SocketOptions {
  /** Each watch keeps one for itself. */
  readonly maxConnections?: number
  readonly keepAliveMs?: number
}

/**
 * Speaks HTTP/1.1 with keep-alive to one server. HTTP/2 is off: one lost packet or one reset would stop every watch at
 * once. There are no timeouts here, since a watch may rest for hours; callers set deadlines by their own clock.
 */
export function createUndiciTransport(connection: Connection, options: SocketOptions = {}): SocketTransport {
  const { server, ca, cert, key, serverName } = connection
  const url = new URL(server)
  const pool = new Pool(url.origin, {
    allowH2: false,
    connections: options.maxConnections ?? 128,
    keepAliveTimeout: options.keepAliveMs ?? 30_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: 10_000,
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key: key.reveal() }),
      ...(serverName === undefined ? {} : { servername: serverName }),
      ...(connection.insecure ? { rejectUnauthorized: false } : {}),
    },
  })
  const prefix = url.pathname.replace(/\/+$/, '')

  return {
    transport: async (request, signal): Promise<HttpResponse> => {
      const response = await pool.request({
        method: request.method,
        path: prefix + request.path,
        headers: authorized(request.headers, connection.token),
        body: request.body ?? null,
        signal,
      })
      return { status: response.statusCode, headers: flat(response.headers), body: response.body }
    },
    close: () => pool.destroy(),
  }
}

function authorized(headers: Readonly<Record<string, string>>, token: Secret<string> | undefined) {
  return token === undefined ? headers : { ...headers, authorization: `Bearer ${token.reveal()}` }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flattened: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flattened[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return flattened
}
