/** Long downloads: an interrupted download continues from where it ended, on this connection or on the next. */
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { concatBytes } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { BASE_HEADER } from '../../wire/link/frames.ts'
import { REQUEST_TIMING } from '../timing.ts'
import { HubRefusal } from './hub-request.ts'
import type { HubRequests } from './hub-request.ts'
import type { PartialDownloads } from './partial-downloads.ts'

/** Ports of downloads. */
export interface DownloadPorts {
  readonly requests: Pick<HubRequests, 'send'>
  readonly partials: PartialDownloads
  readonly clock: Clock
}

/** The bytes, and the digest of the document that they are a difference to. */
export interface Downloaded {
  readonly bytes: Uint8Array
  readonly base: string | undefined
}

/** Downloads from a gateway. */
export function createDownloads({ requests, partials, clock }: DownloadPorts) {
  async function download(path: string, maxBytes: number, signal: AbortSignal): Promise<Downloaded> {
    for (let tried = 0; ; tried++) {
      const before = partials.get(path)?.size ?? 0
      try {
        return await downloadOnce(path, maxBytes, signal)
      } catch (caught) {
        const isFurther = (partials.get(path)?.size ?? 0) > before
        if (signal.aborted || caught instanceof HubRefusal || caught instanceof RangeError) throw caught
        if (!isFurther && tried >= REQUEST_TIMING.tries) throw caught
        if (isFurther) tried = 0
        await clock.sleep(REQUEST_TIMING.resumeAfterMs, signal)
      }
    }
  }

  async function downloadOnce(path: string, maxBytes: number, signal: AbortSignal): Promise<Downloaded> {
    const begun = partials.get(path)
    const resume = begun && begun.size > 0 ? { range: `bytes=${begun.size}-`, 'if-range': begun.etag } : undefined
    const what = `GET ${path.split('?', 1)[0]}`
    const patience = { clock, ms: REQUEST_TIMING.silentMs, signal, what }
    const response = await deadline(patience, (inner) =>
      requests.send({ method: 'GET', path, ...(resume && { headers: resume }) }, inner),
    )
    const etag = response.headers['etag'] ?? ''
    const continues = response.status === 206 && begun?.etag === etag
    const partial = continues ? begun : partials.begin(path, etag)
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

  return download
}
