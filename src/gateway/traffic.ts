/**
 * Bytes to and from each cluster. They are added to the ClusterReport with its next write, never by a write of their
 * own.
 */
import type { HttpResponse } from '../core/http.ts'

/** Bytes that are not yet in the ClusterReport. */
export interface Traffic {
  /** From the hub to the cluster. */
  down: number
  /** From the cluster to the hub. */
  up: number
}

/** Counts bodies, without headers and TLS. */
export function createTrafficCounters() {
  const counted = new Map<string, Traffic>()

  function counter(clusterId: string): Traffic {
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
      counter(clusterId).up += bytes
    },
    /** Counts the bytes of an answer while they are sent. */
    sending: (clusterId: string, answer: HttpResponse): HttpResponse => ({
      ...answer,
      body: counting(answer.body, counter(clusterId)),
    }),
    pending: (clusterId: string): Traffic => ({ ...counter(clusterId) }),
    /** Subtracts bytes that were written to the ClusterReport. */
    taken(clusterId: string, { down, up }: Traffic): void {
      const traffic = counter(clusterId)
      traffic.down -= down
      traffic.up -= up
    },
    forget: (clusterId: string) => counted.delete(clusterId),
  }
}

export type TrafficCounters = ReturnType<typeof createTrafficCounters>
