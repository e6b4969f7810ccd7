import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import { concatBytes, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { wholeBytes } from '../../core/http.ts'
import type { HttpResponse } from '../../core/http.ts'

/** Answers on their way to a client, over HTTP/2 or HTTP/1.1. */

/** How an answer is sent. */
export interface Sending {
  readonly clock: Pick<Clock, 'sleep'>
  /** A client that takes nothing of its answer for this long is cut. */
  readonly limits: { readonly slowReaderMs: number }
  /** Is aborted when the client is gone or the listener closes. */
  readonly signal: AbortSignal
}

const SMALL = 64 * 1024

/** Sends an answer to its end. */
export async function sendAnswer(response: Http2ServerResponse, answer: HttpResponse, sending: Sending): Promise<void> {
  if (response.destroyed || response.stream?.destroyed) return
  const whole = wholeBytes(answer.body)
  const length = whole && answer.status !== 304 ? { 'content-length': whole.byteLength } : {}
  response.writeHead(answer.status, { ...answer.headers, ...length })
  if (whole && whole.byteLength <= SMALL) {
    // Together with its head: one record of TLS instead of three.
    response.end(whole)
    return
  }
  // A watch without events must still tell its client that it has begun; HTTP/2 sends headers by itself.
  if ('flushHeaders' in response && typeof response.flushHeaders === 'function') response.flushHeaders()
  const pieces = answer.body[Symbol.asyncIterator]()
  try {
    while (await sendNext(response, pieces, sending));
  } finally {
    await pieces.return?.()
  }
  response.end()
}

/** Sends one piece and says whether to go on. Nothing of it stays here while the next is waited for. */
async function sendNext(
  response: Http2ServerResponse,
  pieces: AsyncIterator<Uint8Array>,
  sending: Sending,
): Promise<boolean> {
  const { done, value: piece } = await pieces.next()
  if (done || sending.signal.aborted) return false
  const socket = chunkedSocket(response)
  // An empty chunk is the end of an answer.
  const isFramed = socket && piece.byteLength > 0 && piece.byteLength <= SMALL
  if (!(isFramed ? socket.write(chunkOf(piece)) : response.write(piece))) await drained(socket ?? response, sending)
  return true
}

/** The socket of an answer that goes out in chunks of HTTP/1.1, once it is this answer's turn. */
function chunkedSocket(response: Http2ServerResponse | ServerResponse): Socket | undefined {
  // Only HTTP/1.1 has chunks.
  return 'chunkedEncoding' in response && response.chunkedEncoding ? (response.socket ?? undefined) : undefined
}

const chunks = new WeakMap<Uint8Array, Uint8Array>()
const END_OF_LINE = utf8('\r\n')

/**
 * A piece as a chunk. The line of a change is one piece for all who watch, and framed once; Node would give each four
 * writes.
 */
function chunkOf(piece: Uint8Array): Uint8Array {
  const known = chunks.get(piece)
  if (known) return known
  const chunk = concatBytes([utf8(`${piece.byteLength.toString(16)}\r\n`), piece, END_OF_LINE])
  chunks.set(piece, chunk)
  return chunk
}

/** Waits until a client has taken what was sent; throws when it takes nothing. */
async function drained(from: Socket | Http2ServerResponse, { clock, limits, signal }: Sending): Promise<void> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const isLate = clock.sleep(limits.slowReaderMs, either).then(
    () => true,
    () => false,
  )
  const isTaken = once(from, 'drain', { signal: either }).then(
    () => false,
    () => false,
  )
  const cut = await Promise.race([isLate, isTaken])
  over.abort()
  if (cut) throw new Error(`the client read nothing of the response for ${limits.slowReaderMs} ms`)
}
