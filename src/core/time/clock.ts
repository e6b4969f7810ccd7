/** Time as a port: nothing else in the house may ask what time it is or wait. */
export interface Clock {
  /** Wall time in milliseconds since 1970; may jump. */
  now(): number
  /** Milliseconds that only grow; for deadlines and durations. */
  monotonicMs(): number
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
