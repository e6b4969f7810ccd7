import assert from 'node:assert/strict'
import { test } from 'node:test'
import { celEnvironment, compileCel } from './cel.ts'
import { CASES, FAILURES, ISSUES } from './cases.fixture.ts'
import { DYNAMIC } from './declare-schema.ts'
import { celToJson } from './values.ts'

const environment = celEnvironment({ object: DYNAMIC })
const object = {
  name: 'web',
  replicas: 3,
  ratio: 1.5,
  tags: ['a', 'b'],
  labels: { app: 'web', 'a.b/c': 'x' },
  nothing: null,
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443 },
  ],
}

function evaluate(source: string) {
  const program = compileCel(source, environment)
  assert.ok(program.ok, program.ok ? '' : `${source}: ${program.message}`)
  return program.evaluate({ object })
}

test('expressions give the value a kube-apiserver gives', () => {
  for (const [source, expected] of CASES) {
    const result = evaluate(source)
    assert.ok(result.ok, `${source}: ${result.ok ? '' : result.error}`)
    assert.deepEqual(celToJson(result.value), expected, source)
  }
})

test('expressions that fail say why', () => {
  for (const [source, expected] of FAILURES) {
    const result = evaluate(source)
    assert.equal(result.ok ? celToJson(result.value) : result.error, expected, source)
  }
})

test('sources that are no expressions are refused with the place', () => {
  for (const [source, expected] of ISSUES) {
    const program = compileCel(source, environment)
    assert.equal(program.ok ? 'compiled' : program.message, expected, source)
  }
})

test('a budget stops an expression, and nothing inside it can go on', () => {
  const program = compileCel(
    '[0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, a * b)).size() > 0 || true',
    environment,
  )
  assert.ok(program.ok)
  const whole = program.evaluate({ object })
  assert.ok(whole.ok && whole.cost > 1000)
  const stopped = program.evaluate({ object }, 500)
  assert.deepEqual(
    { ...stopped, cost: 0 },
    { ok: false, error: 'operation cancelled: actual cost limit exceeded', cost: 0, isOverBudget: true },
  )
})

test('a pattern made to backtrack takes no time', () => {
  const result = evaluate(`'${'a'.repeat(40)}b'.matches('^(a+)+$')`)
  assert.deepEqual(result.ok && result.value, false)
})

test('text of prototypes is text', () => {
  assert.deepEqual(evaluate(`has(object.constructor) || 'toString' in object || has(object.labels.__proto__)`).ok, true)
  const result = evaluate(`has(object.constructor) || 'toString' in object`)
  assert.equal(result.ok && result.value, false)
})

test('a program names the variables it uses', () => {
  const program = compileCel('object.name == "x"', celEnvironment({ object: DYNAMIC, other: DYNAMIC }))
  assert.ok(program.ok)
  assert.deepEqual([...program.uses], ['object'])
})
