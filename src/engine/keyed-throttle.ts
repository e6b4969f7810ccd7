import type { Clock } from '../core/time/clock.ts'

/** At most one act per key in an interval. */
export interface KeyedThrottle {
  /** Milliseconds until the key may act again; 0: now. */
  waitMs(key: string): number
  /** The key acts now. The next act is allowed after `forMs`. Defaults to the throttle's interval. */
  note(key: string, forMs?: number): void
}

export function createKeyedThrottle(clock: Clock, intervalMs: number): KeyedThrottle {
  const free = new Map<string, number>() // oldest act first
  function forgetOld(now: number): void {
    for (const [key, at] of free) {
      if (at > now) return
      free.delete(key)
    }
  }
  return {
    waitMs: (key) => {
      const at = free.get(key)
      return at === undefined ? 0 : Math.max(0, at - clock.monotonicMs())
    },
    note: (key, forMs = intervalMs) => {
      const now = clock.monotonicMs()
      forgetOld(now)
      free.delete(key)
      if (forMs > 0) free.set(key, now + forMs)
    },
  }
}
