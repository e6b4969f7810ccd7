import assert from 'node:assert/strict'
import test from 'node:test'
import { goQuote, goQuotedRune } from './go-quote.ts'

test('texts are quoted as strconv.Quote does', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', '""'],
    ['plain é 😀', '"plain é 😀"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\u0007\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\u0000\u007f', '"\\x00\\x7f"'],
    ['\u00a0\u2028\u{e0001}', '"\\u00a0\\u2028\\U000e0001"'],
    ['\ud800', '"\ufffd"'],
  ]
  for (const [text, wanted] of cases) assert.equal(goQuote(text), wanted)
  assert.equal(goQuotedRune('é', '"', true), '\\u00e9')
  assert.equal(goQuotedRune("'", "'", false), "\\'")
})
