import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { applyHealthRules, compileHealthRules } from './health-rules.ts'

const JOB: UnknownObject = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'copy', namespace: 'shop' },
  spec: { parallelism: 2, template: { image: 'copy:1' }, big: 'x'.repeat(2000) },
  status: { succeeded: 2, ratio: 0.5, conditions: [{ type: 'Complete', status: 'True' }], active: false },
}
const ID = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'shop', name: 'copy' }

function judge(options: BundleOptions) {
  const compiled = compileHealthRules(options)
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.problem)
  const rules = compiled.rulesFor(ID)
  assert.ok(rules, 'the rules select the object')
  return applyHealthRules(JOB, rules)
}

test('values have the type of the field, by JSONPath and by expression', () => {
  const paths = {
    done: '.status.succeeded',
    image: '{.spec.template.image}',
    complete: '.status.conditions[?(@.type=="Complete")].status',
    active: '.status.active',
    ratio: '.status.ratio',
    template: '.spec.template',
  }
  const feedback = Object.entries(paths).map(([as, path]) => ({ as, path }))
  const told = judge({ feedback: [...feedback, { as: 'sum', expression: 'object.status.succeeded + 1' }] })
  assert.deepEqual(told.feedback, [
    { name: 'done', type: 'Integer', value: '2' },
    { name: 'image', type: 'String', value: 'copy:1' },
    { name: 'complete', type: 'String', value: 'True' },
    { name: 'active', type: 'Boolean', value: 'false' },
    { name: 'ratio', type: 'JsonRaw', value: '0.5' },
    { name: 'template', type: 'JsonRaw', value: '{"image":"copy:1"}' },
    { name: 'sum', type: 'Integer', value: '3' },
  ])
  assert.deepEqual(told.missing, [])
})

test('what does not exist, or does not fit, is missing by name; a path that cannot be read as well', () => {
  const feedback = [
    { as: 'gone', path: '.status.failed' },
    { as: 'whole', path: '.spec' },
    { as: 'odd', path: '.status[' },
  ]
  const told = judge({ feedback })
  assert.deepEqual([told.feedback, told.missing], [[], ['gone', 'whole', 'odd']])
})

test('a condition is the conjunction of its expressions, with the message of the rule', () => {
  const rule = (expressions: string[], more = {}) => ({ type: 'Complete', expressions, ...more })
  const told = judge({
    conditions: [
      rule(['object.status.succeeded == 2', 'object.kind == "Job"'], { messageExpression: 'string(result)' }),
      rule(['object.status.succeeded == 2', 'object.kind == "Pod"'], { message: 'not yet' }),
      rule(['object.status.missing == 2']),
    ],
  })
  const [met, unmet, failed] = told.conditions
  assert.deepEqual(met, { type: 'Complete', met: true, reason: 'ConditionRuleEvaluated', message: 'true' })
  assert.deepEqual(unmet, { type: 'Complete', met: false, reason: 'ConditionRuleEvaluated', message: 'not yet' })
  assert.equal(`${failed?.met} ${failed?.reason}`, 'false ConditionRuleExpressionError')
})

test('rules of other objects do not count, and an expression that does not compile is named', () => {
  const other = { group: 'apps', kind: 'Deployment', as: 'x', path: '.x' }
  const compiled = compileHealthRules({ feedback: [other] })
  assert.equal(compiled.ok && compiled.rulesFor(ID), undefined)
  const wrong = compileHealthRules({ conditions: [{ type: 'A', expressions: ['1 +'] }] })
  assert.match(wrong.ok ? '' : wrong.problem, /^conditions\[0\]\.expressions\[0\]: /)
})
