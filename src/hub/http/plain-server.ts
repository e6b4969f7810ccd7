/**
 * The plain HTTP listeners of the hub are all made here: a request that cannot be read is a 400, a handler that
 * throws is a 500 and a line in the log. Nothing that a client sends reaches the process as an uncaught error.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { shareConnections } from '../../core/connection-shares.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'

// An import of `node:http` makes Node load all that it can give, fetch and WebSockets among it: 5 MB in each
// thread, of which a server uses nothing.
const { createServer } = process.getBuiltinModule('node:http')

/** What a request asks for. */
export interface RequestTarget {
  /** The path as the client sent it, not decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The host, with its port, that the client believes to talk to. */
  readonly host: string
}

/** How a listener answers. */
export interface PlainServerOptions {
  /** Name of the listener in the log. */
  readonly name: string
  readonly log: Logger
  /** PEM; the listener speaks HTTPS with it. */
  readonly tls?: { readonly cert: string; readonly key: string }
  /** Answers one request. The client gets a 500 when this throws or rejects. */
  answer(request: IncomingMessage, response: ServerResponse, target: RequestTarget): void | Promise<void>
}

const LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000, maxHeaderSize: 16 * 1024 } as const
const MAX_CONNECTIONS = 256
/** Beyond loopback, strangers share the connections with users. */
const TLS_LIMITS = { minVersion: 'TLSv1.2', handshakeTimeout: 10_000 } as const
const MAX_TLS_CONNECTIONS = 4096

/** Makes a server that does not listen yet. */
export function createPlainServer({ name, log, tls, answer }: PlainServerOptions): Server | TlsServer {
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = readTarget(request)
    if (target) return answer(request, response, target)
    request.resume()
    refuse(response, 400, 'the request target is malformed\n')
  }

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const broken = (caught: unknown): void => log.debug({ err: toError(caught), listener: name }, 'connection failed')
    response.on('error', broken)
    serve(request, response).catch((caught: unknown) => {
      // A client that hung up is no trouble of the hub's.
      if (response.socket?.destroyed ?? true) return broken(caught)
      const { method } = request
      log.error({ err: toError(caught), listener: name, method }, 'a request could not be answered')
      if (response.headersSent) response.destroy()
      else refuse(response, 500, 'internal error\n')
    })
  }
  const server = tls
    ? process.getBuiltinModule('node:https').createServer({ ...LIMITS, ...TLS_LIMITS, ...tls }, onRequest)
    : createServer(LIMITS, onRequest)
  shareConnections(server, tls ? MAX_TLS_CONNECTIONS : MAX_CONNECTIONS)
  return server
}

/**
 * Reads the target of a request; undefined when it is malformed. A path is taken as it stands and never resolved
 * against an address: a parser of addresses throws on some targets, and takes what follows two slashes for a host.
 */
export function readTarget({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): RequestTarget | undefined {
  if (url.startsWith('/')) {
    if (url.startsWith('//')) return undefined
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    return { path, query: new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)), host: headers.host ?? '' }
  }
  // As through a proxy. The host of the target counts then, whatever the header says (RFC 9112, section 3.2.2).
  const absolute = /^https?:\/\//i.test(url) ? URL.parse(url) : null
  return absolute ? { path: absolute.pathname, query: absolute.searchParams, host: absolute.host } : undefined
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text)
}
