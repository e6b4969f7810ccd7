/** Whether a thread still answers: a thread that is busy with synchronous work does not. */
import type { Clock } from '../../core/time/clock.ts'

export interface HeartbeatOptions {
  readonly clock: Pick<Clock, 'sleep'>
  /** Time for which the thread may be too busy to answer. */
  readonly silenceMs: number
}

/**
 * False when a thread does not answer for `silenceMs`. Waits in two parts: if the main thread itself was busy, the
 * answer has already arrived.
 */
export async function isAnswering(
  thread: { ping(): Promise<void> },
  { clock, silenceMs }: HeartbeatOptions,
): Promise<boolean> {
  const done = new AbortController()
  const pong = thread.ping().then(
    () => true,
    () => true, // the thread has ended; `death` reports it
  )
  try {
    for (const ms of [silenceMs / 2, silenceMs / 2]) {
      const isHeard = await Promise.race([pong, clock.sleep(ms, done.signal).then(() => false)])
      if (isHeard) return true
    }
    return false
  } finally {
    done.abort()
  }
}
