/** HTTP without sockets: what clients send and servers answer, so that a simulation can carry it. */
import { concatBytes } from './bytes.ts'

/** A request; the path includes its query. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** An answer; the body may be a stream without an end (a watch). */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends a request and returns the response; aborting the signal also ends the body. */
export type Transport = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>

/** Who sent a request, as the transport proved it (client certificate, token); never taken from the request itself. */
export interface Caller {
  readonly user: string
  readonly groups: readonly string[]
  /** ID of the account; accounts can have the same name. */
  readonly uid?: string
  /** The authenticated user behind an impersonated caller. */
  readonly impersonator?: string
  /** The peer's address as the listener's socket has it; absent where there is no socket. */
  readonly address?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Answers requests of a proven caller. */
export type Handler = (request: HttpRequest, caller: Caller, signal: AbortSignal) => Promise<HttpResponse>

/** Collects a body, refusing more than `maxBytes`. */
export async function readBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > maxBytes) throw new RangeError(`body is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  const only = chunks[0]
  return chunks.length === 1 && only ? only : concatBytes(chunks)
}

/**
 * A body that is a single piece. A sender with a socket may ask for the piece itself: its length is known before it is
 * sent.
 */
export function bytesBody(bytes: Uint8Array): WholeBody {
  return {
    whole: bytes,
    async *[Symbol.asyncIterator]() {
      if (bytes.byteLength > 0) yield bytes
    },
  }
}

/** A body whose bytes are all at hand. */
export interface WholeBody extends AsyncIterable<Uint8Array> {
  readonly whole: Uint8Array
}

/** The bytes of a body that is a single piece; undefined when it is a stream. */
export function wholeBytes(body: AsyncIterable<Uint8Array>): Uint8Array | undefined {
  return 'whole' in body && body.whole instanceof Uint8Array ? body.whole : undefined
}
