import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hex, sha256 } from '../bytes.ts'
import { smallSha256 } from './small-sha256.ts'

test('every length around a block gives the same digest as OpenSSL', () => {
  for (let length = 0; length <= 200; length += 1) {
    const bytes = new Uint8Array(length).fill(0xa5)
    assert.equal(hex(smallSha256(bytes)), hex(sha256(bytes)), String(length))
  }
})

test('so do any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), (bytes) => {
      assert.equal(hex(smallSha256(bytes)), hex(sha256(bytes)))
    }),
  )
})
