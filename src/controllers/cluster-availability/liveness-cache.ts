import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { GatewayView } from '../../plan/fleet/availability.ts'
import type { Liveness } from '../../wire/link/liveness.ts'

/**
 * The newest summary of each gateway, with its arrival on the hub's monotonic clock; clocks of other machines are never
 * compared.
 */
export interface LivenessCache {
  note(gateway: string, summary: Liveness): void
  /** The information about a cluster id in the newest summary of each gateway. */
  viewsOf(clusterId: string): GatewayView[]
}

// A gateway without a summary for a day is forgotten: its summary would mark each cluster offline.
const FORGET_AFTER_MS = 24 * 3600 * 1000

/**
 * Creates an empty cache. A gateway whose Lease is deleted stays and grows old, so that its clusters have time to reach
 * another gateway.
 */
export function createLivenessCache(clock: Clock): LivenessCache {
  const pages = new Map<string, { readonly summary: Liveness; readonly arrivedMs: number }>()
  return {
    note: (gateway, summary) => {
      const now = clock.monotonicMs()
      for (const [name, page] of pages) if (now - page.arrivedMs > FORGET_AFTER_MS) pages.delete(name)
      pages.set(gateway, { summary, arrivedMs: now })
    },
    viewsOf: (clusterId) => {
      const now = clock.monotonicMs()
      return [...pages.values()].map(({ summary, arrivedMs }) => {
        const age = Object.hasOwn(summary.seen, clusterId) ? summary.seen[clusterId] : undefined
        return compact({
          continuityMs: summary.up * 1000,
          sinceObservedMs: now - arrivedMs,
          ageMs: age === undefined ? undefined : age * 1000,
        })
      })
    },
  }
}
