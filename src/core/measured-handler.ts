/** Counts what a handler is asked and answers; which request it is, is the caller's to say, from a closed set. */
import type { Clock } from './time/clock.ts'
import { wholeBytes } from './http.ts'
import type { Handler, HttpRequest } from './http.ts'
import type { MetricLabels, Metrics } from './metrics.ts'

/** What is counted, and under which names. */
export interface HandlerMeasure {
  /** `<prefix>_requests_total`, `_request_seconds`, `_received_bytes_total`, `_sent_bytes_total`. */
  readonly prefix: string
  readonly what: string
  /** The labels `labelsOf` gives. */
  readonly labels: readonly string[]
  readonly labelsOf: (request: HttpRequest) => MetricLabels
  readonly clock: Clock
  readonly metrics: Metrics
}

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The handler, measured; seconds are until the answer begins, because a watch has no end. */
export function measureHandler(handle: Handler, measure: HandlerMeasure): Handler {
  const { prefix, what, labels, labelsOf, clock, metrics } = measure
  const total = metrics.counter({
    name: `${prefix}_requests_total`,
    help: `Requests of ${what} by status code.`,
    labels: [...labels, 'code'],
  })
  const seconds = metrics.histogram({
    name: `${prefix}_request_seconds`,
    help: `How long ${what} wait until the answer begins.`,
    labels,
    buckets: SECONDS_BUCKETS,
  })
  const received = metrics.counter({ name: `${prefix}_received_bytes_total`, help: `Bytes of bodies from ${what}.` })
  const sent = metrics.counter({ name: `${prefix}_sent_bytes_total`, help: `Bytes of bodies to ${what}.` })
  return async (request, caller, signal) => {
    const began = clock.monotonicMs()
    const of = labelsOf(request)
    received({}, request.body?.byteLength ?? 0)
    const response = await handle(request, caller, signal)
    total({ ...of, code: String(response.status) }, 1)
    seconds(of, (clock.monotonicMs() - began) / 1000)
    const whole = wholeBytes(response.body)
    if (!whole) return { ...response, body: counted(response.body, (bytes) => sent({}, bytes)) }
    sent({}, whole.byteLength)
    return response
  }
}

// Without a generator: each event of each watch goes through here.
function counted(body: AsyncIterable<Uint8Array>, count: (bytes: number) => void): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const chunks = body[Symbol.asyncIterator]()
      return {
        async next() {
          const chunk = await chunks.next()
          if (!chunk.done) count(chunk.value.byteLength)
          return chunk
        },
        return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}
