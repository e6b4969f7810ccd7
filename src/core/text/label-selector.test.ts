import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../errors.ts'
import { matchesSelector, meetsRequirement, parseSelector } from './label-selector.ts'

describe('label selectors', () => {
  const labels = { region: 'eu', ring: 'early' }

  const parsed: readonly [string, boolean][] = [
    ['', true],
    ['region=eu', true],
    ['region==eu', true],
    ['region = us', false],
    ['region!=us', true],
    ['zone!=a', true],
    ['region in (us, eu)', true],
    ['region notin (us,eu)', false],
    ['zone notin (a)', true],
    ['ring', true],
    ['zone', false],
    ['!zone', true],
    ['!ring', false],
    ['region in (eu),ring=early', true],
    ['region in (eu),ring=late', false],
  ]
  for (const [text, selected] of parsed) {
    test(`${JSON.stringify(text)} ${selected ? 'selects' : 'does not select'}`, () => {
      const requirements = parseSelector(text)
      assert.equal(
        requirements.every((requirement) => meetsRequirement(labels, requirement)),
        selected,
      )
    })
  }

  test('a term that cannot be read is a 400 that shows it', () => {
    assert.throws(
      () => parseSelector('a b c'),
      (error) => error instanceof ApiError && error.reason === 'BadRequest' && error.message.includes('"a b c"'),
    )
  })

  test('labels and expressions must all hold; the empty selector selects everything', () => {
    assert.equal(matchesSelector(labels, {}), true)
    const late = { key: 'ring', operator: 'In', values: ['late'] } as const
    assert.equal(matchesSelector(labels, { matchLabels: { region: 'eu' }, matchExpressions: [late] }), false)
  })

  test('a key of Object.prototype is not a label', () => {
    assert.equal(matchesSelector({}, { matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }), false)
  })
})
