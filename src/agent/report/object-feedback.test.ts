import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { canonicalJson } from '../../core/json.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { ReportedFeedback } from '../../wire/link/frames.ts'
import { boundFeedback } from './object-feedback.ts'

const entry = (index: number, kib: number): ReportedFeedback => ({
  bundle: `shop/delivery:w-${String(index).padStart(3, '0')}`,
  generation: 1,
  objects: Array.from({ length: kib }, (_, nth) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: `c-${nth}`,
    applied: true,
    available: true,
    message: 'x'.repeat(900),
  })),
})
const names = (all: readonly ReportedFeedback[]) => all.map(({ bundle }) => bundle)
const TURN_MS = 300_000

test('everything that fits is reported, in the order of the document', () => {
  const few = Array.from({ length: 20 }, (_, index) => entry(index, 1))
  assert.deepEqual(boundFeedback(few, 12 * TURN_MS), few)
  assert.deepEqual(boundFeedback([], 0), [])
})

test('what does not fit is reported in turn: never more than the limit, every entry in one round, stable in a turn', () => {
  const many = Array.from({ length: 40 }, (_, index) => entry(index, 20))
  const told = new Set<string>()
  for (let turn = 0; turn < many.length; turn++) {
    const part = boundFeedback(many, turn * TURN_MS)
    assert.ok(utf8(canonicalJson(part)).byteLength <= LIMITS.feedbackBytes)
    assert.ok(part.length > 5 && part.length < many.length)
    assert.deepEqual(names(part), names(boundFeedback(many, turn * TURN_MS + TURN_MS - 1)))
    for (const name of names(part)) told.add(name)
  }
  assert.equal(told.size, many.length)
})

test('an entry that is too large for any report does not keep out the others', () => {
  const part = boundFeedback([entry(0, 400), entry(1, 1), entry(2, 1)], 0)
  assert.deepEqual(names(part), ['shop/delivery:w-001', 'shop/delivery:w-002'])
})
