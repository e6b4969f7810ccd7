import type { Clock } from '../core/time/clock.ts'

/** At most one act per key in an interval; remembers only acts younger than that. */
export interface KeyedThrottle {
  /** How long until the key may act again; 0: now. */
  waitMs(key: string): number
  /** It acts now; the next time not before the interval is over, or another one that is given. */
  note(key: string, forMs?: number): void
}

/** Makes a pace. */
export function createKeyedThrottle(clock: Clock, intervalMs: number): KeyedThrottle {
  const free = new Map<string, number>() // in order of acts: the oldest come first
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
