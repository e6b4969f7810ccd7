import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addQuantities, canonicalQuantity, compareQuantities, parseQuantity, quantityToNumber } from './quantity.ts'

test('quantities', () => {
  const cases: [string | number, number][] = [
    ['500m', 0.5],
    ['1', 1],
    [2, 2],
    ['.5', 0.5],
    ['1.', 1],
    ['2Ki', 2048],
    ['1.5Gi', 1.5 * 2 ** 30],
    ['1k', 1000],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1E', 1e18],
    ['-3', -3],
    ['+3', 3],
    ['1n', 1e-9],
  ]
  for (const [text, value] of cases) assert.equal(quantityToNumber(parseQuantity(text)!), value, String(text))
})

test('what is no quantity', () => {
  for (const text of ['', 'Gi', '1 Gi', '1gi', '1mm', '1e', '--1', '.', 'e3', '1e9999', '9'.repeat(65)]) {
    assert.equal(parseQuantity(text), undefined, text)
  }
})

test('compares exactly, and rounds up below a billionth', () => {
  const of = (text: string) => parseQuantity(text)!
  assert.equal(compareQuantities(of('1000m'), of('1')), 0)
  assert.equal(compareQuantities(of('1Gi'), of('1G')), 1)
  assert.equal(compareQuantities(of('9007199254740993'), of('9007199254740992')), 1)
  assert.equal(of('0.0000000001').nano, 1n)
  assert.deepEqual(addQuantities(of('500m'), of('1.5')), of('2'))
})

test('quantities of resources as Kubernetes writes them', () => {
  const cases: [string | number, string | undefined][] = [
    ['1000', '1k'],
    ['1500k', '1500k'],
    ['2048Ki', '2Mi'],
    ['1.5Gi', '1536Mi'],
    ['0', '0'],
    ['0Ki', '0'],
    ['1e3', '1e3'],
    ['12E2', '1200'],
    [1e3, '1k'],
    ['0.0001', '1m'],
    ['1023Ki', '1023Ki'],
    ['1Ki', '1Ki'],
    ['512', '512'],
    ['-1', '-1'],
    ['1500000000u', '1500'],
    ['1048576Ki', '1Gi'],
    ['0.10', '100m'],
    [0.1, '100m'],
    [1.5, '1500m'],
    ['0.5Ki', '512'],
    ['lots', undefined],
  ]
  for (const [value, text] of cases) assert.equal(canonicalQuantity(value), text, String(value))
})
