import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkDetailBytes } from '../../wire/link/check-details.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { boundChecks } from './bound-checks.ts'

const TURN_MS = 300_000
const check = (index: number, state: ReportedCheck['state'], chars: number): ReportedCheck => ({
  bundle: 'ops/rules',
  generation: 1,
  kind: 'ConfigurationPolicy',
  name: `p-${index}`,
  state,
  since: '2026-01-01T00:00:00Z',
  message: 'x'.repeat(chars),
})

test('everything that fits is reported as it is', () => {
  const few = Array.from({ length: 200 }, (_, index) => check(index, 'Compliant', 100))
  assert.deepEqual(boundChecks(few, 7 * TURN_MS), few)
  assert.deepEqual(boundChecks([], 0), [])
})

test('where not all texts fit, every state is reported, violations come first, and the others have their turn', () => {
  const many = Array.from({ length: 600 }, (_, index) =>
    check(index, index % 100 === 0 ? 'NonCompliant' : 'Compliant', 1000),
  )
  const told = new Set<string>()
  for (let turn = 0; turn < many.length; turn++) {
    const bound = boundChecks(many, turn * TURN_MS)
    assert.ok(checkDetailBytes(bound) <= LIMITS.checkBytes)
    assert.deepEqual(
      bound.map(({ name, state }) => [name, state]),
      many.map(({ name, state }) => [name, state]),
    )
    for (const one of bound) {
      if (one.state === 'NonCompliant') assert.notEqual(one.message, undefined)
      if (one.message !== undefined) told.add(one.name)
    }
  }
  assert.equal(told.size, many.length)
})
