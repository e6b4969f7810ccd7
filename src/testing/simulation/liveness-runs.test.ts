import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createListener, observableSilence } from './liveness-runs.ts'
import type { SilenceFacts } from './liveness-runs.ts'

test('silence counts while it could be heard: by the hub, or by another one while it is away', () => {
  const base = { nowMs: 500, heardMs: 100, endedMs: Number.NEGATIVE_INFINITY, lateMs: 70 }
  const always = { sinceMs: 0, backMs: 0, deafMs: 0 }
  const since = (ms: number) => ({ sinceMs: ms, backMs: ms, deafMs: 0 })
  const table: [facts: Partial<SilenceFacts>, silentMs: number, why: string][] = [
    [{}, 400, 'since it was heard'],
    [{ hub: since(450) }, 50, 'not from before the hub was there'],
    [
      { hub: since(450), otherSinceMs: 50 },
      400,
      'the other hub was there, and the return of the hub need not be known yet',
    ],
    [{ hub: since(450), otherSinceMs: 300 }, 200, 'as long as it was'],
    [{ hub: since(450), otherSinceMs: 480 }, 50, 'it came later'],
    [{ hub: since(400), otherSinceMs: 50 }, 100, 'the return of the hub is known'],
    [{ hub: since(450), otherSinceMs: 50, heardMs: 490 }, 10, 'a cluster that was heard is there'],
    [{ heardMs: 490, endedMs: 440 }, Number.POSITIVE_INFINITY, 'a silence that was long enough ended just now'],
    [{ heardMs: 490, endedMs: 400 }, 10, 'and that is known'],
    [{ hub: { sinceMs: 0, backMs: 320, deafMs: 20 } }, 380, 'not while the hub stood still for a moment'],
    [{ hub: { sinceMs: 0, backMs: 480, deafMs: 20 }, otherSinceMs: 0 }, 400, 'in which another one heard'],
  ]
  for (const [facts, silentMs, why] of table)
    assert.equal(observableSilence({ ...base, hub: always, ...facts }), silentMs, why)
})

test('a process hears from its start on, not while it stands still, and begins anew after a long pause', () => {
  let life = 1
  let isPaused = false
  let now = 0
  const listener = createListener()
  const pass = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      now += 1_000
      listener.look({ incarnation: () => life, paused: () => isPaused }, now)
    }
  }
  pass(10)
  assert.deepEqual(listener.heardFrom(0), { sinceMs: 1_000, backMs: 1_000, deafMs: 0 })
  isPaused = true
  pass(10)
  isPaused = false
  pass(10)
  assert.deepEqual(listener.heardFrom(5_000), { sinceMs: 1_000, backMs: 21_000, deafMs: 8_000 }, 'to two seconds')
  assert.equal(listener.heardFrom(25_000).deafMs, 0, 'heard after it')
  isPaused = true
  pass(40)
  isPaused = false
  pass(10)
  assert.deepEqual(listener.heardFrom(5_000), { sinceMs: 70_000, backMs: 71_000, deafMs: 0 })
  life = 2
  pass(10)
  assert.deepEqual(listener.heardFrom(5_000), { sinceMs: 81_000, backMs: 81_000, deafMs: 0 })
})
