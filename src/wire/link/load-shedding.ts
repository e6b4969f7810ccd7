/**
 * Load shedding for a fleet that reconnects at once. A token bucket refills with time; each class leaves a part of it
 * to the more urgent classes, and limits the work that waits at the same time. A certificate that expires cannot
 * wait, a report can wait a little, a stream can wait longest. A refused agent is told when to return; the times are
 * spread.
 */

/** In order of urgency: certificates, reports, streams and content. */
export type RequestClass = 'renew' | 'report' | 'follow'

export interface LoadLimits {
  readonly perSecond: number
  readonly burst: number
  /** Requests that may wait for the hub's API at the same time. More would wait until agents give up and retry. */
  readonly atWork: number
}

/** The tokens in the bucket, and the number of recently refused requests. */
export interface LoadState {
  readonly tokens: number
  readonly waiting: number
  /** Monotonic milliseconds. */
  readonly at: number
}

/** The part of the bucket that a class leaves to more urgent classes. */
const LEAVES: Readonly<Record<RequestClass, number>> = { renew: 0, report: 0.2, follow: 0.5 }
const LEAST_MS = 1000
const MOST_MS = 120_000

/** The state with a full bucket. */
export function initialLoadState({ burst }: LoadLimits, now: number): LoadState {
  return { tokens: burst, waiting: 0, at: now }
}

/** When a request comes, and to how much. */
export interface LoadMoment {
  readonly now: number
  /** In [0, 1), spreads retries. */
  readonly fraction: number
  /** Requests that wait for the hub's API now. */
  readonly atWork: number
  /** Whether the caller was refused before and has not waited as long as it was told. Defaults to false. */
  readonly isCounted?: boolean
}

/** Passes one request, or returns when to retry. */
export function admitRequest(
  state: LoadState,
  who: RequestClass,
  limits: LoadLimits,
  { now, fraction, atWork, isCounted = false }: LoadMoment,
): { readonly state: LoadState; readonly retryAfterMs?: number } {
  const passed = (Math.max(0, now - state.at) / 1000) * limits.perSecond
  const tokens = Math.min(limits.burst, state.tokens + passed)
  const waiting = Math.max(0, state.waiting - passed)
  const isFree = atWork < (1 - LEAVES[who]) * limits.atWork || who === 'renew'
  if (isFree && tokens - 1 >= LEAVES[who] * limits.burst) return { state: { tokens: tokens - 1, waiting, at: now } }
  const needed = ((waiting + 1) / limits.perSecond) * 1000
  const retryAfterMs = Math.min(MOST_MS, LEAST_MS + needed * (0.5 + fraction))
  return { state: { tokens, waiting: isCounted ? waiting : waiting + 1, at: now }, retryAfterMs }
}
