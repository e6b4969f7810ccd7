import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { lateness } from './fleet-truth.ts'

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
