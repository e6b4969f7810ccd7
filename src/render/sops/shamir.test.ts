import assert from 'node:assert/strict'
import { test } from 'node:test'
import { joinShares } from './shamir.ts'

const share = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes)

test('shares on a line give its value at 0', () => {
  // 42 + 7x over GF(2^8): 42 ^ 7 at 1, 42 ^ 14 at 2.
  assert.deepEqual([...joinShares([share(42 ^ 7, 1), share(42 ^ 14, 2)])], [42])
})

test('shares that cannot be joined are refused', () => {
  assert.throws(() => joinShares([share(1, 1)]), /less than two parts/)
  assert.throws(() => joinShares([share(1), share(2)]), /at least two bytes/)
  assert.throws(() => joinShares([share(1, 1), share(2, 2, 2)]), /same length/)
  assert.throws(() => joinShares([share(1, 1), share(2, 1)]), /duplicate part/)
})
