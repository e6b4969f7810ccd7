import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson, jsonClone } from '../../core/json.ts'
import type { MutableObject } from '../../testing/kinds-contract/validation-case.ts'
import { ACCEPTANCE_CASES, Specimen } from '../../testing/kinds-contract/specimen-cases.ts'
import { VALIDATION_CASES } from '../../testing/kinds-contract/validation-cases.ts'
import type { Kind } from '../define-kind.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import type { KubeObject } from '../meta.ts'
import { NATIVE_KINDS } from '../native/native-kinds.ts'
import { Release } from '../native/release.ts'
import { defaultObject, pruneObject, validateObject } from './validate-object.ts'
import { fieldErrorText, invalidObject } from './field-error.ts'

function admit(kind: Kind, object: KubeObject): KubeObject {
  pruneObject(kind, object)
  defaultObject(kind, object)
  return object
}

describe('what is refused, word for word', () => {
  for (const { title, kind, on, spoil, causes } of VALIDATION_CASES) {
    test(`${kind.kind} on ${on}: ${title}`, () => {
      const old = admit(kind, jsonClone(kind.examples[0]!))
      const object = jsonClone(on === 'create' ? kind.examples[0]! : old)
      spoil(object as MutableObject)
      const errors = validateObject(kind, admit(kind, object), {
        ...(on === 'create' ? {} : { old }),
        ...(on === 'status' ? { subresource: on } : {}),
      })
      assert.deepEqual(errors.map(canonicalJson).sort(), causes.map(canonicalJson).sort())
    })
  }
})

describe('what is accepted, and what becomes of it', () => {
  for (const { title, kind, spec, unknown, stored } of ACCEPTANCE_CASES) {
    test(`${kind.kind}: ${title}`, () => {
      const object = { ...jsonClone(kind.examples[0]!), spec: jsonClone(spec) }
      assert.deepEqual(pruneObject(kind, object), unknown)
      defaultObject(kind, object)
      assert.deepEqual(validateObject(kind, object), [])
      assert.equal(canonicalJson(object.spec), canonicalJson(stored))
    })
  }
})

describe('examples', () => {
  for (const kind of [...NATIVE_KINDS, Specimen]) {
    test(`${kind.kind}'s are valid and have no unknown field`, () => {
      for (const example of kind.examples) {
        const object = jsonClone(example)
        assert.deepEqual(pruneObject(kind, object), [])
        defaultObject(kind, object)
        assert.deepEqual(validateObject(kind, object), [])
      }
    })
  }
})

test('an update forgives what was wrong before and did not change', () => {
  const old = jsonClone(Specimen.examples[0]!) as MutableObject
  old.spec = { word: 'TOO LONG', pairs: [{ a: 'x', b: 7, c: 'too long' }], labels: { a: 'too long' } }
  const object = jsonClone(old)
  object.spec['on'] = true
  ;(object.spec['pairs'] as object[]).unshift({ a: 'y', b: 7 })
  ;(object.spec['labels'] as Record<string, string>)['b'] = 'ok'
  assert.deepEqual(validateObject(Specimen, object, { old }), [])
  object.spec['word'] = 'ALSO LONG'
  assert.deepEqual(
    validateObject(Specimen, object, { old }).map((error) => error.field),
    ['spec.word'],
  )
})

test('the order of a keyed list is no change', () => {
  const old = admit(Release, jsonClone(Release.examples[0]!)) as Release
  old.spec.bundles.push({ ...old.spec.bundles[0]!, name: 'other' })
  const object = jsonClone(old)
  object.spec.bundles.reverse()
  assert.deepEqual(validateObject(Release, object, { old }), [])
})

function withSpec(spec: StructuralSchema): (value: object, old?: object) => string[] {
  const properties = { ...Specimen.schema.properties, spec }
  const kind: Kind = { ...Specimen, schema: { ...Specimen.schema, properties } }
  const objectOf = (value: object) => ({ ...jsonClone(Specimen.examples[0]!), spec: value })
  return (value, old) => validateObject(kind, objectOf(value), old ? { old: objectOf(old) } : {}).map(fieldErrorText)
}

test('a rule that cannot be compiled refuses the object', () => {
  const check = withSpec({ type: 'object', properties: {}, 'x-kubernetes-validations': [{ rule: 'self.y > 1' }] })
  assert.deepEqual(check({}), [
    `spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field 'y'\n | self.y > 1\n | ....^`,
  ])
})

test('rules speak with their own message, field and reason', () => {
  const properties = { x: { type: 'integer' }, 'a.b': { type: 'string' } } as const
  const rules = [
    { rule: 'self.x > 1' },
    { rule: 'self.x > 2', message: ' must be above 2 ', fieldPath: '.x' },
    { rule: 'self.x > 3', messageExpression: `'x is ' + string(self.x)`, reason: 'FieldValueForbidden' },
    { rule: `self.a__dot__b == 'y'`, fieldPath: `['a.b']`, reason: 'FieldValueRequired', message: 'say y' },
    { rule: 'self.x / 0 == 1', message: 'divides' },
  ] as const
  const check = withSpec({ type: 'object', properties, 'x-kubernetes-validations': rules })
  assert.deepEqual(check({ x: 1, 'a.b': 'z' }), [
    'spec: Invalid value: failed rule: self.x > 1',
    'spec.x: Invalid value: must be above 2',
    'spec: Forbidden: x is 1',
    'spec.a.b: Required value: say y',
    'spec: Invalid value: "object": division by zero evaluating rule: divides',
  ])
})

test('a transition rule runs only where there is an old value, or with an optional one always', () => {
  const check = withSpec({
    type: 'object',
    properties: {
      x: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self >= oldSelf', message: 'may not shrink' }] },
      y: {
        type: 'integer',
        'x-kubernetes-validations': [
          { rule: 'self <= oldSelf.orValue(1) + 1', optionalOldSelf: true, message: 'one step at a time' },
        ],
      },
    },
  })
  assert.deepEqual(check({ x: 1 }), [])
  assert.deepEqual(check({ x: 1 }, { x: 2 }), ['spec.x: Invalid value: 1: may not shrink'])
  assert.deepEqual(check({ x: 1 }, {}), [])
  assert.deepEqual(check({ y: 3 }), ['spec.y: Invalid value: 3: one step at a time'])
  assert.deepEqual(check({ y: 3 }, { y: 2 }), [])
})

test('what was wrong before and did not change may stay, also inside lists without keys', () => {
  const item = { type: 'string', 'x-kubernetes-validations': [{ rule: `self != 'bad'` }] } as const
  const check = withSpec({
    type: 'object',
    properties: { list: { type: 'array', items: item }, n: { type: 'integer' } },
  })
  assert.deepEqual(check({ list: ['bad'] }), [`spec.list[0]: Invalid value: "bad": failed rule: self != 'bad'`])
  assert.deepEqual(check({ list: ['bad'], n: 2 }, { list: ['bad'], n: 1 }), [])
  assert.equal(check({ list: ['x', 'bad'] }, { list: ['bad'] }).length, 1)
})

test('rules of one object share a budget', () => {
  const rule = { rule: 'self.all(a, self.all(b, a != b || a == b))' }
  const list: StructuralSchema = { type: 'array', items: { type: 'integer' }, 'x-kubernetes-validations': [rule] }
  const check = withSpec({ type: 'object', properties: { list } })
  assert.deepEqual(check({ list: Array.from({ length: 600 }, (_, index) => index) }), [
    `spec.list: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule.rule}`,
  ])
})

test('the answer is the one a kube-apiserver gives', () => {
  const object = { ...jsonClone(Release.examples[0]!), spec: {} }
  const error = invalidObject(Release, 'hello-g1', validateObject(Release, object).slice(0, 1))
  assert.equal(error.code, 422)
  assert.equal(error.message, 'Release.flotilla.dev "hello-g1" is invalid: spec.bundles: Required value')
  assert.deepEqual(error.details.causes, [
    { field: 'spec.bundles', reason: 'FieldValueRequired', message: 'Required value' },
  ])
})
