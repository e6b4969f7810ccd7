/** A transport for programs that end soon: Node's own client is there at once, while undici has to be loaded. */
import { Agent, request as overHttps } from 'node:https'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { toError } from '../core/errors.ts'
import type { HttpRequest, HttpResponse } from '../core/http.ts'
import { createAuthorize } from './authorize.ts'
import { flatHeaders, pathPrefix, tlsOptions } from './connection.ts'
import type { Connection, SocketTransport } from './connection.ts'

const CONNECT_MS = 10_000
const MAX_SOCKETS = 8

// Importing node:http loads all of Node's built-in fetch, so only who speaks plain http pays for it.
const plain = async () => await import('node:http')

/** Speaks HTTP/1.1 with keep-alive to one server, without timeouts after the handshake. */
export function createHttpsTransport(connection: Connection): SocketTransport {
  const url = new URL(connection.server)
  const isSecure = url.protocol === 'https:'
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS, ...tlsOptions(connection) })
  const prefix = pathPrefix(url)
  const authorize = createAuthorize(connection)
  const fixed = {
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
  }

  const begin = async (options: RequestOptions): Promise<ClientRequest> =>
    isSecure ? overHttps({ ...options, agent }) : (await plain()).request(options)

  const send = async (request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> => {
    signal.throwIfAborted()
    const { method, path, headers, body } = request
    // Said for every body: that of a DELETE would else be sent without its length.
    const length = body === undefined ? {} : { 'content-length': String(body.byteLength) }
    const all = { ...authorize(headers), ...length }
    const outgoing = await begin({ ...fixed, method, path: prefix + path, headers: all })
    return await new Promise((answered, failed) => {
      limitHandshake(outgoing, isSecure)
      const onAbort = (): void => void outgoing.destroy(toError(signal.reason))
      signal.addEventListener('abort', onAbort, { once: true })
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        signal.removeEventListener('abort', onAbort)
        // The server may have closed a kept connection at the same moment; what only reads is asked again.
        const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET' && method === 'GET'
        if (isStale && !signal.aborted) answered(send(request, signal))
        else failed(error)
      })
      outgoing.on('response', (incoming) => {
        signal.removeEventListener('abort', onAbort)
        endWith(incoming, signal)
        answered({ status: incoming.statusCode ?? 0, headers: flatHeaders(incoming.headers), body: incoming })
      })
      outgoing.end(body)
    })
  }
  return {
    transport: send,
    close: async () => {
      agent.destroy()
      if (!isSecure) (await plain()).globalAgent.destroy()
    },
  }
}

/** Aborting ends the body with the signal's reason. */
function endWith(incoming: IncomingMessage, signal: AbortSignal): void {
  const end = (): void => void incoming.destroy(toError(signal.reason))
  signal.addEventListener('abort', end, { once: true })
  incoming.once('close', () => signal.removeEventListener('abort', end))
}

function limitHandshake(outgoing: ClientRequest, isSecure: boolean): void {
  outgoing.once('socket', (socket) => {
    if (!socket.connecting) return
    const late = (): void => {
      const error = Object.assign(new Error('the connection took too long'), { code: 'ETIMEDOUT' })
      socket.destroy(error)
    }
    socket.setTimeout(CONNECT_MS, late)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => socket.setTimeout(0, late))
  })
}
