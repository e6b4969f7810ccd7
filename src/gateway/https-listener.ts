/** The listener of the gateway: TLS 1.3, verified client certificates, limits on bodies and time. */
import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { compact } from '../core/compact.ts'
import type { Clock } from '../core/time/clock.ts'
import { toError } from '../core/errors.ts'
import type { Caller, Handler, HttpResponse } from '../core/http.ts'
import { shareConnections } from '../core/connection-shares.ts'
import { jsonEqual } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { parseCertificate } from '../core/crypto/x509.ts'
import { LIMITS } from '../wire/limits.ts'
import { errorResponse } from './responses.ts'
import { ANONYMOUS, callerOfCertificate, clusterIdOf } from './caller.ts'
import { WireError } from '../wire/validate.ts'

export interface ListenerOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** PEM. */
  readonly certificate: string
  readonly privateKey: string
  /** PEM of every transport CA whose client certificates are accepted. */
  readonly cas: readonly string[]
  readonly handle: Handler
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<ListenerLimits>
  /** 48 bytes. With the same keys after a restart, agents resume their TLS sessions. */
  readonly ticketKeys?: Uint8Array
}

/** Time limits for peers that send or read nothing. */
export interface ListenerLimits {
  readonly handshakeMs: number
  /** Time for all headers; `requestMs` is the time for headers and body. */
  readonly headersMs: number
  readonly requestMs: number
  /** A peer that reads nothing for this time is disconnected. The agent reconnects and resumes its download. */
  readonly slowReaderMs: number
  readonly maxConnections: number
}

export interface Listener {
  readonly port: number
  /**
   * New connections use the new certificate and CAs. Connections of agents whose CA is no longer trusted are closed.
   */
  replaceKeys(keys: Pick<ListenerOptions, 'certificate' | 'privateKey' | 'cas' | 'ticketKeys'>): void
  /** Number of handshakes since the start, and of handshakes that resumed a session. */
  counts(): { readonly connections: number; readonly resumed: number }
  close(): Promise<void>
}

const DEFAULT_LIMITS: ListenerLimits = {
  // Includes the wait for our own processor when a fleet reconnects: an agent that is cut off only tries again.
  handshakeMs: 30_000,
  headersMs: 10_000,
  requestMs: 60_000,
  slowReaderMs: 60_000,
  maxConnections: 20_000,
}
// As long as the machine allows. With a full queue, TCP retries after 1, 3, 7, 15… seconds, and a fleet would need
// minutes to reconnect.
const BACKLOG = 65_535
// The interval at which Node checks for late headers and bodies. Its default of 30 s is longer than our limits.
const MAX_CHECK_MS = 5000
// A little more than two beats: a kept connection outlives the pause between two check-ins.
const KEEP_ALIVE_MS = 65_000
// Small enough that a slow connection shows progress.
const PIECE_BYTES = 16 * 1024
/** The abort reason after a disconnect. A shared error, because each new error would capture a stack. */
const DISCONNECTED = new Error('the agent closed the connection')
// A resumed session does not present its certificate again, so a session lasts at most a day.
const SESSION_SECONDS = 86_400

/** Resolves when the port accepts connections. */
export async function listenForAgents(options: ListenerOptions): Promise<Listener> {
  const { handle, clock, log } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const server = createServer({
    ...tlsOf(options),
    minVersion: 'TLSv1.3',
    requestCert: true,
    // Agents without a valid certificate may still enrol and renew. All other routes require a proven cluster.
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMs,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, MAX_CHECK_MS),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    sessionTimeout: SESSION_SECONDS,
    ...(options.ticketKeys && { ticketKeys: Buffer.from(options.ticketKeys) }),
  })
  let { cas } = options
  let identify = createIdentify(cas)
  const open = new Set<TLSSocket>()
  let connections = 0
  let resumed = 0
  server.on('secureConnection', (socket: TLSSocket) => {
    connections += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (socket.isSessionReused()) resumed += 1
  })
  shareConnections(server, limits.maxConnections)
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(DISCONNECTED)
    })
    serve(request, response, gone.signal).catch((caught: unknown) => {
      log.debug({ err: toError(caught) }, 'the answer could not be sent')
      response.destroy()
    })
  })
  server.on('tlsClientError', (error: Error) => log.debug({ err: error }, 'handshake failed'))

  /**
   * Closes connections whose CA is no longer trusted. Without this, a stream would last for up to half an hour more.
   */
  function trustCas(next: readonly string[]): void {
    if (jsonEqual(next, cas)) return
    const before = identify
    cas = next
    identify = createIdentify(next)
    const now = clock.now()
    for (const socket of open) {
      if (before(socket, now) !== ANONYMOUS && identify(socket, now) === ANONYMOUS) socket.destroy()
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const caller = callerOfSocket(request.socket as TLSSocket, identify, clock.now())
    let answer: HttpResponse
    try {
      const body = await readRequest(
        request,
        clusterIdOf(caller) === undefined ? LIMITS.requestBytes : LIMITS.reportBytes,
      )
      const { method = 'GET', url: path = '/' } = request
      answer = await handle({ method, path, headers: plainHeaders(request), body }, caller, signal)
    } catch (caught) {
      answer = errorResponse(caught)
      // The rest of a body that is too large is not read.
      response.setHeader('connection', 'close')
    }
    response.writeHead(answer.status, answer.headers)
    // A stream may begin without a frame, so its headers are sent at once. Other answers are sent together with theirs.
    if (answer.headers['content-length'] === undefined) response.flushHeaders()
    for await (const chunk of answer.body) {
      for (let at = 0; at < chunk.byteLength && !signal.aborted; at += PIECE_BYTES) {
        if (!response.write(chunk.subarray(at, at + PIECE_BYTES)))
          await waitForDrain(response, { clock, signal, slowReaderMs: limits.slowReaderMs })
      }
      if (signal.aborted) break
    }
    response.end()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port: options.port, host: options.host, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: portOf(server),
    replaceKeys: (keys) => {
      trustCas(keys.cas)
      server.setSecureContext({
        ...tlsOf(keys),
        minVersion: 'TLSv1.3',
        sessionTimeout: SESSION_SECONDS,
        ...(keys.ticketKeys && { ticketKeys: Buffer.from(keys.ticketKeys) }),
      })
    },
    counts: () => ({ connections, resumed }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function tlsOf({ certificate, privateKey, cas }: Pick<ListenerOptions, 'certificate' | 'privateKey' | 'cas'>) {
  return { cert: certificate, key: privateKey, ca: [...cas] }
}

function callerOfSocket(socket: TLSSocket, identify: Identify, now: number): Caller {
  // From the socket alone: a header with another address proves nothing.
  const address = socket.remoteAddress
  return { ...identify(socket, now), ...compact({ address }) }
}

/** The caller that the certificate of a socket proves at a time. */
type Identify = (socket: TLSSocket, now: number) => Caller

interface Identity {
  readonly caller: Caller
  /** Milliseconds since 1970. */
  readonly until: number
}

const NO_IDENTITY: Identity = { caller: ANONYMOUS, until: Number.POSITIVE_INFINITY }
const MAX_IDENTITIES = 20_000

/**
 * TLS verifies a certificate when a session begins. A connection can outlive the certificate, and a resumed session
 * does not present it again. Therefore the CA is checked once per connection and list of CAs, and the expiry with every
 * request. Parsed certificates are cached by fingerprint: parsing is most of the cost of a small request.
 */
function createIdentify(cas: readonly string[]): Identify {
  const authorities = cas.map((pem) => new X509Certificate(pem))
  const bySocket = new WeakMap<TLSSocket, Identity>()
  const byFingerprint = new Map<string, Identity>()

  function read(certificate: X509Certificate): Identity {
    const isOurs = authorities.some((ca) => ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey))
    if (!isOurs) return NO_IDENTITY
    const pem = certificate.toString()
    return { caller: callerOfCertificate(pem), until: parseCertificate(pem).notAfter }
  }

  function socketIdentity(socket: TLSSocket): Identity {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
    if (!certificate) return NO_IDENTITY
    const { fingerprint256 } = certificate
    const known = byFingerprint.get(fingerprint256)
    if (known) return known
    const identity = read(certificate)
    const oldest = byFingerprint.keys().next()
    if (byFingerprint.size >= MAX_IDENTITIES && !oldest.done) byFingerprint.delete(oldest.value)
    byFingerprint.set(fingerprint256, identity)
    return identity
  }

  return (socket, now) => {
    try {
      const known = bySocket.get(socket)
      const identity = known ?? socketIdentity(socket)
      if (!known) bySocket.set(socket, identity)
      return now <= identity.until ? identity.caller : ANONYMOUS
    } catch {
      return ANONYMOUS
    }
  }
}

async function readRequest(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > maxBytes) throw new WireError('TooLarge', `request: larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}

function plainHeaders(request: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return headers
}

async function waitForDrain(
  response: ServerResponse,
  ports: { readonly clock: Clock; readonly signal: AbortSignal; readonly slowReaderMs: number },
): Promise<void> {
  const { clock, signal, slowReaderMs } = ports
  const timer = new AbortController()
  const { promise: drain, resolve } = Promise.withResolvers<void>()
  response.on('drain', resolve).on('close', resolve)
  const ended = AbortSignal.any([timer.signal, signal])
  const slow = (async () => {
    let taken = response.socket?.bytesWritten ?? 0
    for (;;) {
      await clock.sleep(slowReaderMs, ended)
      const now = response.socket?.bytesWritten ?? 0
      if (now === taken) throw new Error(`the agent read nothing for ${slowReaderMs / 1000} s`)
      taken = now
    }
  })().catch((caught: unknown) => {
    if (!ended.aborted) throw caught // otherwise drained or disconnected first
  })
  try {
    await Promise.race([drain, slow.then(() => drain)])
  } finally {
    timer.abort()
    response.off('drain', resolve).off('close', resolve)
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}
