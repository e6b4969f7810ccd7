import type { Clock } from '../../core/time/clock.ts'

/** The rest of Rollouts between their passes, paced together: many Rollouts at once rest longer than one alone. */
export interface PassPace {
  /** Milliseconds until the next pass of a Rollout; 0: now. */
  waitMs(key: string): number
  /** A pass ended: its Rollout rests this long when no other Rollout rests, and longer with each that does. */
  note(key: string, restMs: number): void
}

/** Nothing waits longer for a pass, however many Rollouts there are. */
const MOST_MS = 5000

/** Creates the pace of Rollouts that do not rest yet. */
export function createPassPace(clock: Clock): PassPace {
  const until = new Map<string, number>()
  return {
    waitMs: (key) => Math.max(0, (until.get(key) ?? 0) - clock.monotonicMs()),
    note: (key, restMs) => {
      const now = clock.monotonicMs()
      until.delete(key)
      for (const [other, at] of until) if (at <= now) until.delete(other)
      if (restMs > 0) until.set(key, now + Math.max(restMs, Math.min(MOST_MS, restMs * (until.size + 1))))
    },
  }
}
