import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { columnsOf, cutLine, wrapText } from './screen-text.ts'

const plain = (_color: string, text: string): string => text

test('a line is cut by columns: wide characters take two, and none is halved', () => {
  assert.equal(cutLine(['ab', { text: 'cd', color: 'red' }], 3, plain), 'abc')
  assert.equal(cutLine(['日本'], 3, plain), '日')
  assert.equal(cutLine(['e\u0301x'], 1, plain), 'e\u0301')
  assert.equal(
    cutLine([{ text: 'ab', color: 'red' }], 9, (color, text) => `<${color}>${text}`),
    '<red>ab',
  )
})

test('nothing in an object is obeyed by the terminal', () => {
  const shown = cutLine(['a\u001b[2Jb\u0007\r\n\u009b1m\u202ec'], 80, plain)
  assert.doesNotMatch(shown, /[\p{Cc}\u202e]/u)
  assert.match(shown, /^a \[2Jb {4}1m c$/)
})

test('a text is wrapped between words, and in words that are too long', () => {
  assert.deepEqual(wrapText('one two three', 8), ['one two', 'three'])
  assert.deepEqual(wrapText('abcdefghij k', 4), ['abcd', 'efgh', 'ij k'])
  assert.deepEqual(wrapText('a\nb', 9), ['a', 'b'])
})

test('no line of any text is wider than asked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 40 }), (text, columns) => {
      assert.ok(columnsOf(cutLine([text, text], columns, plain)) <= columns)
      for (const line of wrapText(text, columns)) assert.ok(columnsOf(line) <= columns, JSON.stringify(line))
    }),
  )
})
