import type { Clock } from '../../core/time/clock.ts'
import { quiescence, watchQuiescence } from './quiescence.ts'
import { createTimers } from './timers.ts'

/** A clock that stands still until it is driven. All promise jobs finish between any two timers. */
export interface VirtualClock extends Clock {
  /** Runs all work that needs no time. */
  settle(): Promise<void>
  /** Lets time pass: every sleeper due within it wakes, in order of time, then of going to sleep. */
  advance(ms: number): Promise<void>
  /** Lets time pass until there are no sleepers, or `withinMs` have passed; for simulations that come to an end. */
  runUntilIdle(withinMs?: number): Promise<void>
  /**
   * Lets time pass until a condition holds, checked after every sleeper. Throws when it does not hold within
   * `withinMs`.
   */
  runUntil(holds: () => boolean | Promise<boolean>, options: RunUntilOptions): Promise<void>
  /** How many sleep. */
  sleepers(): number
  /** Lets time pass without running any sleeper, as in a suspended process; afterwards all sleepers are late. */
  standStill(ms: number): void
  /** Moves wall time alone, as when an administrator sets the machine's clock. */
  jumpWall(ms: number): void
}

/** The limit of a wait, and its name for the error. */
export interface RunUntilOptions {
  readonly withinMs: number
  readonly what: string
}

// 2026-01-01T00:00:00Z: far from zero, so that a time is not confused with a duration.
const START_MS = 1_767_225_600_000

// No scenario needs this many timers at one moment: a loop sleeps for 0 ms.
const MAX_TIMERS_PER_MOMENT = 100_000

/** Makes a virtual clock. It counts whole milliseconds: a sleep ends at or after its time, as with a real timer. */
export function createVirtualClock(startMs: number = START_MS): VirtualClock {
  watchQuiescence()
  const timers = createTimers()
  let elapsed = 0
  let wallOffset = startMs
  let firedNow = 0

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const at = elapsed + Math.max(0, Math.ceil(ms))
      if (!Number.isFinite(at)) {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        return
      }
      const onAbort = () => {
        timers.cancel(timer)
        reject(signal?.reason)
      }
      const timer = timers.add(at, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  async function stepUpTo(limit: number): Promise<boolean> {
    const timer = timers.peek()
    if (!timer || timer.at > limit) return false
    timers.pop()
    firedNow = timer.at <= elapsed ? firedNow + 1 : 0
    if (firedNow > MAX_TIMERS_PER_MOMENT) throw new Error(`time stands still at ${elapsed} ms: a loop sleeps for 0 ms`)
    elapsed = Math.max(elapsed, timer.at)
    timer.fire()
    await quiescence()
    return true
  }

  return {
    now: () => wallOffset + elapsed,
    monotonicMs: () => elapsed,
    sleep,
    settle: quiescence,
    sleepers: timers.size,
    standStill: (ms) => {
      elapsed += Math.ceil(ms)
    },
    jumpWall: (ms) => {
      wallOffset += ms
    },
    advance: async (ms) => {
      const target = elapsed + Math.ceil(ms)
      await quiescence()
      while (await stepUpTo(target));
      elapsed = target
    },
    runUntilIdle: async (withinMs = Infinity) => {
      const limit = elapsed + withinMs
      await quiescence()
      while (await stepUpTo(limit));
    },
    runUntil: async (holds, { withinMs, what }) => {
      const limit = elapsed + withinMs
      await quiescence()
      while (!(await holds())) {
        if (await stepUpTo(limit)) continue
        throw new Error(`${what}: not within ${withinMs / 1000} simulated seconds`)
      }
    },
  }
}
