/** Karmada's recorded answers against the product's own functions: every family, and the list of what differs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { jsonEqual } from '../../core/json.ts'
import { isSameAnswer } from '../../../test/recorded/karmada/is-same-answer.ts'
import { KARMADA_FAMILIES } from '../../../test/recorded/karmada/families.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'

const LEAST_SHARE = 0.98
const DIFFERENT = JSON.parse(
  readFileSync(new URL('../../../test/recorded/karmada/differences.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, string>>

for (const [family, answer] of Object.entries(KARMADA_FAMILIES)) {
  test(`${family} is as recorded`, () => {
    const cases = readCases(`karmada/${family}.jsonl.gz`)
    const different = cases.filter(({ expect, ...question }) => !isSameAnswer(family, answer(question), expect))
    assert.deepEqual(
      different.map(({ id }) => id),
      Object.keys(DIFFERENT[family] ?? {}),
      'differences.json lists each case that differs, with its cause, and no other',
    )
    assert.ok(different.length <= cases.length * (1 - LEAST_SHARE), `${different.length} of ${cases.length} differ`)
  })
}

test('a wrong answer is not the same', () => {
  for (const family of Object.keys(KARMADA_FAMILIES)) {
    const answers = readCases(`karmada/${family}.jsonl.gz`).map(({ expect }) => expect)
    const other = answers.find((one) => !jsonEqual(one, answers[0]))
    assert.equal(isSameAnswer(family, other, answers[0]), false, family)
    assert.equal(isSameAnswer(family, answers[0], answers[0]), true, family)
  }
})
