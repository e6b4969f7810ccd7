/** Argo CD's recorded answers against the product's own functions: every family, and the list of what differs. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { ARGO_FAMILIES, isSameAnswer } from './families.ts'
import { readCases } from '../recorded-case.ts'
import type { RecordedCase } from '../recorded-case.ts'

const FILES: Readonly<Record<string, string>> = {
  order: 'sync-order',
  windows: 'sync-windows',
  projects: 'projects',
  services: 'applicationsets-services',
  applicationsets: 'applicationsets',
}
const LEAST_SHARE = 0.98
const DIFFERENT = JSON.parse(readFileSync(new URL('differences.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>

function withoutAnswer({ expect: _expect, ...input }: RecordedCase): RecordedCase {
  return input
}

for (const [family, file] of Object.entries(FILES)) {
  test(`${family} is as recorded`, () => {
    const cases = readCases(`argo/${file}.jsonl.gz`)
    const different = cases.filter(
      (one) => !isSameAnswer(family, ARGO_FAMILIES[family]!(withoutAnswer(one)), one.expect),
    )
    assert.deepEqual(
      different.map(({ id }) => id),
      Object.keys(DIFFERENT[family]!),
      'differences.json lists each case that differs, with its cause, and no other',
    )
    assert.ok(different.length <= cases.length * (1 - LEAST_SHARE), `${different.length} of ${cases.length} differ`)
  })
}

test('a wrong answer is not the same', () => {
  assert.equal(isSameAnswer('projects', { sources: [true] }, { sources: [false] }), false)
  assert.equal(
    isSameAnswer('order', { tasks: [] }, { tasks: [{ phase: 'Sync', wave: 0, kind: 'Pod', name: 'a' }] }),
    false,
  )
  assert.equal(isSameAnswer('windows', { answers: [{ auto: true }] }, { answers: [{ auto: false }] }), false)
  const application = { metadata: { name: 'a' }, spec: { project: 'default' } }
  assert.equal(isSameAnswer('applicationsets', { applications: [] }, { applications: [application] }), false)
  assert.equal(isSameAnswer('applicationsets', { error: 'x' }, { applications: [] }), false)
  assert.equal(isSameAnswer('applicationsets', { applications: [] }, { error: 'x', stage: 'generate' }), false)
})

test('answer.ts reads cases as lines and prints their answers', () => {
  const [first] = readCases('argo/projects.jsonl.gz')
  const program = new URL('../answer.ts', import.meta.url).pathname
  const run = (args: readonly string[]) =>
    spawnSync(process.execPath, [program, ...args], {
      input: `${JSON.stringify(withoutAnswer(first!))}\n`,
      encoding: 'utf8',
    })
  const { id, answer } = JSON.parse(run(['argo', 'projects']).stdout) as { id: string; answer: unknown }
  assert.equal(id, first!.id)
  assert.ok(isSameAnswer('projects', answer, first!.expect))
  const wrong = run(['argo', 'nothing'])
  assert.equal(wrong.status, 2)
  assert.match(wrong.stderr, /usage: answer\.ts SYSTEM FAMILY, with argo order\|windows\|projects/)
})
