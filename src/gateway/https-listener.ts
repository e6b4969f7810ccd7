/** The gateway's socket: TLS 1.3, client certificates asked for and proven, bodies and time bounded. */
import { createServer } from 'node:https'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import type { Caller, Handler, HttpResponse } from '../core/http.ts'
import type { Logger } from '../core/log.ts'
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
}

/** A listening gateway. */
export interface Listener {
  readonly port: number
  /** New connections see the new certificate and CAs. */
  replaceKeys(keys: Pick<ListenerOptions, 'certificate' | 'privateKey' | 'cas'>): void
  close(): Promise<void>
}

const HANDSHAKE_MS = 10_000
const HEADERS_MS = 10_000
const REQUEST_MS = 60_000
// Two beats and a bit: a kept connection outlives the pause between an agent's check-ins.
const KEEP_ALIVE_MS = 65_000
// A reader that takes nothing for this long is cut; it comes back and hears the newest head.
const SLOW_READER_MS = 30_000

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
    const caller = callerOfSocket(request.socket as TLSSocket)
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
      if (signal.aborted) break
      if (!response.write(chunk)) await drained(response, clock, signal)
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
    replaceKeys: (keys) => server.setSecureContext({ ...tlsOf(keys), minVersion: 'TLSv1.3' }),
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

function callerOfSocket(socket: TLSSocket): Caller {
  // From the socket alone: a header that names another address is somebody's claim.
  const address = socket.remoteAddress
  return { ...provenBy(socket), ...(address === undefined ? {} : { address }) }
}

function provenBy(socket: TLSSocket): Caller {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  if (!certificate) return ANONYMOUS
  try {
    return callerOfCertificate(certificate.toString())
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
  const slow = clock.sleep(SLOW_READER_MS, AbortSignal.any([timer.signal, signal])).then(
    () => {
      throw new Error(`reader took nothing for ${SLOW_READER_MS / 1000} s`)
    },
    () => {}, // drained or gone first
  )
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
