/** Load shedding of one gateway: which requests are answered now, and when the refused ones may return. */
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { admitRequest, initialLoadState } from '../wire/link/load-shedding.ts'
import type { LoadLimits, RequestClass } from '../wire/link/load-shedding.ts'

// One core's work. A fleet that reconnects at once is spread over some seconds.
const DEFAULT_LIMITS: LoadLimits = { perSecond: 400, burst: 1600, atWork: 200 }

export interface LoadShedderPorts {
  readonly clock: Clock
  readonly ids: Ids
  readonly limits?: LoadLimits | undefined
}

export function createLoadShedder({ clock, ids, limits = DEFAULT_LIMITS }: LoadShedderPorts) {
  let state = initialLoadState(limits, clock.monotonicMs())
  let atWork = 0

  /** Milliseconds until a request of this class may return; 0 if it may pass now. */
  function retryAfterMs(requestClass: RequestClass): number {
    const at = { now: clock.monotonicMs(), fraction: ids.fraction(), atWork }
    const next = admitRequest(state, requestClass, limits, at)
    state = next.state
    return next.retryAfterMs ?? 0
  }

  return {
    retryAfterMs,
    /** Throws TooManyRequests if a request of this class may not pass now. */
    check(requestClass: RequestClass): void {
      const ms = retryAfterMs(requestClass)
      if (ms > 0) throw busy(ms)
    },
    /** Counts work that waits for the hub's API. While too much of it waits, new requests are refused. */
    async track(work: () => Promise<void>): Promise<void> {
      atWork += 1
      try {
        await work()
      } finally {
        atWork -= 1
      }
    },
  }
}

export type LoadShedder = ReturnType<typeof createLoadShedder>

export function busy(retryAfterMs: number): ApiError {
  const retryAfterSeconds = Math.ceil(retryAfterMs / 1000)
  return new ApiError('TooManyRequests', `the gateway is busy; try again in ${retryAfterSeconds} s`, {
    retryAfterSeconds,
  })
}
