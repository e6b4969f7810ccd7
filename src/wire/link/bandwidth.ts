/**
 * How fast content goes to a cluster: what is sent is paid for afterwards, so that every answer begins at once and
 * the line is free in between.
 */

/** When all that was sent is paid for; monotonic milliseconds. */
export interface BandwidthState {
  readonly paidAt: number
}

/** So much may be sent ahead: a small change never waits. */
const AHEAD_MS = 1000

/** After a time without traffic. */
export const IDLE_BANDWIDTH: BandwidthState = { paidAt: Number.NEGATIVE_INFINITY }

/** Accounts for bytes that are about to be sent; `waitMs` is how long to wait before. */
export function spendBandwidth(
  state: BandwidthState,
  bytes: number,
  { bytesPerSecond, now }: { readonly bytesPerSecond: number; readonly now: number },
): { readonly state: BandwidthState; readonly waitMs: number } {
  const from = Math.max(state.paidAt, now - AHEAD_MS)
  const paidAt = from + (bytes / bytesPerSecond) * 1000
  return { state: { paidAt }, waitMs: Math.max(0, paidAt - now) }
}
