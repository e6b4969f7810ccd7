import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearest } from './nearest-name.ts'

test('swapped neighbours are one edit', () => {
  assert.equal(editDistance('clutser', 'cluster'), 1)
  assert.equal(editDistance('', 'abc'), 3)
  assert.equal(editDistance('kitten', 'sitting'), 3)
})

test('the nearest name is suggested, and none when nothing is near', () => {
  const kinds = ['clusters', 'bundles', 'rollouts', 'releases']
  assert.equal(nearest('clutsers', kinds), 'clusters')
  assert.equal(nearest('Bundel', kinds), 'bundles')
  assert.equal(nearest('pods', kinds), undefined)
  assert.equal(nearest('x', kinds), undefined)
})
