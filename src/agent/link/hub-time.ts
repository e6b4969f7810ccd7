/** The time as the hub says it; it is not known before the hub was heard. */
import type { Clock } from '../../core/time/clock.ts'

// A word that is so much older than the last one was long on its way: the time does not go back for it. One that is older still is
// from a hub whose clock was set right, and an agent that stayed ahead of it would find every start-by passed.
const SLOW_LINE_MS = 60_000

/** Makes it; what the machine's own clock says about the day does not count, it may be years off. */
export function createHubTime(clock: Clock) {
  let heard: { readonly atMs: number; readonly monotonicMs: number } | undefined

  function now(): number | undefined {
    return heard && heard.atMs + (clock.monotonicMs() - heard.monotonicMs)
  }

  return {
    now,
    hear(atMs: number): void {
      const known = now() ?? Number.NEGATIVE_INFINITY
      const isSlow = atMs < known && known - atMs <= SLOW_LINE_MS
      heard = { atMs: isSlow ? known : atMs, monotonicMs: clock.monotonicMs() }
    },
  }
}

/** The time as the hub says it. */
export type HubTime = ReturnType<typeof createHubTime>
