/** How long to wait before try number `failures + 1`. */
export interface BackoffOptions {
  readonly baseMs: number
  readonly maxMs: number
  /** Share of the delay that is random, 0 to 1. */
  readonly jitter: number
}

/** Exponential delay with jitter: at least (1 - jitter) of the full delay, so that a herd spreads out. */
export function backoffMs(failures: number, fraction: number, options: BackoffOptions): number {
  const full = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures, 30))
  return Math.round(full * (1 - options.jitter * fraction))
}
