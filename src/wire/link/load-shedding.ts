/**
 * Who is let in when everybody comes at once: a bucket that refills, of which each class leaves a part to those before it, and so much work at a time. A certificate that runs out cannot wait; a report can a
 * little; a stream can wait longest. Who is refused is told when to come back, spread over the time that the others need.
 */

/** In order: certificates, reports, streams and content. */
export type RequestClass = 'renew' | 'report' | 'follow'

/** How much passes. */
export interface LoadLimits {
  readonly perSecond: number
  readonly burst: number
  /** How many requests may wait for the hub's API at the same time: more of them would only wait longer, until they are given up and asked for again. */
  readonly atWork: number
}

/** How full the bucket is, and how many were sent away lately. */
export interface LoadState {
  readonly tokens: number
  readonly waiting: number
  /** Monotonic milliseconds. */
  readonly at: number
}

/** The part of the bucket a class leaves to those before it. */
const LEAVES: Readonly<Record<RequestClass, number>> = { renew: 0, report: 0.2, follow: 0.5 }
const LEAST_MS = 1000
const MOST_MS = 120_000

/** A full bucket. */
export function initialLoadState({ burst }: LoadLimits, now: number): LoadState {
  return { tokens: burst, waiting: 0, at: now }
}

/** Lets one in, or says when to come back. `fraction` in [0, 1) spreads them; `atWork` wait for the hub's API now. */
export function admitRequest(
  state: LoadState,
  who: RequestClass,
  limits: LoadLimits,
  { now, fraction, atWork }: { readonly now: number; readonly fraction: number; readonly atWork: number },
): { readonly state: LoadState; readonly retryAfterMs?: number } {
  const passed = (Math.max(0, now - state.at) / 1000) * limits.perSecond
  const tokens = Math.min(limits.burst, state.tokens + passed)
  const waiting = Math.max(0, state.waiting - passed)
  const isFree = atWork < (1 - LEAVES[who]) * limits.atWork || who === 'renew'
  if (isFree && tokens - 1 >= LEAVES[who] * limits.burst) return { state: { tokens: tokens - 1, waiting, at: now } }
  const needed = ((waiting + 1) / limits.perSecond) * 1000
  const retryAfterMs = Math.min(MOST_MS, LEAST_MS + needed * (0.5 + fraction))
  return { state: { tokens, waiting: waiting + 1, at: now }, retryAfterMs }
}
