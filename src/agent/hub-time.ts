/** The time as the hub says it: it never goes back, and is not known before the hub was heard. */
import type { Clock } from '../core/clock.ts'

/** Makes it; what the machine's own clock says about the day does not count, it may be years off. */
export function createHubTime(clock: Clock) {
  let heard: { readonly atMs: number; readonly monotonicMs: number } | undefined

  function now(): number | undefined {
    return heard && heard.atMs + (clock.monotonicMs() - heard.monotonicMs)
  }

  return {
    now,
    hear(atMs: number): void {
      heard = { atMs: Math.max(atMs, now() ?? Number.NEGATIVE_INFINITY), monotonicMs: clock.monotonicMs() }
    },
  }
}

/** The time as the hub says it. */
export type HubTime = ReturnType<typeof createHubTime>
