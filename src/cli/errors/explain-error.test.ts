import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, Stalled } from '../../core/errors.ts'
import { CliError, EXIT, EXIT_MEANINGS, formatErrorReport } from './cli-error.ts'
import { explainError } from './explain-error.ts'

const SCENE = { server: 'https://127.0.0.1:7443', kubeconfig: '/k' }

test('each refusal of the API has its exit code', () => {
  const codeOf = (...args: ConstructorParameters<typeof ApiError>) =>
    explainError(new ApiError(...args), SCENE).exitCode
  assert.equal(codeOf('NotFound', 'clusters "a" not found'), EXIT.notFound)
  assert.equal(codeOf('Unauthorized', 'who?'), EXIT.forbidden)
  assert.equal(codeOf('Forbidden', 'no'), EXIT.forbidden)
  assert.equal(codeOf('Conflict', 'changed'), EXIT.conflict)
  assert.equal(codeOf('AlreadyExists', 'exists'), EXIT.conflict)
  assert.equal(codeOf('Invalid', 'bad'), EXIT.failed)
  assert.equal(codeOf('BadRequest', 'bad'), EXIT.usage)
  assert.equal(codeOf('Timeout', 'slow'), EXIT.timeout)
})

test('a hub that is not there is named, with what to do', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:7443'), { code: 'ECONNREFUSED' })
  const { exitCode, trouble } = explainError(new TypeError('fetch failed', { cause: refused }), SCENE)
  assert.equal(exitCode, EXIT.failed)
  assert.equal(
    formatErrorReport(trouble),
    [
      'error: the hub cannot be reached',
      '  where: https://127.0.0.1:7443',
      '  why:   nobody listens there (ECONNREFUSED)',
      '  do:    start the hub, or name another one with --kubeconfig (this one came from /k)',
      '',
    ].join('\n'),
  )
})

test('advice at the end of a sentence of the hub has a line of its own', () => {
  const { trouble } = explainError(new Stalled('InUse', 'DIR is in use by process 7: stop that hub first'))
  assert.deepEqual(trouble, { what: 'DIR is in use by process 7', todo: 'stop that hub first' })
  assert.deepEqual(explainError(new Stalled('X', 'a: b')).trouble, { what: 'a: b' })
})

test('field errors are shown once each', () => {
  const error = new ApiError('Invalid', 'Bundle "a" is invalid', {
    causes: [{ reason: 'FieldValueRequired', field: 'spec.placement', message: 'Required value' }],
  })
  assert.equal(explainError(error).trouble.why, 'Bundle "a" is invalid: spec.placement: Required value')
})

test('an unknown failure shows its causes and no stack', () => {
  const { trouble } = explainError(new Error('outer', { cause: new Error('inner') }))
  assert.equal(trouble.what, 'outer: inner')
})

test('a told failure stays as it was told', () => {
  const { exitCode, trouble } = explainError(new CliError(EXIT.usage, { what: 'w', why: 'a\n  b' }))
  assert.equal(exitCode, EXIT.usage)
  assert.equal(formatErrorReport(trouble), 'error: w\n  why:   a; b\n')
})

test('every exit code has its meaning', () => {
  assert.deepEqual(
    EXIT_MEANINGS.map(([code]) => code),
    Object.values(EXIT),
  )
})
