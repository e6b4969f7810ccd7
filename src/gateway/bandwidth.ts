/** Content at the pace of a cluster's line; streams, reports and renewals are small and are not held up by it. */
import type { Clock } from '../core/time/clock.ts'
import type { HttpResponse } from '../core/http.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { SITE_CLASS_BYTES_PER_SECOND } from '../kinds/fields/site-class.ts'
import { IDLE_BANDWIDTH, spendBandwidth } from '../wire/link/bandwidth.ts'
import type { BandwidthState } from '../wire/link/bandwidth.ts'

// Small enough that a slow line is used evenly and is never silent for long.
const PIECE = 8 * 1024

/** The rate of a cluster's line; undefined when it has no limit. */
export function bytesPerSecondOf({ spec }: Cluster): number | undefined {
  return spec.maxBytesPerSecond ?? SITE_CLASS_BYTES_PER_SECOND[spec.siteClass ?? 'Connected']
}

/** Paces answers; all of one cluster share its rate. */
export function createBandwidth(clock: Clock) {
  const states = new Map<string, BandwidthState>()

  async function* paced(
    body: AsyncIterable<Uint8Array>,
    rateOf: () => { readonly id: string; readonly bytesPerSecond: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      for (let at = 0; at < chunk.byteLength; at += PIECE) {
        const { id, bytesPerSecond } = rateOf()
        // The limit was taken away on the way.
        if (bytesPerSecond === undefined) {
          yield chunk.subarray(at)
          break
        }
        const piece = chunk.subarray(at, at + PIECE)
        const now = clock.monotonicMs()
        const spent = spendBandwidth(states.get(id) ?? IDLE_BANDWIDTH, piece.byteLength, { bytesPerSecond, now })
        states.set(id, spent.state)
        if (spent.waitMs > 0) await clock.sleep(spent.waitMs, signal)
        yield piece
      }
    }
  }

  return {
    /** The answer at the pace of the line; `newest` is the cluster as it is now. */
    pace(cluster: Cluster, answer: HttpResponse, signal: AbortSignal, newest: () => Cluster | undefined): HttpResponse {
      if (bytesPerSecondOf(cluster) === undefined) return answer
      const { id } = cluster.spec
      return {
        ...answer,
        body: paced(answer.body, () => ({ id, bytesPerSecond: bytesPerSecondOf(newest() ?? cluster) }), signal),
      }
    },
    forget: (clusterId: string) => states.delete(clusterId),
  }
}
