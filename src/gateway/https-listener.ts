/** The gateway's socket: TLS 1.3, client certificates asked for and proven, bodies and time bounded. */
import { createServer } from 'node:https'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import type { Caller, Handler, HttpResponse } from '../core/http.ts'
import type { Logger } from '../core/log.ts'
import { parseCertificate, wasIssuedBy } from '../core/x509.ts'
import { LIMITS } from '../wire/limits.ts'
import { refusalAnswer } from './answers.ts'
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
  readonly maxConnections?: number
  /** 48 bytes: with the same ones after a restart, agents resume their TLS sessions. */
  readonly ticketKeys?: Uint8Array
}

/** A listening gateway. */
export interface Listener {
  readonly port: number
  /** New connections see the new certificate and CAs. */
  replaceKeys(keys: Pick<ListenerOptions, 'certificate' | 'privateKey' | 'cas' | 'ticketKeys'>): void
  /** Handshakes so far, and how many of them resumed a session. */
  counts(): { readonly connections: number; readonly resumed: number }
  close(): Promise<void>
}

const HANDSHAKE_MS = 10_000
const HEADERS_MS = 10_000
const REQUEST_MS = 60_000
// Two beats and a bit: a kept connection outlives the pause between an agent's check-ins.
const KEEP_ALIVE_MS = 65_000
// A reader that takes nothing for this long is cut; it comes back and hears the newest head, or goes on where its answer broke off.
const SLOW_READER_MS = 60_000
// Small pieces, so that a thin line is seen to take something.
const PIECE = 16 * 1024
// A resumed session is not asked for its certificate again; a day is as long as one may be believed without.
const SESSION_SECONDS = 86_400

/** Listens; resolves when connections are taken. */
export async function listenForAgents(options: ListenerOptions): Promise<Listener> {
  const { handle, clock, log } = options
  const server = createServer({
    ...tlsOf(options),
    minVersion: 'TLSv1.3',
    requestCert: true,
    // A missing or expired certificate may still enrol and renew; every other route asks for a proven one.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: 16 * 1024,
    sessionTimeout: SESSION_SECONDS,
    ...(options.ticketKeys && { ticketKeys: Buffer.from(options.ticketKeys) }),
  })
  let { cas } = options
  let connections = 0
  let resumed = 0
  server.on('secureConnection', (socket: TLSSocket) => {
    connections += 1
    if (socket.isSessionReused()) resumed += 1
  })
  server.maxConnections = options.maxConnections ?? 20_000
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    serve(request, response, gone.signal).catch((caught: unknown) => {
      log.debug({ err: toError(caught) }, 'answer was not taken')
      response.destroy()
    })
  })
  server.on('tlsClientError', (error: Error) => log.debug({ err: error }, 'handshake failed'))

  async function serve(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const caller = callerOfSocket(request.socket as TLSSocket, cas, clock.now())
    let answer: HttpResponse
    try {
      const body = await readRequest(
        request,
        clusterIdOf(caller) === undefined ? LIMITS.requestBytes : LIMITS.reportBytes,
      )
      const { method = 'GET', url: path = '/' } = request
      answer = await handle({ method, path, headers: plainHeaders(request), body }, caller, signal)
    } catch (caught) {
      answer = refusalAnswer(caught)
      // The rest of an oversized body is not worth reading.
      response.setHeader('connection', 'close')
    }
    response.writeHead(answer.status, answer.headers)
    response.flushHeaders()
    for await (const chunk of answer.body) {
      for (let at = 0; at < chunk.byteLength && !signal.aborted; at += PIECE) {
        if (!response.write(chunk.subarray(at, at + PIECE))) await drained(response, clock, signal)
      }
      if (signal.aborted) break
    }
    response.end()
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: portOf(server),
    replaceKeys: (keys) => {
      cas = keys.cas
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

function callerOfSocket(socket: TLSSocket, cas: readonly string[], now: number): Caller {
  // From the socket alone: a header that names another address is somebody's claim.
  const address = socket.remoteAddress
  return { ...provenBy(socket, cas, now), ...(address === undefined ? {} : { address }) }
}

/** What each socket's certificate proved, under which CAs. */
const proofs = new WeakMap<
  TLSSocket,
  { readonly cas: readonly string[]; readonly pem: string; readonly until: number }
>()

/**
 * TLS looks at a certificate when a session begins. A connection may outlive it, and a resumed session is not asked again, so that its time and its CA are looked at
 * with every request (the signature once per connection and set of CAs).
 */
function provenBy(socket: TLSSocket, cas: readonly string[], now: number): Caller {
  try {
    let proof = proofs.get(socket)
    if (proof?.cas !== cas) {
      const pem = socket.authorized ? socket.getPeerX509Certificate()?.toString() : undefined
      if (pem === undefined || !cas.some((ca) => wasIssuedBy(pem, ca))) return ANONYMOUS
      proof = { cas, pem, until: parseCertificate(pem).notAfter }
      proofs.set(socket, proof)
    }
    return now <= proof.until ? callerOfCertificate(proof.pem) : ANONYMOUS
  } catch {
    return ANONYMOUS
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

async function drained(response: ServerResponse, clock: Clock, signal: AbortSignal): Promise<void> {
  const timer = new AbortController()
  const drain = new Promise<void>((resolve) => {
    response.once('drain', resolve)
    response.once('close', resolve)
  })
  const ended = AbortSignal.any([timer.signal, signal])
  const slow = (async () => {
    let taken = response.socket?.bytesWritten ?? 0
    for (;;) {
      await clock.sleep(SLOW_READER_MS, ended)
      const now = response.socket?.bytesWritten ?? 0
      if (now === taken) throw new Error(`reader took nothing for ${SLOW_READER_MS / 1000} s`)
      taken = now
    }
  })().catch((caught: unknown) => {
    if (!ended.aborted) throw caught // otherwise drained or gone first
  })
  try {
    await Promise.race([drain, slow.then(() => drain)])
  } finally {
    timer.abort()
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return address !== null && typeof address === 'object' ? address.port : 0
}
