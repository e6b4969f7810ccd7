import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { digestOfJson, isDigest } from './crypto/digest.ts'
import { canonicalJson, jsonClone, jsonEqual, measureJson } from './json.ts'

function shuffledKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffledKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, shuffledKeys(item)]),
  )
}

describe('canonical JSON', () => {
  test('reads back as the same value, and key order does not count', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        assert.ok(jsonEqual(JSON.parse(text), JSON.parse(JSON.stringify(value))))
        assert.equal(canonicalJson(shuffledKeys(value)), text)
        assert.ok(isDigest(digestOfJson(value)))
      }),
    )
  })

  test('equal values have equal text and unequal ones do not', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        assert.equal(jsonEqual(a, b), canonicalJson(a) === canonicalJson(b))
      }),
    )
  })

  test('a copy shares nothing, and a field __proto__ is a field', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.ok(jsonEqual(jsonClone(value), value))))
    const value = JSON.parse('{"a":[{"b":1}],"__proto__":{"c":2}}') as { a: { b: number }[] }
    const copy = jsonClone(value)
    assert.deepEqual(Object.keys(copy), ['a', '__proto__'])
    assert.equal(Object.getPrototypeOf(copy), Object.prototype)
    copy.a[0]!.b = 3
    assert.equal(value.a[0]!.b, 1)
  })

  test('a measure is that of the text, for objects and for maps, however deep they are', () => {
    const mapsOf = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(mapsOf)
      if (typeof value !== 'object' || value === null) return value
      return new Map(Object.entries(value).map(([key, item]) => [key, mapsOf(item)]))
    }
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // Escapes count once.
        const text = JSON.stringify(value).replaceAll(/\\(u[0-9a-f]{4}|.)/g, 'x')
        assert.equal(measureJson(value).length, text.length)
        assert.deepEqual(measureJson(mapsOf(value)), measureJson(value))
      }),
    )
    assert.deepEqual(
      [1, [], {}, [[1], []], { a: { b: [1] } }].map((value) => measureJson(value).depth),
      [0, 1, 1, 2, 3],
    )
    let deep: unknown = 0
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    assert.deepEqual(measureJson(deep), { length: 200_001, depth: 100_000 })
  })

  test('an undefined field is an absent field', () => {
    assert.equal(canonicalJson({ a: undefined, b: 1 }), '{"b":1}')
    assert.ok(jsonEqual({ a: undefined, b: 1 }, { b: 1 }))
    assert.ok(!jsonEqual({ a: 1 }, { b: 1 }))
  })
})
