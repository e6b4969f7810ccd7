import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Session,
  ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { shareConnections } from '../../core/connection-shares.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { ApiError, isApiError, toError } from '../../core/errors.ts'
import type { Caller, Handler, HttpRequest, HttpResponse } from '../../core/http.ts'
import type { Logger } from '../../core/log.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import { createBodyBudget } from './body-budget.ts'
import type { BodyBudgetLimits, OpenBody } from './body-budget.ts'
import { respondError } from './respond.ts'
import { bodyTooLarge, MAX_BODY_BYTES } from './decode-body.ts'
import { sendAnswer } from './send-response.ts'

/** HTTPS in front of a handler: HTTP/2 as Go clients speak it and HTTP/1.1, callers proven by client certificates. */

/** How to listen. */
export interface HttpsListenerOptions {
  readonly handle: Handler
  readonly log: Logger
  readonly clock: Clock
  readonly host: string
  /** Port 0 picks a free port. */
  readonly port: number
  /** PEM. */
  readonly cert: string
  readonly key: string
  /** The PEM of the authorities whose client certificates prove a caller. */
  readonly clientCa: string
  readonly limits?: Partial<ListenerLimits>
  /**
   * The caller that a header `Authorization` proves; undefined for a header that proves none. If omitted, no header
   * proves a caller.
   */
  readonly authenticate?: (authorization: string) => Promise<Caller | undefined>
  /**
   * Who asks, given who the certificate proves and the headers as they came (name, value, name, …); that one unless
   * told.
   */
  readonly identify?: (proven: Caller | undefined, headers: readonly string[]) => Caller | undefined
}

/** Limits against silent and greedy clients. */
export interface ListenerLimits {
  readonly handshakeMs: number
  /** A connection without any request for this long is closed. */
  readonly idleMs: number
  /** A request must be here whole within this time. */
  readonly requestMs: number
  /**
   * A client that takes nothing of its answer for this long is cut; a watch goes on where it was when it comes back.
   */
  readonly slowReaderMs: number
  readonly maxConnections: number
  readonly maxStreamsPerConnection: number
  /** Memory for bodies of all requests under way, and of the requests of a single caller. */
  readonly bodies: BodyBudgetLimits
  /** How long a graceful close waits for requests under way. */
  readonly closeMs: number
}

/** A listener. */
export interface HttpsListener {
  readonly port: number
  readonly url: string
  /** Replaces the certificate, and the client authorities if given, for new connections. */
  replaceCertificate(cert: string, key: string, clientCa?: string): void
  close(): Promise<void>
}

const DEFAULT_LIMITS: ListenerLimits = {
  handshakeMs: 10_000,
  idleMs: 120_000,
  requestMs: 60_000,
  slowReaderMs: 60_000,
  maxConnections: 12_000,
  maxStreamsPerConnection: 100,
  bodies: { totalBytes: 192 * 1024 * 1024, bytesPerCaller: 64 * 1024 * 1024 },
  closeMs: 5_000,
}

/** Paths a load balancer may ask for without a certificate. */
const PUBLIC = /^\/(healthz|livez|readyz|version)(\/|\?|$)/
const ANONYMOUS: Caller = { user: 'system:anonymous', groups: ['system:unauthenticated'] }

/** Starts to listen. */
export async function listenHttps(options: HttpsListenerOptions): Promise<HttpsListener> {
  const { handle, log, clock } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  // One per request under way; a combined signal for each would cost more than the rest of a small request.
  const underWay = new Set<AbortController>()
  const sockets = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const requests = new Set<Promise<void>>()
  const budget = createBodyBudget(limits.bodies)
  let isClosing = false

  const server = createSecureServer({
    allowHTTP1: true,
    cert: options.cert,
    key: options.key,
    ca: options.clientCa,
    requestCert: true,
    // A caller without a good certificate gets a Status that says so instead of a broken handshake.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.handshakeMs,
    settings: { maxConcurrentStreams: limits.maxStreamsPerConnection, maxHeaderListSize: 64 * 1024 },
  })
  boundConnections(server, { limits, sockets, sessions, log })

  server.on('request', (request, response) => {
    const work = answer(request, response).catch((error: unknown) => {
      log.debug({ err: toError(error) }, 'answer could not be sent')
      response.destroy()
    })
    requests.add(work)
    void work.finally(() => requests.delete(work))
  })

  async function answer(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
    const ended = new AbortController()
    if (isClosing) ended.abort()
    underWay.add(ended)
    response.once('close', () => {
      underWay.delete(ended)
      if (!response.writableFinished) ended.abort()
    })
    const answered = await answerOf(request, ended.signal).catch((caught: unknown) => {
      // The issuer of a token does not answer: whether the token is good is not known.
      if (!isApiError(caught, 'ServiceUnavailable')) throw caught
      request.resume()
      return respondError(caught)
    })
    await sendAnswer(response, answered, { clock, limits, signal: ended.signal })
  }

  async function answerOf(request: Http2ServerRequest, signal: AbortSignal): Promise<HttpResponse> {
    const socket = socketOf(request)
    // From the socket alone: a header with another address proves nothing. A socket that is closed has none.
    const address = socket.remoteAddress
    const proven = callerOf(socket)
    const caller = options.identify ? options.identify(proven, request.rawHeaders) : proven
    const { authorization } = request.headers
    // Before the body is read: a stranger must not fill the memory. Without any proof only the health is told.
    const known = caller ?? (authorization === undefined ? undefined : await options.authenticate?.(authorization))
    if (!known && (authorization !== undefined || !PUBLIC.test(request.url))) {
      request.resume()
      return respondError(new ApiError('Unauthorized', 'Unauthorized'))
    }
    const held = budget.open(known?.user ?? '')
    try {
      const body = await readRequest(request, limits.requestMs, held)
      if (body instanceof ApiError) return respondError(body)
      return await handle(requestOf(request, body), compact({ ...(known ?? ANONYMOUS), address }), signal)
    } finally {
      held.close()
    }
  }

  server.listen(options.port, options.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `https://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    replaceCertificate: (cert, key, clientCa = options.clientCa) =>
      server.setSecureContext({ cert, key, ca: clientCa }),
    async close() {
      server.close()
      isClosing = true
      for (const ended of underWay) ended.abort()
      for (const session of sessions) session.close()
      const grace = new AbortController()
      await Promise.race([Promise.all(requests), clock.sleep(limits.closeMs, grace.signal).catch(() => {})])
      grace.abort()
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
    },
  }
}

interface Bounds {
  readonly limits: ListenerLimits
  readonly sockets: Set<Socket>
  readonly sessions: Set<ServerHttp2Session>
  readonly log: Logger
}

function boundConnections(server: Http2SecureServer, { limits, sockets, sessions, log }: Bounds): void {
  shareConnections(server, limits.maxConnections)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Until the handshake is done, no other listener handles errors of this socket.
    socket.on('error', () => socket.destroy())
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('secureConnection', (socket) => {
    // The caller of a connection is authenticated once, at its start.
    socket.disableRenegotiation()
    // For HTTP/1.1: an idle socket is closed, unless it waits for an answer.
    if (socket.alpnProtocol !== 'h2') socket.setTimeout(limits.idleMs)
  })
  server.on('session', (session) => {
    sessions.add(session)
    let open = 0
    session.on('stream', (stream) => {
      open += 1
      stream.once('close', () => (open -= 1))
    })
    session.setTimeout(limits.idleMs, () => {
      if (open === 0) session.close()
    })
    session.on('error', (error) => log.debug({ err: error }, 'connection failed'))
    session.once('close', () => sessions.delete(session))
  })
  server.on('tlsClientError', (error, socket) => {
    log.debug({ err: error }, 'handshake failed')
    socket.destroy()
  })
  server.on('sessionError', (error) => log.debug({ err: error }, 'connection failed'))
  server.on('timeout', (session) => {
    if (session instanceof TLSSocket) session.destroy()
  })
}

/** Callers by connection: decoding a certificate costs more than answering a small request. */
const callers = new WeakMap<TLSSocket, Caller>()

function socketOf(request: Http2ServerRequest): Socket {
  return request.stream?.session?.socket ?? request.socket
}

function callerOf(socket: Socket): Caller | undefined {
  if (!(socket instanceof TLSSocket) && !('authorized' in socket)) return undefined
  const tls = socket as TLSSocket
  if (!tls.authorized) return undefined
  const caller = callers.get(tls) ?? provenBy(tls)
  if (caller) callers.set(tls, caller)
  return caller
}

/** The caller of a client certificate: CN is the user, each O a group. */
function provenBy(tls: TLSSocket): Caller | undefined {
  const { subject } = tls.getPeerCertificate()
  const user = subject?.CN
  if (!user) return undefined
  const groups = subject.O === undefined ? [] : [subject.O].flat()
  return { user: String(user), groups: [...groups, 'system:authenticated'] }
}

function requestOf(request: Http2ServerRequest, body: Uint8Array): HttpRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(':') || value === undefined) continue
    headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return compact({
    method: request.method,
    path: request.url,
    headers,
    body: body.byteLength > 0 ? body : undefined,
  })
}

/** Reads the body. Refuses a body that is too large or too slow. */
async function readRequest(
  request: Http2ServerRequest,
  timeoutMs: number,
  held: OpenBody,
): Promise<Uint8Array | ApiError> {
  if (isBodyless(request)) {
    request.resume()
    // From here on the connection waits for its answer, which is no silence of the client's.
    request.setTimeout(0)
    return NOTHING
  }
  const declared = readWholeNumber(request.headers['content-length'] ?? '0')
  if (declared === undefined || declared > MAX_BODY_BYTES) {
    request.resume()
    return bodyTooLarge()
  }
  request.setTimeout(timeoutMs, () => request.destroy(new Error('the request body did not arrive in time')))
  const body = await collect(request, held)
  request.setTimeout(0)
  return body
}

const NOTHING = new Uint8Array()

function isBodyless({ stream, headers }: Http2ServerRequest): boolean {
  // Only HTTP/2 has streams, whatever the types say.
  const { endAfterHeaders } = (stream as ServerHttp2Stream | undefined) ?? {}
  return endAfterHeaders ?? (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
}

/**
 * The whole body, or why it is refused. Events, because an async iterator costs more than a small body.
 */
function collect(request: Http2ServerRequest, held: OpenBody): Promise<Uint8Array | ApiError> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let refused: ApiError | undefined
    const refuse = (error: ApiError): void => {
      refused = error
      chunks.length = 0
      held.close()
    }
    if (request.destroyed) reject(new Error('the client disconnected before the request was complete'))
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength
      // The rest is read and dropped, so that the client hears the refusal instead of a reset.
      if (refused) {
        if (size > 4 * MAX_BODY_BYTES) resolve(refused)
      } else if (size > MAX_BODY_BYTES) refuse(bodyTooLarge())
      else if (held.add(chunk.byteLength)) chunks.push(chunk)
      else refuse(tooManyBodies())
    })
    request.once('end', () => resolve(refused ?? (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))))
    request.once('error', reject)
    request.once('close', () => {
      if (!request.readableEnded) reject(new Error('the client disconnected before the request was complete'))
    })
  })
}

function tooManyBodies(): ApiError {
  const message = 'Too many large requests are under way; the server has no memory for another body'
  return new ApiError('TooManyRequests', message, { retryAfterSeconds: 1 })
}
