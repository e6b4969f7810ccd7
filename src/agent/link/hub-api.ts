// Tested by src/agent/link/link.contract.test.ts
/** The hub's gateway as functions: one for each route, every response checked. */
import { linesOf } from '../../client/watch-stream.ts'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Transport } from '../../core/http.ts'
import { decodeDelta } from '../../wire/document/binary-delta.ts'
import { checkDigest } from '../../wire/document/signed-document.ts'
import {
  CheckInAnswer,
  EnrolAnswer,
  parseFrame,
  RenewAnswer,
  ReportAnswer,
  ROUTES,
  TrustAnswer,
} from '../../wire/link/frames.ts'
import type { CheckIn, Frame } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { unwrapEnvelope, wrapEnvelope } from '../../wire/trust/envelope.ts'
import { WireError } from '../../wire/validate.ts'
import type { DeltaBase } from '../documents/delta-bases.ts'
import { REQUEST_TIMING } from '../timing.ts'
import { createDownloads } from './download.ts'
import { createHubRequests } from './hub-request.ts'
import type { HubRequestPorts } from './hub-request.ts'
import type { PartialDownloads } from './partial-downloads.ts'

/** The address of a gateway, the CAs that the agent accepts, and the agent's certificate. */
export interface HubConnection {
  /** `https://host:port`. */
  readonly endpoint: string
  /** PEM of the accepted CAs; undefined only to fetch the trust bundle, which the pinned root proves. */
  readonly cas: readonly string[] | undefined
  readonly certificate?: string
  readonly privateKey?: string
}

/** A transport to a gateway; a new certificate or address needs a new transport. */
export interface HubTransport {
  readonly transport: Transport
  close(): Promise<void>
}

/** Opens a transport: real transports speak TLS 1.3, simulated transports pass the request to a gateway. */
export type ConnectHub = (connection: HubConnection) => HubTransport

/** Ports of the gateway's functions. */
export interface HubApiPorts extends HubRequestPorts {
  readonly partials: PartialDownloads
}

/** Creates the gateway's functions over a transport. */
export function createHubApi(ports: HubApiPorts) {
  const requests = createHubRequests(ports)
  const download = createDownloads({ ...ports, requests })
  const post = (path: string, body: Uint8Array) => ({ method: 'POST', path, body })
  const small = LIMITS.answerBytes
  return {
    trust: (after: number, signal: AbortSignal) =>
      requests.json(
        { method: 'GET', path: `${ROUTES.trust}?after=${after}` },
        { schema: TrustAnswer, maxBytes: LIMITS.trustBytes },
        signal,
      ),
    enrol: (envelope: Uint8Array, signal: AbortSignal) =>
      requests.json(post(ROUTES.enrol, envelope), { schema: EnrolAnswer, maxBytes: small }, signal),
    renew: (envelope: Uint8Array, signal: AbortSignal) =>
      requests.json(post(ROUTES.renew, envelope), { schema: RenewAnswer, maxBytes: small }, signal),
    /** The last document's envelope, unverified; for a cluster that left and gets no certificate any more. */
    last: (envelope: Uint8Array, signal: AbortSignal) =>
      requests.bytes(
        post(ROUTES.last, envelope),
        { ms: REQUEST_TIMING.answerMs, maxBytes: 2 * LIMITS.documentBytes },
        signal,
      ),
    checkIn: (body: CheckIn, signal: AbortSignal) =>
      requests.json(
        post(ROUTES.checkIn, utf8(JSON.stringify(body))),
        { schema: CheckInAnswer, maxBytes: small },
        signal,
      ),
    /** Sends a report; `headers` carry its signed statement. */
    report: (body: Uint8Array, headers: Readonly<Record<string, string>>, signal: AbortSignal) =>
      requests.json({ ...post(ROUTES.report, body), headers }, { schema: ReportAnswer, maxBytes: small }, signal),
    /** Shows the hub a document of its own that it does not know. */
    async held(envelope: Uint8Array, signal: AbortSignal): Promise<void> {
      await requests.bytes(post(ROUTES.held, envelope), { ms: REQUEST_TIMING.answerMs, maxBytes: small }, signal)
    },
    /** The newest document's envelope, unverified; sent as a difference to the agent's document. */
    async document(held: { readonly digest: Digest; readonly envelope: Uint8Array } | undefined, signal: AbortSignal) {
      const path = held ? `${ROUTES.document}?base=${held.digest}` : ROUTES.document
      const { bytes, base } = await download(path, 2 * LIMITS.documentBytes, signal)
      if (base === undefined) return bytes
      if (base !== held?.digest) throw new WireError('Malformed', 'the hub sent a difference to another document')
      return wrapEnvelope(decodeDelta(bytes, 2 * LIMITS.documentBytes, unwrapEnvelope(held.envelope)))
    },
    /** A blob whose digest was checked. */
    async blob(digest: Digest, signal: AbortSignal): Promise<Uint8Array> {
      const { bytes } = await download(`${ROUTES.blob}${digest}`, LIMITS.blobBytes, signal)
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
      return (await download(path, LIMITS.packBytes, signal)).bytes
    },
    /** Opens the stream; the frames end when the hub ends them or the signal is aborted. */
    async follow(holds: Digest | undefined, signal: AbortSignal): Promise<AsyncIterable<Frame>> {
      const query = holds === undefined ? '' : `?document=${holds}`
      const response = await requests.send({ method: 'GET', path: `${ROUTES.follow}${query}` }, signal)
      return framesOf(response.body)
    },
    /** Asks for the frames of the next while, answered whole; for ways that hold streams back. */
    async poll(holds: Digest | undefined, waitSeconds: number, signal: AbortSignal): Promise<Frame[]> {
      const query = `?wait=${waitSeconds}${holds === undefined ? '' : `&document=${holds}`}`
      const limit = { ms: waitSeconds * 1000 + REQUEST_TIMING.answerMs, maxBytes: LIMITS.answerBytes }
      const bytes = await requests.bytes({ method: 'GET', path: `${ROUTES.follow}${query}` }, limit, signal)
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
