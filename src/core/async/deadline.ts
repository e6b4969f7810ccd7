import type { Clock } from '../time/clock.ts'

// One for all: a reason of its own for every timer that is not needed any more would cost more than the timer.
const WORK_IS_DONE = new Error('the work is done')

/** How long work may take, and who else may end it. */
export interface DeadlineOptions {
  readonly clock: Clock
  readonly ms: number
  readonly signal?: AbortSignal | undefined
  /** For the error: what took too long. */
  readonly what: string
}

/** Runs work with a signal that is aborted at the deadline, or with the caller's. The timer ends with the work. */
export async function deadline<T>(options: DeadlineOptions, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, ms, signal, what } = options
  signal?.throwIfAborted()
  const controller = new AbortController()
  const timer = new AbortController()
  const onAbort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  clock.sleep(ms, timer.signal).then(
    () => controller.abort(Object.assign(new Error(`${what}: no answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' })),
    () => {}, // the work was done first
  )
  try {
    return await work(controller.signal)
  } finally {
    timer.abort(WORK_IS_DONE)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Waits for a promise, but no longer than until the signal is aborted; then rejects with its reason. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
