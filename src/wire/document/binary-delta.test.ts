import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { equalBytes, utf8 } from '../../core/bytes.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { decodeDelta, encodeDelta } from './binary-delta.ts'
import { WireError } from '../validate.ts'

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
  it('brings the target back, whatever it and its base are', () => {
    const bytes = fc.uint8Array({ maxLength: 300 })
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (a, b, c, d) => {
        for (const [target, base] of [
          [Buffer.concat([a, b, c]), Buffer.concat([a, d, c])],
          [a, b],
          [a, a],
          [Buffer.concat([a, a]), a],
        ] as const) {
          assert.ok(equalBytes(decodeDelta(encodeDelta(target, base), LIMIT, base), new Uint8Array(target)))
          assert.ok(equalBytes(decodeDelta(encodeDelta(target), LIMIT), new Uint8Array(target)))
        }
      }),
    )
  })

  it('that is cut, bent or of another base is refused, and never larger than allowed', () => {
    const base = utf8(lines(0.05).join(''))
    const target = utf8(`${lines(0.05).slice(30).join('')}more`)
    const whole = encodeDelta(target, base)
    for (let length = 0; length < whole.byteLength; length += 7) {
      assert.throws(() => decodeDelta(whole.subarray(0, length), LIMIT, base), WireError)
    }
    assert.throws(() => decodeDelta(Uint8Array.of(...whole, 0), LIMIT, base), /bytes at its end/)
    assert.throws(() => decodeDelta(whole, LIMIT, base.subarray(0, 20)), WireError)
    assert.throws(() => decodeDelta(encodeDelta(new Uint8Array(1_000_000)), 1000), /more than 1000 bytes/)
    fc.assert(
      fc.property(fc.nat(whole.byteLength - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bent = whole.slice()
        bent[at] = bent[at]! ^ flip
        try {
          // The digest of the target is what tells; here it must only not harm.
          assert.ok(decodeDelta(bent, LIMIT, base).byteLength <= LIMIT)
        } catch (caught) {
          assert.ok(caught instanceof WireError, String(caught))
        }
      }),
      { numRuns: 60 },
    )
  })
})
