import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../core/crypto/digest.ts'
import { StoredDigests } from './stored-digests.ts'

const HOUR_MS = 3_600_000

test('what was stored is remembered for less than the time of the collector, and not more than so many', () => {
  const [a, b] = [digestOf('a'), digestOf('b')]
  const stored = new StoredDigests(1)
  stored.set('a', a, 0)
  assert.equal(stored.get('a', 11 * HOUR_MS), a)
  assert.equal(stored.get('a', 12 * HOUR_MS), undefined)
  stored.set('a', a, 12 * HOUR_MS)
  assert.equal(stored.get('a', 13 * HOUR_MS), a)
  stored.set('b', b, 13 * HOUR_MS)
  assert.deepEqual([stored.get('a', 13 * HOUR_MS), stored.get('b', 13 * HOUR_MS)], [undefined, b])
})
