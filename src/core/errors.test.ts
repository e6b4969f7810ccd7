import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, errorHints, Stalled, Waiting } from './errors.ts'

test('errors of every class carry where and todo as members', () => {
  const hints = { where: 'spec.rings[0]', todo: 'add a gate' }
  const errors = [
    new ApiError('Invalid', 'no gate', {}, hints),
    new Waiting('NoGate', 'no gate', 1000, hints),
    new Stalled('NoGate', 'no gate', hints),
  ]
  for (const error of errors) {
    assert.deepEqual(errorHints(error), hints)
    assert.equal(error.message, 'no gate')
  }
})

test('an error without hints, and a value that is no error, have none', () => {
  assert.deepEqual(errorHints(new Stalled('NoGate', 'no gate')), {})
  assert.deepEqual(errorHints(new Error('x')), {})
  assert.deepEqual(errorHints('x'), {})
  assert.deepEqual(errorHints(Object.assign(new Error('x'), { where: 3, todo: 'y' })), { todo: 'y' })
})
