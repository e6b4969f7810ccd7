import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHubTime } from './hub-time.ts'

test('the hub’s time goes on by itself, does not go back for slow words, and follows a hub that was set right', () => {
  let monotonicMs = 0
  const clock = { monotonicMs: () => monotonicMs, now: () => 99, sleep: async () => {} }
  const time = createHubTime(clock)
  assert.equal(time.now(), undefined, 'the machine’s own clock says nothing')
  const table: [afterMs: number, heardMs: number, thenMs: number][] = [
    [0, 1_000_000, 1_000_000],
    [5_000, 1_004_000, 1_005_000],
    [1_000, 1_100_000, 1_100_000],
    [0, 1_040_000, 1_100_000],
    [0, 1_039_999, 1_039_999],
  ]
  for (const [afterMs, heardMs, thenMs] of table) {
    monotonicMs += afterMs
    time.hear(heardMs)
    assert.equal(time.now(), thenMs, `heard ${heardMs}`)
  }
  monotonicMs += 7
  assert.equal(time.now(), 1_040_006)
})
