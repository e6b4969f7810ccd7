import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, Stalled } from '../../core/errors.ts'
import { CliError, EXIT, EXIT_MEANINGS, formatErrorReport } from './cli-error.ts'
import { explainError } from './explain-error.ts'

const HUB = { server: 'https://127.0.0.1:7443', kubeconfig: '/k' }

test('each reason of the API has its exit code', () => {
  const codeOf = (...args: ConstructorParameters<typeof ApiError>) => explainError(new ApiError(...args), HUB).exitCode
  assert.equal(codeOf('NotFound', 'clusters "a" not found'), EXIT.notFound)
  assert.equal(codeOf('Unauthorized', 'Unauthorized'), EXIT.forbidden)
  assert.equal(codeOf('Forbidden', 'no'), EXIT.forbidden)
  assert.equal(codeOf('Conflict', 'changed'), EXIT.conflict)
  assert.equal(codeOf('AlreadyExists', 'exists'), EXIT.conflict)
  assert.equal(codeOf('Invalid', 'bad'), EXIT.failed)
  assert.equal(codeOf('BadRequest', 'bad'), EXIT.usage)
  assert.equal(codeOf('Timeout', 'slow'), EXIT.timeout)
})

test('an unreachable hub is reported with its address, the cause and a hint', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:7443'), { code: 'ECONNREFUSED' })
  const { exitCode, report } = explainError(new TypeError('fetch failed', { cause: refused }), HUB)
  assert.equal(exitCode, EXIT.failed)
  assert.equal(
    formatErrorReport(report),
    'error: https://127.0.0.1:7443: cannot reach the hub: connection refused (ECONNREFUSED)\n' +
      'hint: start the hub, or choose another hub with --kubeconfig (the address came from /k)\n',
  )
})

test('an address in use is reported once, from the fields of the error', () => {
  const fields = { code: 'EADDRINUSE', address: '127.0.0.1', port: 7443 }
  const cause = Object.assign(new Error('listen EADDRINUSE: address already in use 127.0.0.1:7443'), fields)
  const { report } = explainError(new Error(`the api thread ended: ${cause.message}`, { cause }))
  assert.equal(report.what, 'address 127.0.0.1:7443 is already in use (EADDRINUSE)')
})

test('where and todo of an error are printed as they are; messages are not cut apart', () => {
  const stalled = new Stalled('InUse', 'in use by process 7', { where: 'DIR', todo: 'stop that hub first' })
  assert.equal(
    formatErrorReport(explainError(stalled).report),
    'error: DIR: in use by process 7\nhint: stop that hub first\n',
  )
  assert.deepEqual(explainError(new Stalled('X', 'a: give b')).report, { what: 'a: give b' })
})

test('a conflict names the field and its owner', () => {
  const error = new ApiError('Conflict', 'Apply failed with 1 conflict', {
    causes: [{ reason: 'FieldManagerConflict', field: '.spec.x', message: 'conflict with "kubectl-edit"' }],
  })
  assert.equal(
    explainError(error).report.what,
    'conflict: Apply failed with 1 conflict: .spec.x: conflict with "kubectl-edit"',
  )
})

test('field errors are printed once each', () => {
  const error = new ApiError('Invalid', 'Bundle "a" is invalid', {
    causes: [{ reason: 'FieldValueRequired', field: 'spec.placement', message: 'Required value' }],
  })
  assert.equal(explainError(error).report.what, 'Bundle "a" is invalid: spec.placement: Required value')
})

test('an unknown failure shows its causes and no stack', () => {
  const { report } = explainError(new Error('outer', { cause: new Error('inner') }))
  assert.equal(report.what, 'outer: inner')
  assert.equal(explainError(new Error('a: b', { cause: new Error('b') })).report.what, 'a: b')
})

test('an error of a command stays as it is, on one line', () => {
  const { exitCode, report } = explainError(new CliError(EXIT.usage, { what: 'w', why: 'a\n  b' }))
  assert.equal(exitCode, EXIT.usage)
  assert.equal(formatErrorReport(report), 'error: w: a; b\n')
})

test('every exit code has its meaning', () => {
  assert.deepEqual(
    EXIT_MEANINGS.map(([code]) => code),
    Object.values(EXIT),
  )
})
