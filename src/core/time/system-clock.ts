import type { Clock } from './clock.ts'

/** The real clock; composition roots pass it down. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/** Runs something after all that is ready now has run; composition roots pass it to what gathers work per turn. */
export function nextTurn(run: () => void): void {
  setImmediate(run)
}
