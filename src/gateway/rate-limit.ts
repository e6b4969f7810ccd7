/** Token buckets by cluster or address, so that a noisy caller slows down only itself (I-17, I-18). */
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'

export interface RateLimitOptions {
  readonly clock: Clock
  /** What is counted, for the error message, for example `reports from this cluster`. */
  readonly what: string
  readonly burst: number
  readonly perMinute: number
  /** Buckets that are kept. With more, the one that was used longest ago is forgotten. Defaults to no limit. */
  readonly maxKeys?: number
}

export function createRateLimiter({ clock, what, burst, perMinute, maxKeys = Infinity }: RateLimitOptions) {
  /** Key → tokens taken, as of monotonic milliseconds `at`. The key that was used longest ago comes first. */
  const taken = new Map<string, { count: number; at: number }>()

  /** Takes tokens, or returns the milliseconds until there are enough. */
  function retryAfterMs(key: string, tokens = 1): number {
    const now = clock.monotonicMs()
    const bucket = taken.get(key) ?? { count: 0, at: now }
    const left = Math.max(0, bucket.count - ((now - bucket.at) / 60_000) * perMinute)
    if (left + tokens > burst) return ((left + tokens - burst) / perMinute) * 60_000
    taken.delete(key)
    taken.set(key, { count: left + tokens, at: now })
    const oldest = taken.keys().next()
    if (taken.size > maxKeys && !oldest.done) taken.delete(oldest.value)
    return 0
  }

  return {
    retryAfterMs,
    /** Takes tokens, or throws TooManyRequests with the time of the next tokens. */
    take(key: string, tokens = 1): void {
      const ms = retryAfterMs(key, tokens)
      if (ms === 0) return
      const retryAfterSeconds = Math.ceil(ms / 1000)
      throw new ApiError('TooManyRequests', `too many ${what}; try again in ${retryAfterSeconds} s`, {
        retryAfterSeconds,
      })
    },
    forget: (key: string) => taken.delete(key),
  }
}

export type RateLimiter = ReturnType<typeof createRateLimiter>
