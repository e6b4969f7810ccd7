import assert from 'node:assert/strict'
import { test } from 'node:test'
import { afterRerender, rerenderDelayMs } from './rerender.ts'
import type { Rerenders } from './rerender.ts'

test('a change is answered soon, and later each time while content goes on changing', () => {
  let before: Rerenders | undefined
  let now = 0
  const waits: number[] = []
  for (let time = 0; time < 10; time++) {
    const wait = rerenderDelayMs(before, now)
    waits.push(wait / 1000)
    now += wait
    before = afterRerender(before, now)
  }
  assert.deepEqual(waits, [2, 4, 8, 16, 32, 64, 128, 256, 256, 256])
  assert.equal(rerenderDelayMs(before, now + 600_001), 2000, 'after some quiet, soon again')
  assert.deepEqual(afterRerender(before, now + 600_001), { times: 1, atMs: now + 600_001 })
})
