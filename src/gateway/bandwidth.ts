/** Sends content at the bandwidth of a cluster. Streams, reports and renewals are small and are not delayed. */
import type { Clock } from '../core/time/clock.ts'
import type { HttpResponse } from '../core/http.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { SITE_CLASS_BYTES_PER_SECOND } from '../kinds/fields/site-class.ts'
import { IDLE_BANDWIDTH, spendBandwidth } from '../wire/link/bandwidth.ts'
import type { BandwidthState } from '../wire/link/bandwidth.ts'

// Small enough that a slow connection is used evenly and is never silent for long.
const PIECE_BYTES = 8 * 1024

/** The bandwidth limit of a cluster; undefined without a limit. */
export function bandwidthLimit({ spec }: Cluster): number | undefined {
  return spec.maxBytesPerSecond ?? SITE_CLASS_BYTES_PER_SECOND[spec.siteClass ?? 'Connected']
}

/** All answers to one cluster share the cluster's limit. */
export function createBandwidth(clock: Clock) {
  const states = new Map<string, BandwidthState>()

  async function* paced(
    body: AsyncIterable<Uint8Array>,
    rateOf: () => { readonly id: string; readonly bytesPerSecond: number | undefined },
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
        const { id, bytesPerSecond } = rateOf()
        // The limit was removed while the answer was sent.
        if (bytesPerSecond === undefined) {
          yield chunk.subarray(at)
          break
        }
        const piece = chunk.subarray(at, at + PIECE_BYTES)
        const now = clock.monotonicMs()
        const spent = spendBandwidth(states.get(id) ?? IDLE_BANDWIDTH, piece.byteLength, { bytesPerSecond, now })
        states.set(id, spent.state)
        if (spent.waitMs > 0) await clock.sleep(spent.waitMs, signal)
        yield piece
      }
    }
  }

  return {
    /** The answer at the cluster's bandwidth. `newest` returns the present Cluster, whose limit may have changed. */
    pace(cluster: Cluster, answer: HttpResponse, signal: AbortSignal, newest: () => Cluster | undefined): HttpResponse {
      if (bandwidthLimit(cluster) === undefined) return answer
      const { id } = cluster.spec
      return {
        ...answer,
        body: paced(answer.body, () => ({ id, bytesPerSecond: bandwidthLimit(newest() ?? cluster) }), signal),
      }
    },
    forget: (clusterId: string) => states.delete(clusterId),
  }
}
