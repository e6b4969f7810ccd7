import assert from 'node:assert/strict'
import { test } from 'node:test'
import { skewToShow } from './clock-skew.ts'

test('a clock is shown when it is off by a minute, again when that changed much, and taken back when it is right', () => {
  const cases: [number, number, number | undefined][] = [
    [0, 900, undefined],
    [0, 59_000, undefined],
    [0, 61_000, 61],
    [0, -3_600_000, -3600],
    [61, 75_000, undefined],
    [61, 100_000, 100],
    [61, 45_000, undefined],
    [61, 5_000, 0],
    [-3600, -3_700_000, undefined],
    [-3600, -4_100_000, -4100],
    [3600, -3_600_000, -3600],
  ]
  for (const [shown, skewMs, next] of cases) assert.equal(skewToShow(shown, skewMs), next, `${shown} ${skewMs}`)
})
