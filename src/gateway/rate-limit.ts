/** How much one cluster may ask for: a bucket that refills, so that one noisy agent is slowed down and nobody else is (I-17, I-18). */
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'

/** The size of a bucket and how fast it refills. */
export interface RateLimitOptions {
  readonly clock: Clock
  /** For the message: `reports`. */
  readonly what: string
  readonly burst: number
  readonly perMinute: number
}

/** Makes buckets, one per key; a full one is forgotten. */
export function createRateLimiter({ clock, what, burst, perMinute }: RateLimitOptions) {
  /** Key → what was taken, and when that was true. */
  const taken = new Map<string, { count: number; at: number }>()

  return {
    /** Takes one, or throws TooManyRequests with when to come back. */
    take(key: string): void {
      const now = clock.monotonicMs()
      const bucket = taken.get(key) ?? { count: 0, at: now }
      const left = Math.max(0, bucket.count - ((now - bucket.at) / 60_000) * perMinute)
      if (left + 1 > burst) {
        const retryAfterSeconds = Math.ceil(((left + 1 - burst) / perMinute) * 60)
        throw new ApiError('TooManyRequests', `too many ${what} of this cluster`, { retryAfterSeconds })
      }
      taken.set(key, { count: left + 1, at: now })
    },
    forget: (key: string) => taken.delete(key),
  }
}
