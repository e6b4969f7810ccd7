import type { Clock } from '../time/clock.ts'

/** Wakes one waiter; a notice without a waiter is kept, and several count as one. */
export interface Wakeup {
  notify(): void
  /** Resolves at the next notice or after `ms`; rejects with the signal's reason when it is aborted first. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

// Shared by all waits: creating an error with a stack for each wait costs time.
const WOKEN = new Error('woken')

/** Makes a notice for a loop that has something to do now and then. */
export function createWakeup(clock: Clock): Wakeup {
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
        // Thousands of streams wait at a time: one promise, one timer and one listener each.
        const timer = new AbortController()
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener('abort', wake, { once: true })
          clock.sleep(ms, timer.signal).then(resolve, () => {}) // woken first
        })
        signal.removeEventListener('abort', wake!)
        wake = undefined
        timer.abort(WOKEN)
        signal.throwIfAborted()
      }
      pending = false
    },
  }
}
