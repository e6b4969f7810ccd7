import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createSortedSet, mergeSorted } from './sorted-set.ts'

const byNumber = (a: number, b: number) => a - b

test('property: a sorted set is a set in order, whatever goes in and out', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { maxLength: 4000 })
  fc.assert(
    fc.property(steps, (all) => {
      const sorted = createSortedSet(byNumber)
      const model = new Set<number>()
      for (const [isIn, value] of all) {
        if (isIn) model.add(value)
        else model.delete(value)
        if (isIn) sorted.add(value)
        else sorted.delete(value)
      }
      assert.deepEqual([...sorted], [...model].sort(byNumber))
      assert.equal(sorted.size, model.size)
    }),
    { numRuns: 100 },
  )
})

test('a set of many pieces stays in order', () => {
  const sorted = createSortedSet(byNumber)
  for (let i = 0; i < 5000; i++) sorted.add((i * 7919) % 5000)
  assert.deepEqual(
    [...sorted],
    Array.from({ length: 5000 }, (_, i) => i),
  )
  for (let i = 0; i < 5000; i += 2) sorted.delete(i)
  assert.deepEqual([...sorted].slice(0, 3), [1, 3, 5])
  assert.equal(sorted.size, 2500)
})

test('what compares equal is replaced', () => {
  const sorted = createSortedSet<{ key: number; word: string }>((a, b) => a.key - b.key)
  sorted.add({ key: 1, word: 'a' })
  sorted.add({ key: 1, word: 'b' })
  assert.deepEqual([...sorted], [{ key: 1, word: 'b' }])
})

test('several sets are read in one order, and no further than the reader goes', () => {
  const sets = [[1, 4, 9], [], [2, 3, 10]].map((values) => {
    const set = createSortedSet(byNumber)
    for (const value of values) set.add(value)
    return set
  })
  assert.deepEqual([...mergeSorted(sets, byNumber)], [1, 2, 3, 4, 9, 10])
})
