import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { backoffMs } from './backoff.ts'
import { formatMicroTime, formatTime, humanAge, parseTime } from './time.ts'

describe('time', () => {
  test('formats as Kubernetes does and reads back', () => {
    const ms = Date.UTC(2026, 10, 16, 0, 20, 50, 123)
    assert.equal(formatTime(ms), '2026-11-16T00:20:50Z')
    assert.equal(formatMicroTime(ms), '2026-11-16T00:20:50.123000Z')
    assert.equal(parseTime(formatMicroTime(ms)), ms)
    assert.equal(parseTime('2026-11-16T01:20:50+01:00'), ms - 123)
  })

  for (const text of ['', 'yesterday', '2026-11-16', '2026-13-16T00:00:00Z', '2026-11-16 00:00:00Z']) {
    test(`${JSON.stringify(text)} is not a time`, () => assert.equal(parseTime(text), undefined))
  }

  const ages: readonly [number, string][] = [
    [-1, '<invalid>'],
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [190, '3m10s'],
    [11 * 60, '11m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 60 * 20, '3h20m'],
    [9 * 3600 + 60, '9h'],
    [49 * 3600, '2d1h'],
    [9 * 86400, '9d'],
    [800 * 86400, '2y70d'],
  ]
  for (const [seconds, text] of ages) {
    test(`${seconds} s is ${text}`, () => assert.equal(humanAge(seconds * 1000), text))
  }
})

describe('backoff', () => {
  const options = { baseMs: 100, maxMs: 10_000, jitter: 0.5 }
  test('doubles up to the cap and jitter only shortens', () => {
    assert.deepEqual(
      [0, 1, 2, 6, 7, 99].map((failures) => backoffMs(failures, 0, options)),
      [100, 200, 400, 6400, 10_000, 10_000],
    )
    assert.equal(backoffMs(0, 1, options), 50)
  })
})
