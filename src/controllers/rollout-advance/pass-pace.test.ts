import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createPassPace } from './pass-pace.ts'

describe('the pace of passes', () => {
  it('is the rest of a Rollout that is alone', async () => {
    const clock = createVirtualClock()
    const pace = createPassPace(clock)
    assert.equal(pace.waitMs('a'), 0)
    pace.note('a', 300)
    assert.equal(pace.waitMs('a'), 300)
    await clock.advance(200)
    assert.equal(pace.waitMs('a'), 100)
    pace.note('a', 300)
    assert.equal(pace.waitMs('a'), 300)
    pace.note('a', 0)
    assert.equal(pace.waitMs('a'), 0)
  })

  it('lets the passes of many Rollouts together take no more time than those of one', async () => {
    const clock = createVirtualClock()
    const pace = createPassPace(clock)
    const keys = Array.from({ length: 8 }, (_, n) => `rollout-${n}`)
    let passes = 0
    for (let second = 0; second < 60; second++) {
      for (const key of keys.filter((one) => pace.waitMs(one) === 0)) {
        pace.note(key, 500)
        passes += 1
      }
      await clock.advance(100)
    }
    // One alone has a pass each 500 ms, which is 12 in these 6 s.
    assert.ok(passes <= 12 + keys.length, String(passes))
  })

  it('delays a small Rollout little, and none for more than five seconds', async () => {
    const clock = createVirtualClock()
    const pace = createPassPace(clock)
    for (let n = 0; n < 50; n++) pace.note(`large-${n}`, 2000)
    assert.equal(pace.waitMs('large-49'), 5000)
    pace.note('small', 1)
    assert.equal(pace.waitMs('small'), 51)
    pace.note('huge', 8000)
    assert.equal(pace.waitMs('huge'), 8000)
    await clock.advance(8000)
    pace.note('small', 1)
    assert.equal(pace.waitMs('small'), 1)
  })
})
