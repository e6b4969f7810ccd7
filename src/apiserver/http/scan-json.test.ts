import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { scanJson } from './scan-json.ts'

describe('scan of JSON text', () => {
  const cases: readonly [string, readonly string[]][] = [
    ['{}', []],
    ['{"a":1,"b":{"a":2}}', []],
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"rings":[{"x":1},{"x":1,"x":2}]}}', ['spec.rings[1].x']],
    [String.raw`{"a":1,"\u0061":2}`, ['a']],
    [String.raw`{"a\"b":"x\\","a\"b":"}"}`, ['a"b']],
    ['{"s":"{\\"a\\":1,\\"a\\":2}"}', []],
    ['[{"a":1},{"a":1}]', []],
    ['{"a":[1,2,[3,{"b":1,"b":2}]]}', ['a[2][1].b']],
  ]
  for (const [text, duplicates] of cases) {
    it(`${text} has ${duplicates.length === 0 ? 'no duplicates' : duplicates.join(', ')}`, () => {
      assert.deepEqual(
        scanJson(text).duplicates.map(({ path }) => path),
        duplicates,
      )
    })
  }

  for (const text of ['{"__proto__":1}', String.raw`{"a":[{"\u005f_proto__":{}}]}`]) {
    it(`sees that ${text} has an unsafe key`, () => assert.equal(scanJson(text).hasUnsafeKey, true))
  }

  it('takes no value for an unsafe key', () => assert.equal(scanJson('{"a":"__proto__"}').hasUnsafeKey, false))

  it('finds nothing in what JSON.stringify wrote', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(scanJson(JSON.stringify(value)).duplicates, [])))
  })

  it('refuses depth', () => {
    assert.match(scanJson('['.repeat(501)).problem ?? '', /deeper than 500/)
    assert.equal(scanJson('['.repeat(500)).problem, undefined)
  })

  it('survives any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', 'a') }),
        (text) => void scanJson(text),
      ),
    )
  })
})
