import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { concatBytes, utf8, zstd } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import {
  decodeIndex,
  decodeSegment,
  encodeIndex,
  encodeSegment,
  extendIndex,
  INDEX_SEGMENTS,
  judgeRetention,
} from './segment.ts'
import type { IndexedSegment, JournalIndex } from './segment.ts'

const digest = (text: string) => digestOf(utf8(text))
const segmentAt = (number: number): IndexedSegment => ({
  number,
  digest: digest(`segment ${number}`),
  from: number * 10,
  to: number * 10 + 5,
  records: 1,
  bytes: 100,
})

/** Indexes of this many segments, newest first, with their digests. */
function indexesOf(count: number): { readonly index: JournalIndex; readonly digest: string }[] {
  let index: JournalIndex | undefined
  const full: { index: JournalIndex; digest: ReturnType<typeof digest> }[] = []
  for (let number = 1; number <= count; number++) {
    const before = index
    index = extendIndex('s', { index, digest: index && digestOf(encodeIndex(index)) }, segmentAt(number))
    if (before && index.segments.length === 1) full.unshift({ index: before, digest: digestOf(encodeIndex(before)) })
  }
  if (index) full.unshift({ index, digest: digestOf(encodeIndex(index)) })
  return full
}

describe('a segment', () => {
  const header = { stream: 'evidence-0', number: 7, previous: digest('before'), from: 1, to: 2 }

  it('gives back its header and records', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue().map((value) => JSON.stringify(value))), (records) => {
        const whole = { ...header, lost: { records: 3, from: 1, to: 2 }, began: { at: 1, unclean: true } }
        const decoded = decodeSegment(encodeSegment(whole, records))
        assert.deepEqual(decoded.records, records)
        assert.deepEqual(decoded.header, { format: 'flotilla.dev/segment/v1', ...whole, records: records.length })
      }),
    )
  })

  it('refuses what is not a segment', () => {
    const cases: [Uint8Array, RegExp][] = [
      [utf8('no line'), /has no header/],
      [utf8('no json\n'), /segment is not JSON/],
      [utf8('{"format":"flotilla.dev/segment/v2"}\n'), /^JournalError: segment/],
      [utf8(`${'x'.repeat(70_000)}\n`), /has no header/],
      [concatBytes([encodeSegment(header, ['{}']).subarray(0, -2)]), /cannot be decompressed/],
    ]
    for (const [bytes, message] of cases) assert.throws(() => decodeSegment(bytes), message)
    const whole = encodeSegment(header, ['{}'])
    const line = whole.subarray(0, whole.indexOf(0x0a) + 1)
    assert.throws(() => decodeSegment(concatBytes([line, zstd(utf8('{}\n{}'))])), /has 2 records, not 1/)
  })

  it('does not decompress more than it should', () => {
    const bomb = zstd(new Uint8Array(80 * 1024 * 1024))
    const whole = encodeSegment(header, ['{}'])
    const line = whole.subarray(0, whole.indexOf(0x0a) + 1)
    assert.throws(() => decodeSegment(concatBytes([line, bomb])), /cannot be decompressed/)
  })
})

describe('an index', () => {
  it('lists segments in order and is followed by a new one when it is full', () => {
    const indexes = indexesOf(2 * INDEX_SEGMENTS + 3)
    assert.deepEqual(
      indexes.map(({ index }) => index.segments.length),
      [3, INDEX_SEGMENTS, INDEX_SEGMENTS],
    )
    for (const [place, { index }] of indexes.entries()) assert.equal(index.previous, indexes[place + 1]?.digest)
    const numbers = indexes.flatMap(({ index }) => index.segments.map(({ number }) => number)).toSorted((a, b) => a - b)
    assert.deepEqual(
      numbers,
      Array.from({ length: 2 * INDEX_SEGMENTS + 3 }, (_, n) => n + 1),
    )
    for (const { index } of indexes) assert.deepEqual(decodeIndex(encodeIndex(index)), index)
  })

  it('refuses what is not an index', () => {
    const cases: [Uint8Array, RegExp][] = [
      [utf8('x'), /index is not JSON/],
      [utf8('{"format":"flotilla.dev/set/v1"}'), /^JournalError: index/],
      [new Uint8Array(2 * 1024 * 1024), /larger than/],
    ]
    for (const [bytes, message] of cases) assert.throws(() => decodeIndex(bytes), message)
  })

  it('property: the retention keeps the newer segments, and no index without one but the newest', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 0, max: 2200 }), (count, since) => {
        const indexes = indexesOf(count).map(({ index }) => index)
        const kept: JournalIndex[] = []
        for (const [place, index] of indexes.entries()) {
          const decided = judgeRetention(index, { since, isNewest: place === 0 })
          if (decided.isKept) kept.push(index)
          if (!decided.goesOn) break
        }
        const expected = indexes.filter((index, place) => place === 0 || index.segments.some(({ to }) => to >= since))
        assert.deepEqual(kept, expected)
      }),
    )
  })
})
