import assert from 'node:assert/strict'
import test from 'node:test'
import { formatValue } from './format.ts'
import { sprintf } from './printf.ts'
import { fromGoBytes, goBytes, goLength, goQuote, goSlice } from './go-string.ts'
import { goInt } from './value.ts'

const CASES: readonly (readonly [string, readonly unknown[], string])[] = [
  [
    '%d|%5d|%-5d|%05d|%+d|%x|%X|%o|%b',
    Array.from({ length: 9 }, () => goInt(42)),
    '42|   42|42   |00042|+42|2a|2A|52|101010',
  ],
  ['%s|%5s|%-5s|%.2s|%q|%x', ['abc', 'abc', 'abc', 'abc', 'a"b', 'hi'], 'abc|  abc|abc  |ab|"a\\"b"|6869'],
  ['%v %g %.2f %e %G', [1e6, 1e21, 2.345, 123456.789, 1e-7], '1e+06 1e+21 2.35 1.234568e+05 1E-07'],
  ['%d', [5], '%!d(float64=5)'],
  ['%.0f', ['x'], '%!f(string=)'],
  ['%s', [null], '%!s(<nil>)'],
  ['%d %d', [goInt(1)], '1 %!d(MISSING)'],
  ['%d', [goInt(1), 'x'], '1%!(EXTRA string=x)'],
  ['%!', [], '%!!(MISSING)'],
  ['%', [], '%!(NOVERB)'],
  ['%[2]s %[1]s', ['a', 'b'], 'b a'],
  ['%T %T %T', ['a', 1.5, goInt(1)], 'string float64 int'],
  ['%t %v %c %U', [true, false, goInt(65), goInt(0x1f600)], 'true false A U+1F600'],
  [
    '%v %+v',
    [
      new Map([
        ['b', 1],
        ['a', 2],
      ]),
      ['x', null],
    ],
    'map[a:2 b:1] [x <nil>]',
  ],
]

for (const [format, args, wanted] of CASES) test(`printf ${format}`, () => assert.equal(sprintf(format, args), wanted))

test('floats print as Go prints them', () => {
  const cases: [number, string][] = [
    [0, '0'],
    [100000, '100000'],
    [1000000, '1e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-0.5, '-0.5'],
  ]
  for (const [value, text] of cases) assert.equal(formatValue(value), text)
})

test('strings are bytes: cut runes survive a round trip', () => {
  const cut = goSlice('é', 0, 1)
  assert.deepEqual([...goBytes(cut)], [0xc3])
  assert.equal(goLength('é'), 2)
  assert.equal(goQuote(cut), '"\\xc3"')
  const binary = Uint8Array.of(0, 255, 128, 65, 0xc3, 0xa9)
  assert.deepEqual([...goBytes(fromGoBytes(binary))], [...binary])
})
