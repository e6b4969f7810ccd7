import type { Clock } from './clock.ts'

/** Wakes one waiter: a notice given while nobody waits is kept, several are one. */
export interface Notice {
  notify(): void
  /** Resolves at the next notice or after `ms`; rejects with the signal's reason when it is aborted first. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

/** Makes a notice for a loop that has something to do now and then. */
export function createNotice(clock: Clock): Notice {
  let pending = false
  let wake: (() => void) | undefined
  return {
    notify() {
      pending = true
      wake?.()
    },
    async wait(ms, signal) {
      signal.throwIfAborted()
      if (!pending) {
        const timer = new AbortController()
        const notified = new Promise<void>((resolve) => (wake = resolve))
        const slept = clock.sleep(ms, AbortSignal.any([timer.signal, signal])).catch(() => {})
        await Promise.race([notified, slept])
        wake = undefined
        timer.abort()
        signal.throwIfAborted()
      }
      pending = false
    },
  }
}
