import type { LookupFunction } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import api from 'undici/lib/api/index.js'
import connectorOf from 'undici/lib/core/connect.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import Pool from 'undici/lib/dispatcher/pool.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import { compact } from '../core/compact.ts'
import type { HttpResponse } from '../core/http.ts'
import { createAuthorize } from './authorize.ts'
import { flatHeaders, pathPrefix, tlsOptions } from './connection.ts'
import type { Connection, SocketTransport } from './connection.ts'

// As undici's index does: who goes through a proxy has its dispatcher connect.
Object.assign(Dispatcher.prototype, api)

/** How many sockets, and how long one may stay unused. */
export interface SocketOptions {
  /** Each watch keeps one for itself. */
  readonly maxConnections?: number
  readonly keepAliveMs?: number
  /** Goes through this proxy with CONNECT; TLS is still with the server itself. */
  readonly proxy?: string
  /** Resumes TLS sessions of earlier transports with the same credentials. */
  readonly sessions?: TlsSessions
  /** Looks up the server's name; may refuse addresses. */
  readonly lookup?: LookupFunction
}

/** TLS sessions that outlive transports. */
export interface TlsSessions {
  connector(key: string, make: () => buildConnector.connector): buildConnector.connector
}

/** Keeps the sessions of the last few credentials. */
export function createTlsSessions(most = 4): TlsSessions {
  const connectors = new Map<string, buildConnector.connector>()
  return {
    connector(key, make) {
      const known = connectors.get(key)
      if (known) return known
      const made = make()
      connectors.set(key, made)
      const oldest = connectors.keys().next()
      if (connectors.size > most && !oldest.done) connectors.delete(oldest.value)
      return made
    },
  }
}

const CONNECT_MS = 10_000

/** One TLS context for all connections: each would read the CA, the certificate and the key anew, and keep them. */
function connectorFor(connection: Connection, lookup: LookupFunction | undefined): buildConnector.connector {
  let made: buildConnector.connector | undefined
  return (options, callback) => {
    made ??= connectorOf({ timeout: CONNECT_MS, allowH2: false, ...contextOf(connection), ...compact({ lookup }) })
    made(options, callback)
  }
}

function contextOf(connection: Connection) {
  if (!connection.server.startsWith('https:')) return {}
  const { ca, cert, key, ...rest } = tlsOptions(connection)
  return { ...rest, secureContext: createSecureContext({ ca, cert, key }) }
}

/**
 * Speaks HTTP/1.1 with keep-alive to one server. HTTP/2 is off: one lost packet or one reset would stop every watch at
 * once. There are no timeouts here, since a watch may rest for hours; callers set deadlines by their own clock.
 */
export function createUndiciTransport(connection: Connection, options: SocketOptions = {}): SocketTransport {
  const { server, ca, cert, insecure } = connection
  const url = new URL(server)
  const common = {
    allowH2: false,
    connections: options.maxConnections ?? 128,
    keepAliveTimeout: options.keepAliveMs ?? 30_000,
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const { proxy, sessions } = options
  const make = () => connectorFor(connection, options.lookup)
  const connect = sessions?.connector(JSON.stringify([url.origin, ca, cert, insecure]), make) ?? make()
  const requestTls = { timeout: CONNECT_MS, ...tlsOptions(connection) }
  const pool =
    proxy === undefined
      ? new Pool(url.origin, { ...common, connect })
      : new ProxyAgent({ ...common, uri: proxy, requestTls, proxyTunnel: true })
  const prefix = pathPrefix(url)
  const authorize = createAuthorize(connection)

  return {
    transport: async ({ method, path, headers, body }, signal): Promise<HttpResponse> => {
      const response = await pool.request({
        origin: url.origin,
        method,
        path: prefix + path,
        headers: authorize(headers),
        body: body ?? null,
        signal,
      })
      return { status: response.statusCode, headers: flatHeaders(response.headers), body: response.body }
    },
    close: () => pool.destroy(),
  }
}
