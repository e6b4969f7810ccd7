import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOctalNumber, readWholeNumber } from './read-number.ts'

const NO_NUMBERS = ['', ' ', ' 5', '5 ', '5\n', '-5', '+5', '-0', '5.0', '.5', '1e3', '1e-300', 'NaN', 'Infinity', '5a']

test('a whole number is decimal digits without leading zeros', () => {
  for (const text of ['0', '7', '10', '999999999999999']) assert.equal(readWholeNumber(text), Number(text))
  for (const text of [...NO_NUMBERS, '0x10', '0b1', '0o7', '05', '00', '1_000', '٣', '1000000000000000']) {
    assert.equal(readWholeNumber(text), undefined, JSON.stringify(text))
  }
})

test('an octal number is octal digits', () => {
  for (const [text, number] of [
    ['0', 0],
    ['00000000017', 15],
    ['77777777777777777', 8 ** 17 - 1],
  ] as const) {
    assert.equal(readOctalNumber(text), number)
  }
  for (const text of [...NO_NUMBERS, '8', '0o7', '17x', '777777777777777777']) {
    assert.equal(readOctalNumber(text), undefined, JSON.stringify(text))
  }
})
