import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createKeyedThrottle } from './keyed-throttle.ts'

test('each key waits for itself', async () => {
  const clock = createVirtualClock()
  const pace = createKeyedThrottle(clock, 1000)
  assert.equal(pace.waitMs('a'), 0)
  pace.note('a')
  await clock.advance(300)
  pace.note('b')
  assert.deepEqual([pace.waitMs('a'), pace.waitMs('b'), pace.waitMs('c')], [700, 1000, 0])
  await clock.advance(700)
  assert.deepEqual([pace.waitMs('a'), pace.waitMs('b')], [0, 300])
})
