/**
 * The real clock in the place of a virtual one: time passes by itself, and who lets it pass only waits for what it
 * brings.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../core/time/system-clock.ts'
import type { VirtualClock } from '../../sim/kernel/virtual-clock.ts'

const LOOK_MS = 50

/** For suites that run on a virtual clock, where their home is a real server. */
export const passingClock: VirtualClock = {
  ...systemClock,
  settle: () => sleep(LOOK_MS),
  advance: (ms) => sleep(Math.min(ms, LOOK_MS)),
  runUntilIdle: () => sleep(LOOK_MS),
  async runUntil(holds, { withinMs, what }) {
    const end = performance.now() + withinMs
    while (!(await holds())) {
      if (performance.now() > end) throw new Error(`${what} did not happen within ${withinMs / 1000} s`)
      await sleep(LOOK_MS)
    }
  },
  sleepers: () => 0,
  standStill: () => {
    throw new Error('the real clock cannot stand still')
  },
  jumpWall: () => {
    throw new Error('the real clock cannot be set')
  },
}
