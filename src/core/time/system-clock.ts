import type { Clock } from './clock.ts'

/** Timers of Node that are set for longer end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The real clock; composition roots pass it down. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    for (let left = ms; ; left -= MAX_TIMER_MS) {
      await sleepOnce(Math.min(left, MAX_TIMER_MS), signal)
      if (left <= MAX_TIMER_MS) return
    }
  },
}

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
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
  })
}

/** Runs something after all that is ready now has run; composition roots pass it to what gathers work per turn. */
export function nextTurn(run: () => void): void {
  setImmediate(run)
}
