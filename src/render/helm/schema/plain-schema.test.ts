import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readJson } from '../functions/go/read-json.ts'
import { Helm4Validator } from './helm4-validator.ts'
import type { Draft } from './helm4-validator.ts'
import { metaschemaOf } from './metaschemas.ts'
import { isPlainSchema } from './plain-schema.ts'

const DRAFTS: readonly Draft[] = [4, 6, 7, 2019, 2020]

const USUAL = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://example.com/charts/a.schema.json',
  type: ['object', 'null'],
  required: ['a'],
  definitions: { port: { type: 'integer', minimum: 1, maximum: 65535, default: 80 } },
  properties: {
    a: { $ref: '#/definitions/port' },
    b: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^x' } },
    c: { oneOf: [{ type: 'string' }, { not: { enum: [1, null] } }] },
  },
  additionalProperties: false,
  'x-unknown': { type: 1 },
}

test('a usual schema is plain', () => {
  assert.equal(isPlainSchema(readJson(JSON.stringify(USUAL))), true)
})

test('what is wrong or rare is not', () => {
  for (const odd of [
    { type: 'text' },
    { type: [] },
    { type: ['null', 'null'] },
    { required: [] },
    { required: ['a', 'a'] },
    { required: 'a' },
    { minLength: -1 },
    { minimum: '1' },
    { properties: { a: true } },
    { items: [{}] },
    { pattern: '(' },
    { allOf: [] },
    { $ref: 'http://elsewhere' },
    { properties: { a: { $id: 'x' } } },
    { $id: 'https://example.com/a#b' },
    { $id: 1 },
    { patternProperties: {} },
    { exclusiveMinimum: 1 },
  ]) {
    assert.equal(isPlainSchema(readJson(JSON.stringify(odd))), false, JSON.stringify(odd))
  }
})

const NAMES = `title type required minimum minLength maxItems pattern $ref enum default format uniqueItems readOnly
  additionalProperties items not if properties $defs definitions allOf anyOf examples const $comment exclusiveMinimum
  dependencies $id unknown`.split(/\s+/)

const schemas = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(
      'object',
      'string',
      '^a',
      '(',
      '#/definitions/a',
      'https://a.b/c',
      'x y',
      '',
      0,
      1,
      -1,
      1.5,
      true,
      false,
      null,
    ),
    fc.constantFrom(['a'], ['a', 'a'], [], ['string', 'null'], [1], {}),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
  ),
  schema: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3 }),
})).schema

test('a plain schema is one that every draft allows', () => {
  const meta = DRAFTS.map((draft) => [draft, new Helm4Validator(metaschemaOf(draft), draft)] as const)
  let plain = 0
  fc.assert(
    fc.property(schemas, (schema) => {
      const json = readJson(JSON.stringify(schema))
      if (!isPlainSchema(json)) return
      plain += 1
      for (const [draft, validator] of meta) {
        assert.deepEqual(validator.problems(json), [], `${draft}: ${JSON.stringify(schema)}`)
      }
    }),
    { numRuns: 5000 },
  )
  assert.ok(plain > 500, `only ${plain} were plain`)
})
