import assert from 'node:assert/strict'
import { test } from 'node:test'
import { concurrencyOf } from './concurrency.ts'

test('counts and percentages', () => {
  const table: [number | string, number, number][] = [
    [10, 3, 10],
    [0, 3, 0],
    ['25%', 100, 25],
    ['25%', 10, 2],
    ['10%', 3, 1],
    ['100%', 7, 7],
    ['5', 100, 5],
    ['many', 100, 0],
  ]
  for (const [concurrency, total, expected] of table)
    assert.equal(concurrencyOf(concurrency, total), expected, `${concurrency} of ${total}`)
})
