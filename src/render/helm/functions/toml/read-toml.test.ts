import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formatValue } from '../../../gotemplate/format.ts'
import { readToml, TomlError } from './read-toml.ts'

function outcome(text: string, toml11: boolean): string {
  try {
    return formatValue(readToml(text, toml11))
  } catch (error) {
    if (error instanceof TomlError) return error.message
    throw error
  }
}

describe('readToml', () => {
  const SAME: readonly (readonly [string, string])[] = [
    ['a = 1_000\nb.c = "x"\n[[d]]\ne = [1.5, {f = true}]', 'map[a:1000 b:map[c:x] d:[map[e:[1.5 map[f:true]]]]]'],
    ['a = 1979-05-27 07:32:00', 'map[a:1979-05-27 07:32:00 +0000 datetime-local]'],
    ['a = 01', 'toml: line 1 (last key "a"): Invalid integer "01": cannot have leading zeroes'],
    ['a = 1_', 'toml: line 1 (last key "a"): Invalid integer "1_": underscores must be surrounded by digits'],
    ['a = 0x8000000000000000', 'toml: line 1 (last key "a"): 0x8000000000000000 is out of range for int64'],
    ['[t]\n\nb = "x\n"', 'toml: line 3 (last key "t.b"): strings cannot contain newlines'],
    [
      '[t]\n"b c".d = 1\n"b c".d = 2',
      `toml: line 3 (last key "t.\\"b c\\".d"): Key 't."b c".d' has already been defined.`,
    ],
    // After an entry of braces its key is still the last one; before it, the table's.
    [
      'a = {b = 1 c = 2}',
      `toml: line 1 (last key "a.b"): expected a comma or an inline table terminator '}', but got 'c' instead`,
    ],
    ['a = {=}', `toml: line 1 (last key "a"): unexpected '=': key name appears blank`],
    // The line of an end that is no line end is one too low, as in Go.
    ['a = "\\', `toml: line 0 (last key "a"): invalid escape in string '\\\0'`],
    ['a = "\udcff"', 'toml: line 1 (last key "a"): invalid UTF-8 byte: 0xff'],
    ['\0', 'toml: line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8'],
  ]
  for (const [text, wanted] of SAME) {
    test(`${JSON.stringify(text)} is the same in both versions`, () => {
      assert.equal(outcome(text, true), wanted)
      assert.equal(outcome(text, false), wanted)
    })
  }

  const APART: readonly (readonly [string, string, string])[] = [
    ['a = [1]\na = [2]', `toml: line 2 (last key "a"): Key 'a' has already been defined.`, 'map[a:[2]]'],
    ['a = {b = 1,\n}', 'map[a:map[b:1]]', 'toml: line 1 (last key "a.b"): newlines not allowed within inline tables'],
    ['a = {b = 1,}', 'map[a:map[b:1]]', 'toml: line 1 (last key "a.b"): trailing comma not allowed in inline tables'],
    ['a = "\\x41"', 'map[a:A]', `toml: line 1 (last key "a"): invalid escape in string '\\x'`],
    [
      'a = 07:32',
      'map[a:0000-01-01 07:32:00 +0000 time-local]',
      'toml: line 1 (last key "a"): invalid datetime: "07:32"',
    ],
  ]
  for (const [text, newer, older] of APART) {
    test(`${JSON.stringify(text)} is told apart`, () => {
      assert.equal(outcome(text, true), newer)
      assert.equal(outcome(text, false), older)
    })
  }

  test('whatever is put together is a table or said to be none, with its line', () => {
    const pieces = [
      'a',
      '=',
      '.',
      '1',
      '"',
      "'''",
      '\\',
      '\n',
      '\r\n',
      '[',
      ']',
      '{',
      '}',
      ',',
      '#',
      '+',
      '0x',
      'é',
      '\udcff',
      '',
    ]
    for (const toml11 of [true, false]) {
      for (const first of pieces)
        for (const second of pieces)
          for (const third of pieces) {
            assert.match(outcome(`a = ${first}${second}${third}`, toml11), /^(?:map\[|toml: line [0-3](?: |:))/)
          }
    }
  })
})
