import type { Clock } from '../core/clock.ts'

/** At most one act per key in an interval; remembers only acts younger than that. */
export interface Pace {
  /** How long until the key may act again; 0: now. */
  waitMs(key: string): number
  note(key: string): void
}

/** Makes a pace. */
export function createPace(clock: Clock, intervalMs: number): Pace {
  const last = new Map<string, number>() // in order of time: the oldest come first
  function forgetOld(now: number): void {
    for (const [key, at] of last) {
      if (now - at < intervalMs) return
      last.delete(key)
    }
  }
  return {
    waitMs: (key) => {
      const at = last.get(key)
      return at === undefined ? 0 : Math.max(0, at + intervalMs - clock.monotonicMs())
    },
    note: (key) => {
      const now = clock.monotonicMs()
      forgetOld(now)
      last.delete(key)
      last.set(key, now)
    },
  }
}
