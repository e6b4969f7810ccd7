import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareText } from './compare-text.ts'
import { nameSome, plural } from './name-some.ts'

test('names beyond the limit are counted, equal names once', () => {
  assert.equal(nameSome([]), '')
  assert.equal(nameSome(['a', 'b', 'c']), 'a, b, c')
  assert.equal(nameSome(['a', 'b', 'a', 'c']), 'a, b, c')
  assert.equal(nameSome(['a', 'b', 'c', 'd', 'e']), 'a, b, c and 2 more')
  assert.equal(nameSome(['a', 'b', 'c'], 2), 'a, b and 1 more')
})

test('a count of one has the singular', () => {
  assert.equal(plural(0, 'cluster'), '0 clusters')
  assert.equal(plural(1, 'cluster'), '1 cluster')
  assert.equal(plural(2, 'cluster'), '2 clusters')
  assert.equal(plural(2, 'entry', 'entries'), '2 entries')
})

test('text is ordered by code unit, not by locale', () => {
  assert.deepEqual(['b', 'a', 'B', 'a'].sort(compareText), ['B', 'a', 'a', 'b'])
})
