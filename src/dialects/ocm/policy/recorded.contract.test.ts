/** Open Cluster Management's recorded policy commands against the product's own functions. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readCases } from '../../../../test/recorded/recorded-case.ts'
import type { RecordedCase } from '../../../../test/recorded/recorded-case.ts'
import {
  dryRunAnswer,
  isSameDryRun,
  isSameTemplate,
  templateAnswer,
} from '../../../../test/recorded/ocm/policy-cases.ts'
import type { Ended } from '../../../../test/recorded/ocm/policy-cases.ts'

const LEAST_SHARE = 0.98
const DIFFERENT = JSON.parse(
  readFileSync(new URL('../../../../test/recorded/ocm/differences.json', import.meta.url), 'utf8'),
) as Record<string, Record<string, string>>

interface Family {
  readonly file: string
  readonly answer: (input: RecordedCase) => Ended
  readonly isSame: (answer: Ended, one: RecordedCase) => boolean
}

const FAMILIES: Readonly<Record<string, Family>> = {
  template: { file: 'policy-template', answer: templateAnswer, isSame: isSameTemplate },
  dryrun: { file: 'policy-dryrun', answer: dryRunAnswer, isSame: isSameDryRun },
}

for (const [name, { file, answer, isSame }] of Object.entries(FAMILIES)) {
  test(`policy ${name} is as recorded`, () => {
    const cases = readCases(`ocm/${file}.jsonl.gz`)
    const different = cases.filter((one) => !isSame(answer(one), one)).map(({ id }) => id)
    assert.deepEqual(different, Object.keys(DIFFERENT[name]!), 'differences.json lists each case that differs')
    const families = Map.groupBy(cases, (one) => one['family'] as string)
    for (const [family, members] of families) {
      const wrong = members.filter(({ id }) => different.includes(id)).length
      // A family of fewer than 50 cases may have one that differs.
      assert.ok(wrong <= Math.max(1, members.length * (1 - LEAST_SHARE)), `${family}: ${wrong} of ${members.length}`)
    }
  })
}

test('a wrong answer of policy template is not the same', () => {
  const expect = { exit: 2, stdout: '', stderr: 'error processing templates: x\n' }
  const one = { id: 'x', expect }
  assert.ok(isSameTemplate({ ...expect, stderr: `a cause\n${expect.stderr}` }, one))
  assert.equal(isSameTemplate({ ...expect, exit: 1 }, one), false)
  assert.equal(isSameTemplate({ ...expect, stdout: 'a: 1\n' }, one), false)
  assert.equal(isSameTemplate({ ...expect, stderr: 'error processing templates: y\n' }, one), false)
})

test('a wrong answer of policy dryrun is not the same', () => {
  const status = { compliant: 'Compliant', compliancyDetails: [{ conditions: [{ lastTransitionTime: 'x' }] }] }
  const expect = {
    exit: 0,
    stdout: 'at <time>\n',
    stderr: '',
    status: { ...status, lastEvaluated: 'y' },
    messages: 'm\n',
  }
  const one = { id: 'x', expect }
  const answer = { ...expect, stdout: 'at 2026-01-02T03:04:05Z\n', status }
  assert.ok(isSameDryRun(answer, one))
  for (const wrong of [{ exit: 2 }, { stdout: '' }, { stderr: 'Error: x\n' }, { status: {} }, { messages: '' }]) {
    assert.equal(isSameDryRun({ ...answer, ...wrong }, one), false, JSON.stringify(wrong))
  }
  assert.ok(isSameDryRun({ ...answer, exit: 7 }, { ...one, variants: [{ ...expect, exit: 7 }] }))
  assert.equal(isSameDryRun({ ...answer, exit: 0 }, { id: 'x', crash: true }), false)
  assert.ok(isSameDryRun({ ...answer, exit: 1, stderr: 'Error: x\n' }, { id: 'x', crash: true }))
})
