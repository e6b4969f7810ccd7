// Tested by src/gateway/hostile-agent.contract.test.ts.
/**
 * Load shedding of one gateway: which requests are answered now, and when the refused ones may return. Three kinds of
 * buckets keep callers apart (I-18). Requests of strangers, who have proven no cluster, have a share of their own, and
 * within it each address has a part. Requests of a cluster take from the bucket of that cluster first, wherever they
 * come from: many clusters share one address behind NAT. Only then does a request take from what all clusters share.
 */
import { compact } from '../core/compact.ts'
import type { Clock } from '../core/time/clock.ts'
import { ApiError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { admitRequest, initialLoadState } from '../wire/link/load-shedding.ts'
import type { LoadLimits, RequestClass } from '../wire/link/load-shedding.ts'
import { createRateLimiter } from './rate-limit.ts'
import { networkOf } from '../core/text/network-of.ts'

// One core's work. A fleet that reconnects at once is spread over some seconds.
const DEFAULT_LIMITS: LoadLimits = { perSecond: 400, burst: 1600, atWork: 200 }

/** Parts of the limits. The least is for limits as small as those of tests. */
const CLUSTER_PART = { perSecond: 0.1, burst: 0.25, least: 30 }
const STRANGERS_PART = { perSecond: 0.25, burst: 0.5, least: 60 }
const ADDRESS_PART = { perSecond: 0.05, burst: 0.125, least: 30 }
// Each writes to the hub's API. A cluster that waits to be accepted asks every five seconds.
const RENEWALS = { burst: 60, perMinute: 60 }
const MAX_ADDRESSES = 10_000

export interface LoadShedderPorts {
  readonly clock: Clock
  readonly ids: Ids
  readonly limits?: LoadLimits | undefined
}

export function createLoadShedder({ clock, ids, limits = DEFAULT_LIMITS }: LoadShedderPorts) {
  let state = initialLoadState(limits, clock.monotonicMs())
  let atWork = 0
  const limiter = (what: string, part: typeof CLUSTER_PART, maxKeys?: number) => {
    const burst = Math.max(part.least, part.burst * limits.burst)
    const perMinute = 60 * Math.max(1, part.perSecond * limits.perSecond)
    return createRateLimiter(compact({ clock, what, burst, perMinute, maxKeys }))
  }
  const perCluster = limiter('requests from this cluster', CLUSTER_PART)
  const renewals = createRateLimiter({ clock, what: 'requests for certificates from this cluster', ...RENEWALS })
  const perAddress = limiter('requests from this address', ADDRESS_PART, MAX_ADDRESSES)
  const strangers = limiter('requests without a certificate', STRANGERS_PART)
  /** Cluster → class → when its last refused request may return. */
  const told = new Map<string, Map<RequestClass, number>>()

  /** Milliseconds until a request of this class may return; 0 if it may pass now. */
  function retryAfterMs(requestClass: RequestClass, clusterId: string): number {
    const own = (requestClass === 'renew' && renewals.retryAfterMs(clusterId)) || perCluster.retryAfterMs(clusterId)
    if (own > 0) return own
    const now = clock.monotonicMs()
    const returnsAt = told.get(clusterId)?.get(requestClass) ?? now
    // A cluster that does not wait as long as it was told counts once, and makes no other cluster wait longer.
    const isCounted = returnsAt > now
    const at = { now, fraction: ids.fraction(), atWork, isCounted }
    const next = admitRequest(state, requestClass, limits, at)
    state = next.state
    if (next.retryAfterMs === undefined) {
      told.get(clusterId)?.delete(requestClass)
      return 0
    }
    if (isCounted) return returnsAt - now
    const times = told.get(clusterId) ?? new Map<RequestClass, number>()
    told.set(clusterId, times.set(requestClass, now + next.retryAfterMs))
    return next.retryAfterMs
  }

  return {
    retryAfterMs,
    /** Throws TooManyRequests if a request of this class may not pass now. */
    check(requestClass: RequestClass, clusterId: string): void {
      const ms = retryAfterMs(requestClass, clusterId)
      if (ms > 0) throw busy(ms)
    },
    /** Throws TooManyRequests if a request that proves no cluster may not pass now. */
    checkStranger(address: string | undefined, cost = 1): void {
      if (address !== undefined) perAddress.take(networkOf(address), cost)
      strangers.take('', cost)
    },
    /** Counts work that waits for the hub's API. While too much of it waits, new requests are refused. */
    async track<T>(work: () => Promise<T>): Promise<T> {
      atWork += 1
      try {
        return await work()
      } finally {
        atWork -= 1
      }
    },
    forget(clusterId: string): void {
      perCluster.forget(clusterId)
      renewals.forget(clusterId)
      told.delete(clusterId)
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
