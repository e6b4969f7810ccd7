import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson, jsonClone } from '../core/json.ts'
import { ACCEPTANCE_CASES, VALIDATION_CASES, Specimen } from '../testing/kinds-contract.ts'
import type { Spoilable } from '../testing/kinds-contract.ts'
import type { Kind } from './define-kind.ts'
import type { KubeObject } from './meta.ts'
import { NATIVE_KINDS } from './native.ts'
import { Release } from './release.ts'
import { defaultObject, pruneObject, validateObject } from './validate.ts'
import { fieldErrorText, invalidObject } from './walk/field-error.ts'

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
      spoil(object as Spoilable)
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
  const old = jsonClone(Specimen.examples[0]!) as Spoilable
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

test('a rule nobody can evaluate refuses the object', () => {
  const spec = {
    type: 'object',
    'x-kubernetes-validations': [{ rule: 'self.x > 1' }],
    properties: { x: { type: 'integer' } },
  } as const
  const kind: Kind = {
    ...Specimen,
    schema: { ...Specimen.schema, properties: { ...Specimen.schema.properties, spec } },
  }
  const object = { ...jsonClone(Specimen.examples[0]!), spec: { x: 2 } }
  assert.equal(validateObject(kind, object).length, 1)
  assert.deepEqual(validateObject(kind, object, { evaluateRule: () => ({ holds: true }) }), [])
  assert.deepEqual(validateObject(kind, object, { evaluateRule: () => ({ holds: false }) }).map(fieldErrorText), [
    'spec: Invalid value: failed rule: self.x > 1',
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
