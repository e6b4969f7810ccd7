import type { Clock } from '../../core/time/clock.ts'
import type { GatewayView } from '../../plan/fleet/availability.ts'
import type { Liveness } from '../../wire/link/liveness.ts'

/** Summaries of gateways, each with when it arrived on our own monotonic clock; other machines' clocks are never compared. */
export interface LivenessCache {
  note(gateway: string, summary: Liveness): void
  /** What each gateway's newest summary says about a cluster id. */
  viewsOf(clusterId: string): GatewayView[]
}

// A gateway that said nothing for a day is history: its word would only be "longer ago than anybody tolerates".
const FORGET_AFTER_MS = 24 * 3600 * 1000

/** Makes an empty book. A gateway whose Lease is deleted stays in it and grows old, so that its clusters have time to reach another one. */
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
        return {
          continuityMs: summary.up * 1000,
          sinceObservedMs: now - arrivedMs,
          ...(age === undefined ? {} : { ageMs: age * 1000 }),
        }
      })
    },
  }
}
