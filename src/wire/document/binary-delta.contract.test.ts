import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { equalBytes, utf8 } from '../../core/bytes.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { decodeDelta, encodeDelta } from './binary-delta.ts'

const LIMIT = 64 * 1024 * 1024

function lines(megabytes: number): string[] {
  const ids = countingIds(7)
  const found: string[] = []
  for (let size = 0; size < megabytes * 1_000_000; size += found.at(-1)!.length) {
    found.push(`  key-${ids.fraction()}: value-${ids.fraction()}\n`)
  }
  return found
}

describe('a difference', () => {
  for (const megabytes of [5, 20]) {
    it(`of one line in ${megabytes} MB is about one line, and of several lines about as many`, () => {
      const before = lines(megabytes)
      const base = utf8(before.join(''))
      const change = (at: readonly number[]) => {
        const after = [...before]
        for (const place of at) after[Math.floor(place * after.length)] = `  changed: here at ${place}\n`
        return utf8(after.join(''))
      }
      const one = change([0.3])
      const small = encodeDelta(one, base)
      assert.ok(small.byteLength < 200, `${small.byteLength} bytes`)
      assert.ok(equalBytes(decodeDelta(small, LIMIT, base), one))
      // At both ends and in between: nothing to trim, and more than a dictionary holds.
      const several = change([0, 0.25, 0.5, 0.75, 0.999999])
      const larger = encodeDelta(several, base)
      assert.ok(larger.byteLength < 20_000, `${larger.byteLength} bytes`)
      assert.ok(equalBytes(decodeDelta(larger, LIMIT, base), several))
    })
  }
})
