/** Bytes to and from each cluster, counted here and added to its ClusterReport when that is written anyway. */
import type { HttpResponse } from '../core/http.ts'

/** Bytes since they were last taken. */
export interface Traffic {
  /** From the hub to the cluster. */
  down: number
  /** From the cluster to the hub. */
  up: number
}

/** Counts bodies; headers and TLS come on top. */
export function createTrafficCounters() {
  const counted = new Map<string, Traffic>()

  function of(clusterId: string): Traffic {
    const known = counted.get(clusterId)
    if (known) return known
    const fresh = { down: 0, up: 0 }
    counted.set(clusterId, fresh)
    return fresh
  }

  async function* counting(body: AsyncIterable<Uint8Array>, traffic: Traffic): AsyncIterable<Uint8Array> {
    for await (const chunk of body) {
      traffic.down += chunk.byteLength
      yield chunk
    }
  }

  return {
    received(clusterId: string, bytes: number): void {
      of(clusterId).up += bytes
    },
    /** Counts an answer as it is sent. */
    sending: (clusterId: string, answer: HttpResponse): HttpResponse => ({
      ...answer,
      body: counting(answer.body, of(clusterId)),
    }),
    pending: (clusterId: string): Traffic => ({ ...of(clusterId) }),
    /** These were written down. */
    taken(clusterId: string, { down, up }: Traffic): void {
      const traffic = of(clusterId)
      traffic.down -= down
      traffic.up -= up
    },
    forget: (clusterId: string) => counted.delete(clusterId),
  }
}

/** The counters of a gateway. */
export type TrafficCounters = ReturnType<typeof createTrafficCounters>
