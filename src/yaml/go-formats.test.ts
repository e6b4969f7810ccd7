import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { goJson } from './go-json.ts'
import { goQuote } from '../core/text/go-quote.ts'
import { goFloat, goFloat32, goUtf8 } from './go-text.ts'
import { compareKeys } from './write/key-order.ts'
import { isMarkedString, longTag, makeNode, makeString, shortTag, tagOf } from './node.ts'
import { resolvePlain } from './resolve-scalar.ts'
import { formatTimestamp, parseTimestamp } from './timestamp.ts'

describe('Go text', () => {
  it('prints floats as strconv does', () => {
    const cases: [number, string][] = [
      [0, '0'],
      [-0, '-0'],
      [1, '1'],
      [100000, '100000'],
      [1e6, '1e+06'],
      [1234567.5, '1.2345675e+06'],
      [0.0001, '0.0001'],
      [0.00001, '1e-05'],
      [1e100, '1e+100'],
      [0.1, '0.1'],
      [Infinity, '+Inf'],
      [NaN, 'NaN'],
    ]
    for (const [x, text] of cases) assert.equal(goFloat(x), text)
  })

  it('prints the shortest 32-bit float, with ties to the even digit', () => {
    assert.equal(goFloat32(0.1), '0.1')
    assert.equal(goFloat32(1.23456789), '1.2345679')
    assert.equal(goFloat32(2171681.25), '2.1716812e+06')
    assert.equal(goFloat32(16777216), '1.6777216e+07')
  })

  it('quotes strings as strconv does', () => {
    assert.equal(goQuote('a"b\\c\n\t\x00\x7fé\u00a0😀\u{10ffff}'), '"a\\"b\\\\c\\n\\t\\x00\\x7fé\\u00a0😀\\U0010ffff"')
  })

  it('replaces each bad byte by one U+FFFD', () => {
    assert.equal(goUtf8(Uint8Array.of(0xe2, 0x80, 0x61, 0xff, 0xed, 0xa0, 0x80, 0xc3, 0xa9)), '��a����é')
  })

  it('writes JSON as encoding/json does', () => {
    assert.equal(
      goJson({ b: '<&>\u2028', a: [1e21, 1e-7, 5n, undefined] }),
      '{"a":[1e+21,1e-7,5,null],"b":"\\u003c\\u0026\\u003e\\u2028"}',
    )
    assert.equal(goJson({ '\ufffd': 1, '😀': 2 }), '{"\ufffd":1,"😀":2}')
  })
})

describe('the order of keys', () => {
  const sorted = (v3: boolean, ...keys: string[]): string => keys.sort((a, b) => compareKeys(a, b, v3)).join(' ')

  it('is natural', () => {
    assert.equal(
      sorted(false, 'a10', 'a9', 'b', 'A', 'a', '_', '1', '10', '9', 'a01', 'a1'),
      '_ 1 9 10 A a a1 a01 a9 a10 b',
    )
    assert.equal(sorted(false, 'a-b', 'ab', 'a.b', 'aB'), 'a-b a.b aB ab')
    assert.equal(sorted(false, 'x100', 'x1000', 'x10'), 'x10 x100 x1000')
  })

  it('differs between the versions after digits', () => {
    assert.equal(sorted(false, '1a', '1-'), '1- 1a')
    assert.equal(sorted(true, '1a', '1-'), '1a 1-')
  })

  it('compares whole characters', () => {
    assert.equal(sorted(false, '😀b', '😀a', '\ufffd', '𝒜', 'z'), '\ufffd 😀a 😀b z 𝒜')
  })
})

describe('timestamps', () => {
  const formatted = (text: string): string | undefined => {
    const timestamp = parseTimestamp(text)
    return timestamp && (formatTimestamp(timestamp) ?? 'refused')
  }

  it('are what time.Parse takes', () => {
    assert.equal(formatted('2001-1-2'), '2001-01-02T00:00:00Z')
    assert.equal(formatted('2001-12-14t21:59:43.10-05:00'), '2001-12-14T21:59:43.1-05:00')
    assert.equal(formatted('2001-12-14   1:2:3,5'), '2001-12-14T01:02:03.5Z')
    assert.equal(formatted('2001-12-14T1:2:3.1234567899Z'), '2001-12-14T01:02:03.123456789Z')
    assert.equal(formatted('2001-12-14T1:2:3+01:60'), '2001-12-14T01:02:03+02:00')
    assert.equal(formatted('2001-12-14T1:2:3+24:00'), 'refused')
    for (const text of [
      '2001-02-29',
      '2001-13-01',
      '2001-1-2T',
      '2001-1-2T1:2',
      '2001-1-2T1:2:3',
      '2001-1-2 1:2:3Z',
      '201-1-2',
      '2001-1-2x',
    ]) {
      assert.equal(formatted(text), undefined, text)
    }
    assert.equal(formatted('2000-02-29'), '2000-02-29T00:00:00Z')
  })
})

describe('nodes', () => {
  it('have the tag their text or style says', () => {
    assert.equal(tagOf(makeNode('scalar', { value: '1' })), '!!int')
    assert.equal(tagOf(makeString('1')), '!!str')
    assert.equal(tagOf(makeNode('mapping')), '!!map')
    assert.equal(tagOf(makeNode('alias', { alias: makeNode('sequence') })), '!!seq')
    assert.ok(isMarkedString(makeNode('scalar', { value: '1', style: 2 })))
    assert.equal(shortTag(longTag('!!float')), '!!float')
  })

  it('resolve by the rules of their version', () => {
    assert.deepEqual(resolvePlain('on', '1.1'), { tag: '!!bool', value: true })
    assert.deepEqual(resolvePlain('on', '1.2'), { tag: '!!str', value: 'on' })
    assert.deepEqual(resolvePlain('18446744073709551615', '1.1'), { tag: '!!int', value: 18446744073709551615n })
  })
})
