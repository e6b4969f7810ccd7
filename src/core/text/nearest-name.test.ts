import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearestName } from './nearest-name.ts'

test('swapped neighbours are one edit', () => {
  assert.equal(editDistance('clutser', 'cluster'), 1)
  assert.equal(editDistance('', 'abc'), 3)
  assert.equal(editDistance('kitten', 'sitting'), 3)
})

test('the nearest name is suggested, and none when nothing is near', () => {
  const kinds = ['clusters', 'bundles', 'rollouts', 'releases']
  assert.equal(nearestName('clutsers', kinds), 'clusters')
  assert.equal(nearestName('Bundel', kinds), 'bundles')
  assert.equal(nearestName('pods', kinds), undefined)
  assert.equal(nearestName('x', kinds), undefined)
})
