/** Token buckets by cluster, so that a noisy agent slows down only itself (I-17, I-18). */
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'

export interface RateLimitOptions {
  readonly clock: Clock
  /** The counted noun for the error message, for example `reports`. */
  readonly what: string
  readonly burst: number
  readonly perMinute: number
}

export function createRateLimiter({ clock, what, burst, perMinute }: RateLimitOptions) {
  /** Key → tokens taken, as of monotonic milliseconds `at`. */
  const taken = new Map<string, { count: number; at: number }>()

  return {
    /** Takes one token, or throws TooManyRequests with the time of the next one. */
    take(key: string): void {
      const now = clock.monotonicMs()
      const bucket = taken.get(key) ?? { count: 0, at: now }
      const left = Math.max(0, bucket.count - ((now - bucket.at) / 60_000) * perMinute)
      if (left + 1 > burst) {
        const retryAfterSeconds = Math.ceil(((left + 1 - burst) / perMinute) * 60)
        throw new ApiError(
          'TooManyRequests',
          `too many ${what} from this cluster; try again in ${retryAfterSeconds} s`,
          { retryAfterSeconds },
        )
      }
      taken.set(key, { count: left + 1, at: now })
    },
    forget: (key: string) => taken.delete(key),
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>
