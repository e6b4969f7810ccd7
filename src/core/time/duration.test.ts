import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatDuration, parseDuration } from './duration.ts'

test('reads what Go reads', () => {
  const cases: [string, number | undefined][] = [
    ['0', 0],
    ['0s', 0],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['.5m', 30_000],
    ['-2m', -120_000],
    ['+250ms', 250],
    ['1us', 0.001],
    ['', undefined],
    ['-', undefined],
    ['5', undefined],
    ['1d', undefined],
    ['1 s', undefined],
    ['s', undefined],
    ['1h x', undefined],
  ]
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text)
})

test('writes what Go writes', () => {
  const cases: [number, string][] = [
    [0, '0s'],
    [250, '250ms'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [5_400_000, '1h30m0s'],
    [-3_600_000, '-1h0m0s'],
  ]
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text)
})

test('reads what it wrote', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), (ms) => {
      assert.ok(Math.abs(parseDuration(formatDuration(ms))! - ms) < 1e-3)
    }),
  )
})
