/** The hub's gateway as functions: each route once, every answer checked, refusals told apart by what to do about them. */
import type { Static, TSchema } from 'typebox'
import { linesOf } from '../../client/watch-stream.ts'
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { concatBytes, fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { readBody } from '../../core/http.ts'
import type { HttpResponse, Transport } from '../../core/http.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import { TIME_HEADER } from '../../wire/link/clock-skew.ts'
import { decodeDelta } from '../../wire/document/binary-delta.ts'
import { unwrapEnvelope, wrapEnvelope } from '../../wire/trust/envelope.ts'
import {
  BASE_HEADER,
  CheckInAnswer,
  EnrolAnswer,
  INSTANCE_HEADER,
  parseFrame,
  RefusalAnswer,
  RenewAnswer,
  ROUTES,
  TrustAnswer,
} from '../../wire/link/frames.ts'
import type { CheckIn, Frame } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { checkDigest } from '../../wire/document/signed-document.ts'
import { parseJson, WireError } from '../../wire/validate.ts'
import type { DeltaBase } from '../documents/delta-bases.ts'
import type { PartialDownloads } from './partial-downloads.ts'

/** The gateway answered, but not with what was asked for. */
export class HubRefusal extends Error {
  override readonly name = 'HubRefusal'
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** How to reach one gateway, and what both sides prove. */
export interface HubConnection {
  /** `https://host:port`. */
  readonly endpoint: string
  /** PEM of the CAs to believe; undefined only to fetch the trust bundle, which proves itself by the pinned root. */
  readonly cas: readonly string[] | undefined
  readonly certificate?: string
  readonly privateKey?: string
}

/** A transport to one gateway; close it when its certificate or address is old. */
export interface HubTransport {
  readonly transport: Transport
  close(): Promise<void>
}

/** Opens a transport; real ones speak TLS 1.3, simulated ones hand the request to a gateway. */
export type ConnectHub = (connection: HubConnection) => HubTransport

const ANSWER_MS = 30_000
// A long answer may take hours over a thin line; what ends it is silence.
const SILENT_MS = 60_000
const TRIES = 4

/** What calls are made of. */
export interface HubApiPorts {
  readonly transport: Transport
  readonly clock: Clock
  /** This start of the agent. */
  readonly instance: string
  readonly partials: PartialDownloads
  /** The hub does not take the certificate (any more). */
  readonly onUnauthorized?: (refusal: HubRefusal) => void
}

/** Calls over one transport. */
export function createHubApi({ transport, clock, instance, partials, onUnauthorized }: HubApiPorts) {
  async function call<S extends TSchema>(
    route: { readonly method: string; readonly path: string; readonly body?: Uint8Array },
    answer: { readonly schema: S; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Static<S>> {
    const bytes = await bytesOf(route, { ms: ANSWER_MS, maxBytes: answer.maxBytes }, signal)
    return parseJson(answer.schema, bytes, { what: `answer of ${route.path}`, maxBytes: answer.maxBytes })
  }

  function bytesOf(
    route: { readonly method: string; readonly path: string; readonly body?: Uint8Array },
    limit: { readonly ms: number; readonly maxBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const what = `${route.method} ${route.path}`
    return deadline({ clock, ms: limit.ms, signal, what }, async (inner) => {
      const response = await send(route, inner)
      return readBody(response.body, limit.maxBytes)
    })
  }

  /** A long answer: what breaks off is asked for again from where it ended, on this link or the next one. */
  async function longBytes(
    path: string,
    maxBytes: number,
    signal: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly base: string | undefined }> {
    for (let tried = 0; ; tried++) {
      const before = partials.get(path)?.size ?? 0
      try {
        return await longTry(path, maxBytes, signal)
      } catch (caught) {
        const isFurther = (partials.get(path)?.size ?? 0) > before
        if (signal.aborted || caught instanceof HubRefusal || caught instanceof RangeError) throw caught
        if (!isFurther && tried >= TRIES) throw caught
        if (isFurther) tried = 0
        await clock.sleep(1000, signal)
      }
    }
  }

  async function longTry(path: string, maxBytes: number, signal: AbortSignal) {
    const begun = partials.get(path)
    const resume = begun && begun.size > 0 ? { range: `bytes=${begun.size}-`, 'if-range': begun.etag } : undefined
    const what = `GET ${path.split('?', 1)[0]}`
    const patience = { clock, ms: SILENT_MS, signal, what }
    const response = await deadline(patience, (inner) =>
      send({ method: 'GET', path, ...(resume && { headers: resume }) }, inner),
    )
    const etag = response.headers['etag'] ?? ''
    const goesOn = response.status === 206 && begun?.etag === etag
    const partial = goesOn ? begun : partials.begin(path, etag)
    const chunks = response.body[Symbol.asyncIterator]()
    for (;;) {
      const next = await deadline(patience, (inner) => untilAborted(chunks.next(), inner))
      if (next.done) break
      partial.size += next.value.byteLength
      if (partial.size > maxBytes) {
        partials.forget(path)
        throw new RangeError(`${what}: the answer is larger than ${maxBytes} bytes`)
      }
      partial.chunks.push(next.value)
    }
    partials.forget(path)
    return { bytes: concatBytes(partial.chunks), base: response.headers[BASE_HEADER] }
  }

  async function send(
    route: {
      readonly method: string
      readonly path: string
      readonly body?: Uint8Array
      readonly headers?: Readonly<Record<string, string>>
    },
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    const headers: Record<string, string> = {
      ...route.headers,
      [INSTANCE_HEADER]: instance,
      [TIME_HEADER]: String(Math.round(clock.now())),
      ...(route.body ? { 'content-type': 'application/json' } : {}),
    }
    const request = { method: route.method, path: route.path, headers, ...(route.body ? { body: route.body } : {}) }
    const response = await transport(request, signal)
    if (response.status === 200 || response.status === 206) return response
    const refusal = await refusalOf(route.path, response)
    if (response.status === 401) onUnauthorized?.(refusal)
    throw refusal
  }

  const post = (path: string, body: Uint8Array) => ({ method: 'POST', path, body })
  const small = LIMITS.answerBytes
  return {
    trust: (after: number, signal: AbortSignal) =>
      call(
        { method: 'GET', path: `${ROUTES.trust}?after=${after}` },
        { schema: TrustAnswer, maxBytes: LIMITS.trustBytes },
        signal,
      ),
    enrol: (envelope: Uint8Array, signal: AbortSignal) =>
      call(post(ROUTES.enrol, envelope), { schema: EnrolAnswer, maxBytes: small }, signal),
    renew: (envelope: Uint8Array, signal: AbortSignal) =>
      call(post(ROUTES.renew, envelope), { schema: RenewAnswer, maxBytes: small }, signal),
    /** The last document's envelope, unverified; for a cluster that left and gets no certificate any more. */
    last: (envelope: Uint8Array, signal: AbortSignal) =>
      bytesOf(post(ROUTES.last, envelope), { ms: ANSWER_MS, maxBytes: 2 * LIMITS.documentBytes }, signal),
    checkIn: (body: CheckIn, signal: AbortSignal) =>
      call(post(ROUTES.checkIn, utf8(JSON.stringify(body))), { schema: CheckInAnswer, maxBytes: small }, signal),
    async report(body: Uint8Array, signal: AbortSignal): Promise<void> {
      await bytesOf(post(ROUTES.report, body), { ms: ANSWER_MS, maxBytes: small }, signal)
    },
    /** Shows the hub a document of its own that it does not know. */
    async held(envelope: Uint8Array, signal: AbortSignal): Promise<void> {
      await bytesOf(post(ROUTES.held, envelope), { ms: ANSWER_MS, maxBytes: small }, signal)
    },
    /** The newest document's envelope, unverified; sent as a difference to the one held. */
    async document(held: { readonly digest: Digest; readonly envelope: Uint8Array } | undefined, signal: AbortSignal) {
      const path = held ? `${ROUTES.document}?base=${held.digest}` : ROUTES.document
      const { bytes, base } = await longBytes(path, 2 * LIMITS.documentBytes, signal)
      if (base === undefined) return bytes
      if (base !== held?.digest) throw new WireError('Malformed', 'the hub sent a difference to another document')
      return wrapEnvelope(decodeDelta(bytes, 2 * LIMITS.documentBytes, unwrapEnvelope(held.envelope)))
    },
    /** A blob whose digest was checked. */
    async blob(digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
      const { bytes } = await longBytes(`${ROUTES.blob}${digest}`, LIMITS.blobBytes, signal)
      checkDigest(bytes, digest, 'blob')
      return bytes
    },
    /** A pack of a set from an object on, perhaps as a difference to a base. */
    async set(
      digest: Digest,
      { base, from }: { readonly base: DeltaBase | undefined; readonly from: number },
      signal: AbortSignal,
    ) {
      const query = new URLSearchParams({
        ...(base && { base: base.set, held: base.held }),
        ...(from > 0 && { from: String(from) }),
      })
      const path = `${ROUTES.set}${digest}${query.size > 0 ? `?${query.toString()}` : ''}`
      return (await longBytes(path, LIMITS.packBytes, signal)).bytes
    },
    /** Opens the stream; the frames end when the hub ends them or the signal is aborted. */
    async follow(holds: Digest | undefined, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
      const query = holds === undefined ? '' : `?document=${holds}`
      const response = await send({ method: 'GET', path: `${ROUTES.follow}${query}` }, signal)
      return framesOf(response.body)
    },
    /** Asks for the frames of the next while, answered whole; for ways that hold streams back. */
    async poll(holds: Digest | undefined, waitSeconds: number, signal: AbortSignal): Promise<Frame[]> {
      const query = `?wait=${waitSeconds}${holds === undefined ? '' : `&document=${holds}`}`
      const limit = { ms: waitSeconds * 1000 + ANSWER_MS, maxBytes: LIMITS.answerBytes }
      const bytes = await bytesOf({ method: 'GET', path: `${ROUTES.follow}${query}` }, limit, signal)
      const lines = fromUtf8(bytes).split('\n')
      return lines.flatMap((line) => (line === '' ? [] : (parseFrame(line) ?? [])))
    },
  }
}

/** The hub's gateway as functions. */
export type HubApi = ReturnType<typeof createHubApi>

async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<Frame> {
  for await (const line of linesOf(body)) {
    const frame = parseFrame(line)
    if (frame) yield frame
  }
}

async function refusalOf(path: string, response: HttpResponse): Promise<HubRefusal> {
  const seconds = readWholeNumber(response.headers['retry-after'] ?? '') ?? 0
  const retryAfterMs = seconds > 0 ? Math.min(seconds, 3600) * 1000 : undefined
  let message = `${path.split('?')[0]}: the hub answered ${response.status}`
  try {
    const bytes = await readBody(response.body, LIMITS.answerBytes)
    const answer = parseJson(RefusalAnswer, bytes, { what: 'refusal', maxBytes: LIMITS.answerBytes })
    message = answer.message.slice(0, LIMITS.messageChars)
  } catch {
    // Something between us and the hub answered, not the hub: the status is all there is.
  }
  return new HubRefusal(response.status, message, retryAfterMs)
}
