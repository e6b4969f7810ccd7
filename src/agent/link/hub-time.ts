/** The hub's time, unknown before the first beat. The machine's own clock may be years off and does not count. */
import type { Clock } from '../../core/time/clock.ts'
import { LINK_TIMING } from '../timing.ts'

/** Creates the hub's time, from beats and the monotonic clock between them. */
export function createHubTime(clock: Clock) {
  let heard: { readonly atMs: number; readonly monotonicMs: number } | undefined

  function now(): number | undefined {
    return heard && heard.atMs + (clock.monotonicMs() - heard.monotonicMs)
  }

  return {
    now,
    hear(atMs: number): void {
      const known = now() ?? Number.NEGATIVE_INFINITY
      const isDelayed = atMs < known && known - atMs <= LINK_TIMING.delayedBeatMs
      heard = { atMs: isDelayed ? known : atMs, monotonicMs: clock.monotonicMs() }
    },
  }
}

/** The hub's time. */
export type HubTime = ReturnType<typeof createHubTime>
