import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { heardSilence, lateness } from './fleet-truth.ts'

test('late is who begins after the start-by on the hub’s clock and in the time that really passed', async () => {
  const table: [passMs: number, jumpMs: number, lateMs: number, why: string][] = [
    [80_000, 0, -10_000, 'in time'],
    [100_000, 0, 10_000, 'late'],
    [5_000, 180_000, -85_000, 'the hub was set ahead while the write was on its way'],
    [100_000, 180_000, 10_000, 'late before the hub was set ahead, and after'],
    [100_000, -120_000, -110_000, 'the hub was set back: it says itself that there is time'],
    [400_000, -120_000, 190_000, 'and then there is none'],
  ]
  for (const [passMs, jumpMs, lateMs, why] of table) {
    const clock = createVirtualClock()
    const startBy = { atMs: clock.now() + 90_000, inMs: 90_000, signedAtMs: clock.monotonicMs() }
    await clock.advance(passMs)
    clock.jumpWall(jumpMs)
    assert.equal(lateness(startBy, clock), lateMs, why)
  }
})

test('silence counts while it could be heard: by the hub, or by another one while it is away', () => {
  const base = { nowMs: 500, heardMs: 100, endedMs: Number.NEGATIVE_INFINITY, hubSinceMs: 0, lateMs: 70 }
  const table: [facts: Partial<typeof base & { otherSinceMs: number }>, silentMs: number, why: string][] = [
    [{}, 400, 'since it was heard'],
    [{ hubSinceMs: 450 }, 50, 'not from before the hub was there'],
    [{ hubSinceMs: 450, otherSinceMs: 50 }, 400, 'the other one was, and nobody need know yet that the hub is back'],
    [{ hubSinceMs: 450, otherSinceMs: 300 }, 200, 'as long as it was'],
    [{ hubSinceMs: 450, otherSinceMs: 480 }, 50, 'it came later'],
    [{ hubSinceMs: 400, otherSinceMs: 50 }, 100, 'everybody knows that the hub is back'],
    [{ hubSinceMs: 450, otherSinceMs: 50, heardMs: 490 }, 10, 'whoever was heard is there'],
    [{ heardMs: 490, endedMs: 440 }, Number.POSITIVE_INFINITY, 'a silence that was long enough ended just now'],
    [{ heardMs: 490, endedMs: 400 }, 10, 'and that is known'],
  ]
  for (const [facts, silentMs, why] of table) assert.equal(heardSilence({ ...base, ...facts }), silentMs, why)
})
