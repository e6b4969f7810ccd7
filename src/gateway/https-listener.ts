/** The gateway's socket: TLS 1.3, client certificates asked for and proven, bodies and time bounded. */
import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../core/time/clock.ts'
import { toError } from '../core/errors.ts'
import type { Caller, Handler, HttpResponse } from '../core/http.ts'
import { jsonEqual } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { parseCertificate } from '../core/crypto/x509.ts'
import { LIMITS } from '../wire/limits.ts'
import { errorResponse } from './responses.ts'
import { ANONYMOUS, callerOfCertificate, clusterIdOf } from './caller.ts'
import { WireError } from '../wire/validate.ts'

/** What the listener needs. */
export interface ListenerOptions {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** PEM. */
  readonly certificate: string
  readonly privateKey: string
  /** PEM of every transport CA that agents' certificates may come from. */
  readonly cas: readonly string[]
  readonly handle: Handler
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<ListenerLimits>
  /** 48 bytes: with the same ones after a restart, agents resume their TLS sessions. */
  readonly ticketKeys?: Uint8Array
}

/** How much patience is had with those who send or take nothing. */
export interface ListenerLimits {
  readonly handshakeMs: number
  /** All headers must be here, and then all of the body. */
  readonly headersMs: number
  readonly requestMs: number
  /** A reader that takes nothing for this long is cut; it comes back and hears the newest head, or goes on where its answer broke off. */
  readonly slowReaderMs: number
  readonly maxConnections: number
}

/** A listening gateway. */
export interface Listener {
  readonly port: number
  /** New connections see the new certificate and CAs; those of agents whose CA is not trusted any more are cut. */
  replaceKeys(keys: Pick<ListenerOptions, 'certificate' | 'privateKey' | 'cas' | 'ticketKeys'>): void
  /** Handshakes so far, and how many of them resumed a session. */
  counts(): { readonly connections: number; readonly resumed: number }
  close(): Promise<void>
}

const LIMITS_OF_LISTENER: ListenerLimits = {
  // Includes the time that a herd has to wait for our own processor: who is cut in the middle only comes again.
  handshakeMs: 30_000,
  headersMs: 10_000,
  requestMs: 60_000,
  slowReaderMs: 60_000,
  maxConnections: 20_000,
}
// As many as the machine allows may knock while we are busy: who finds the queue full tries again after 1, 3, 7, 15… seconds, and a fleet would take minutes to be back.
const BACKLOG = 65_535
// How often Node looks for headers and bodies that are late: its own half a minute is longer than the patience.
const MOST_LOOK_MS = 5000
// Two beats and a bit: a kept connection outlives the pause between an agent's check-ins.
const KEEP_ALIVE_MS = 65_000
// Small pieces, so that a thin line is seen to take something.
const PIECE = 16 * 1024
/** Why work for an agent that went away ends; one for all, since each would carry a stack. */
const HUNG_UP = new Error('the agent hung up')
// A resumed session is not asked for its certificate again; a day is as long as one may be believed without.
const SESSION_SECONDS = 86_400

/** Listens; resolves when connections are taken. */
export async function listenForAgents(options: ListenerOptions): Promise<Listener> {
  const { handle, clock, log } = options
  const limits = { ...LIMITS_OF_LISTENER, ...options.limits }
  const server = createServer({
    ...tlsOf(options),
    minVersion: 'TLSv1.3',
    requestCert: true,
    // A missing or expired certificate may still enrol and renew; every other route asks for a proven one.
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMs,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.min(limits.headersMs, MOST_LOOK_MS),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    sessionTimeout: SESSION_SECONDS,
    ...(options.ticketKeys && { ticketKeys: Buffer.from(options.ticketKeys) }),
  })
  let { cas } = options
  let proofs = createProofs(cas)
  const open = new Set<TLSSocket>()
  let connections = 0
  let resumed = 0
  server.on('secureConnection', (socket: TLSSocket) => {
    connections += 1
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (socket.isSessionReused()) resumed += 1
  })
  server.maxConnections = limits.maxConnections
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController()
    response.on('close', () => {
      if (!response.writableFinished) gone.abort(HUNG_UP)
    })
    serve(request, response, gone.signal).catch((caught: unknown) => {
      log.debug({ err: toError(caught) }, 'answer was not taken')
      response.destroy()
    })
  })
  server.on('tlsClientError', (error: Error) => log.debug({ err: error }, 'handshake failed'))

  /** A stream would go on for half an hour with a certificate of a CA that somebody may have: it ends now. */
  function trustCas(next: readonly string[]): void {
    if (jsonEqual(next, cas)) return
    const before = proofs
    cas = next
    proofs = createProofs(next)
    const now = clock.now()
    for (const socket of open) {
      if (before(socket, now) !== ANONYMOUS && proofs(socket, now) === ANONYMOUS) socket.destroy()
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const caller = callerOfSocket(request.socket as TLSSocket, proofs, clock.now())
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
      // The rest of an oversized body is not worth reading.
      response.setHeader('connection', 'close')
    }
    response.writeHead(answer.status, answer.headers)
    // A stream may begin with silence, and is seen to have begun; any other answer goes out in one write with its headers.
    if (answer.headers['content-length'] === undefined) response.flushHeaders()
    for await (const chunk of answer.body) {
      for (let at = 0; at < chunk.byteLength && !signal.aborted; at += PIECE) {
        if (!response.write(chunk.subarray(at, at + PIECE)))
          await drained(response, { clock, signal, slowReaderMs: limits.slowReaderMs })
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

function callerOfSocket(socket: TLSSocket, proofs: Proofs, now: number): Caller {
  // From the socket alone: a header that names another address is somebody's claim.
  const address = socket.remoteAddress
  return { ...proofs(socket, now), ...(address === undefined ? {} : { address }) }
}

/** Who a socket's certificate proves, at a time. */
type Proofs = (socket: TLSSocket, now: number) => Caller

interface Proof {
  readonly caller: Caller
  /** Milliseconds since 1970. */
  readonly until: number
}

const NOBODY: Proof = { caller: ANONYMOUS, until: Number.POSITIVE_INFINITY }
const MOST_PROOFS = 20_000

/**
 * TLS looks at a certificate when a session begins. A connection may outlive it, and a resumed session is not asked again, so that its CA is looked at once per connection and set of
 * CAs, and its time with every request. A certificate that was read is known by its fingerprint: reading it is most of what a small request costs.
 */
function createProofs(cas: readonly string[]): Proofs {
  const authorities = cas.map((pem) => new X509Certificate(pem))
  const bySocket = new WeakMap<TLSSocket, Proof>()
  const byFingerprint = new Map<string, Proof>()

  function read(certificate: X509Certificate): Proof {
    const isOurs = authorities.some((ca) => ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey))
    if (!isOurs) return NOBODY
    const pem = certificate.toString()
    return { caller: callerOfCertificate(pem), until: parseCertificate(pem).notAfter }
  }

  function proofOf(socket: TLSSocket): Proof {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
    if (!certificate) return NOBODY
    const { fingerprint256 } = certificate
    const known = byFingerprint.get(fingerprint256)
    if (known) return known
    const proof = read(certificate)
    const oldest = byFingerprint.keys().next()
    if (byFingerprint.size >= MOST_PROOFS && !oldest.done) byFingerprint.delete(oldest.value)
    byFingerprint.set(fingerprint256, proof)
    return proof
  }

  return (socket, now) => {
    try {
      const known = bySocket.get(socket)
      const proof = known ?? proofOf(socket)
      if (!known) bySocket.set(socket, proof)
      return now <= proof.until ? proof.caller : ANONYMOUS
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
    if (size > maxBytes) throw new WireError('TooLarge', `request is larger than ${maxBytes} bytes`)
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

async function drained(
  response: ServerResponse,
  patience: { readonly clock: Clock; readonly signal: AbortSignal; readonly slowReaderMs: number },
): Promise<void> {
  const { clock, signal, slowReaderMs } = patience
  const timer = new AbortController()
  const { promise: drain, resolve } = Promise.withResolvers<void>()
  response.on('drain', resolve).on('close', resolve)
  const ended = AbortSignal.any([timer.signal, signal])
  const slow = (async () => {
    let taken = response.socket?.bytesWritten ?? 0
    for (;;) {
      await clock.sleep(slowReaderMs, ended)
      const now = response.socket?.bytesWritten ?? 0
      if (now === taken) throw new Error(`reader took nothing for ${slowReaderMs / 1000} s`)
      taken = now
    }
  })().catch((caught: unknown) => {
    if (!ended.aborted) throw caught // otherwise drained or gone first
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
