/** Flux's recorded answers against the product's own functions: every family, and the list of what differs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { jsonEqual } from '../../core/json.ts'
import { FLUX_FAMILIES } from '../../../test/recorded/flux/families.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'
import type { RecordedCase } from '../../../test/recorded/recorded-case.ts'

type Answer = Readonly<Record<string, unknown>>
type Family = keyof typeof FLUX_FAMILIES

const LEAST_SHARE = 0.98
const DIFFERENT = JSON.parse(
  readFileSync(new URL('../../../test/recorded/flux/differences.json', import.meta.url), 'utf8'),
) as Record<Family, Record<string, string>>

/** What was recorded for a library: the whole text of a substitution, the build of the controller. */
function recordedAnswer(family: Family, one: RecordedCase): Answer {
  if (family === 'substitute') return (one['whole'] ?? {}) as Answer
  if (family === 'build') return (one['controller'] ?? one.expect) as Answer
  return one.expect as Answer
}

/** The fields that are compared; messages, digests and names of references are words of the answer, not its meaning. */
const COMPARED: Readonly<Record<Family, readonly string[]>> = {
  build: ['yaml'],
  substitute: ['output', 'output64'],
  values: ['values', 'reason'],
  ignore: ['kept', 'keptBucket', 'keptWithDefaults', 'patterns'],
  order: ['order'],
  refs: ['tag', 'string', 'original', 'prerelease', 'metadata', 'match', 'revision', 'hash'],
  health: ['status', 'ready'],
  sops: ['output', 'yaml'],
}

function isSame(family: Family, answer: Answer, recorded: Answer): boolean {
  if ('error' in answer !== 'error' in recorded) return false
  const choices = (recorded['equals'] ?? recorded['variants']) as readonly unknown[] | undefined
  if (choices?.includes(answer['tag'])) return true
  return COMPARED[family].every((field) => jsonEqual(answer[field] ?? null, recorded[field] ?? null))
}

function withoutAnswer({
  expect: _expect,
  whole: _whole,
  controller: _controller,
  ...input
}: RecordedCase): RecordedCase {
  return input
}

for (const family of Object.keys(FLUX_FAMILIES) as Family[]) {
  test(`${family} is as recorded`, async () => {
    const cases = readCases(`flux/${family}.jsonl.gz`)
    const answers = await Promise.all(cases.map(async (one) => FLUX_FAMILIES[family](withoutAnswer(one))))
    const different = cases.filter((one, at) => !isSame(family, answers[at]!, recordedAnswer(family, one)))
    assert.deepEqual(
      different.map(({ id }) => id),
      Object.keys(DIFFERENT[family]),
      'differences.json lists each case that differs, with its cause, and no other',
    )
    assert.ok(different.length <= cases.length * (1 - LEAST_SHARE), `${different.length} of ${cases.length} differ`)
  })
}

test('a wrong answer is not the same', () => {
  assert.equal(isSame('substitute', { output: 'a' }, { output: 'b' }), false)
  assert.equal(isSame('substitute', { output: 'a' }, { error: 'bad substitution' }), false)
  assert.equal(isSame('order', { order: ['a', 'b'] }, { order: ['b', 'a'] }), false)
  assert.equal(isSame('refs', { tag: 'v1.0.0' }, { tag: 'v1.1.0' }), false)
  assert.equal(isSame('health', { status: 'Current' }, { status: 'InProgress' }), false)
})
