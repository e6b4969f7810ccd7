/**
 * A kind with every keyword, to hold foreign CRDs to the words of our own: what must be refused, and what is made of
 * the rest.
 */
import type { JsonObject } from '../../core/json.ts'
import { kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { cause, invalid, wrongType } from './validation-case.ts'
import type { ValidationCase } from './validation-case.ts'

/** A kind with every keyword the native kinds do not use yet, to hold foreign CRDs to the same words. */
export const Specimen = kindOf<KubeObject>({
  group: 'contract.flotilla.dev',
  version: 'v1',
  kind: 'Specimen',
  plural: 'specimens',
  scope: 'Namespaced',
  description: 'Every keyword once.',
  subresources: { status: true },
  required: ['spec'],
  fields: {
    spec: {
      type: 'object',
      properties: {
        ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1.5, multipleOf: 0.5 },
        even: { type: 'integer', multipleOf: 2, maximum: 10, exclusiveMaximum: true },
        small: { type: 'integer', format: 'int32' },
        big: { type: 'integer', format: 'int64' },
        on: { type: 'boolean' },
        word: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
        maybe: { type: 'string', nullable: true },
        never: { type: 'string' },
        size: { type: 'integer', enum: [1, 2] },
        port: { 'x-kubernetes-int-or-string': true, maximum: 100, pattern: '^[a-z]+$' },
        spelled: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
        when: { type: 'string', format: 'date-time' },
        day: { type: 'string', format: 'date' },
        address: { type: 'string', format: 'ipv4' },
        id: { type: 'string', format: 'uuid' },
        bytes: { type: 'string', format: 'byte' },
        fancy: { type: 'string', format: 'no-such-format' },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', minItems: 1, maxItems: 4 },
        pairs: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a', 'b'],
          items: {
            type: 'object',
            required: ['a'],
            properties: {
              a: { type: 'string' },
              b: { type: 'integer', default: 7 },
              c: { type: 'string', maxLength: 3 },
            },
          },
        },
        labels: { type: 'object', maxProperties: 2, additionalProperties: { type: 'string', maxLength: 3 } },
        lists: {
          type: 'object',
          additionalProperties: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
        },
        crowd: { type: 'object', minProperties: 1, 'x-kubernetes-preserve-unknown-fields': true },
        choice: {
          type: 'object',
          properties: { left: { type: 'string' }, right: { type: 'string' } },
          oneOf: [{ required: ['left'] }, { required: ['right'] }],
        },
        banned: { type: 'string', not: { enum: ['bad'] } },
        both: { type: 'string', allOf: [{ minLength: 3 }, { pattern: '^x' }] },
        nested: {
          type: 'object',
          required: ['must'],
          properties: { must: { type: 'string' }, gift: { type: 'string', default: 'yes' } },
        },
      },
    },
    status: {
      type: 'object',
      properties: { phase: { type: 'string', enum: ['A', 'B'] }, count: { type: 'integer', minimum: 1 } },
    },
  },
  examples: [
    { metadata: { name: 'specimen', namespace: 'default' }, spec: { word: 'abc', pairs: [{ a: 'x', c: 'ok' }] } },
  ],
})

function specimen(title: string, spec: JsonObject, ...causes: readonly FieldError[]): ValidationCase {
  return { title, kind: Specimen, on: 'create', spoil: (object) => Object.assign(object.spec, spec), causes }
}

/** Objects that must be refused. */
export const SPECIMEN_CASES: readonly ValidationCase[] = [
  specimen(
    'numbers out of bounds',
    { ratio: 0.25, even: 11 },
    invalid('spec.ratio', '0.25: spec.ratio in body should be a multiple of 0.5'),
    invalid('spec.even', '11: spec.even in body should be a multiple of 2'),
    invalid('spec.even', '11: spec.even in body should be less than 10'),
  ),
  specimen(
    'numbers at their exclusive bounds',
    { ratio: 0, even: 10 },
    invalid('spec.ratio', '0: factor MultipleOf declared for spec.ratio must be positive: 0'),
    invalid('spec.ratio', '0: spec.ratio in body should be greater than 0'),
    invalid('spec.even', '10: spec.even in body should be less than 10'),
  ),
  specimen(
    'a fraction above its bound',
    { ratio: 2.5 },
    invalid('spec.ratio', '2.5: spec.ratio in body should be less than or equal to 1.5'),
  ),
  specimen(
    'numbers of the wrong kind',
    { even: 1.5, big: 1.5, on: 'yes', small: 4_294_967_296 },
    wrongType('spec.even', 'integer', 'number'),
    invalid('spec.even', '1.5: spec.even in body should be a multiple of 2'),
    wrongType('spec.big', 'int64', 'float64'),
    wrongType('spec.on', 'boolean', 'string'),
    invalid('<nil>', '"": Checked value must be of type integer (default format) in spec.even'),
    invalid('<nil>', '"": Checked value must be of type integer with format int64 in spec.big'),
    invalid('<nil>', '"": Checked value must be of type integer with format int32 in spec.small'),
  ),
  specimen(
    'an object where a number belongs',
    { big: {}, when: 5 },
    wrongType('spec.big', 'int64', ''),
    wrongType('spec.when', 'date-time', 'int64'),
  ),
  specimen(
    'a text that is too short',
    { word: 'a' },
    invalid('spec.word', '"a": spec.word in body should be at least 2 chars long'),
  ),
  specimen(
    'a text that does not match, with characters Go escapes',
    { word: 'ä\n"' },
    invalid('spec.word', `"ä\\n\\"": spec.word in body should match '^[a-z]+$'`),
  ),
  specimen(
    'five characters that are more bytes are fine, six are not',
    { word: 'ääääää' },
    cause('spec.word', 'FieldValueTooLong', 'Too long: may not be more than 5 bytes'),
  ),
  specimen(
    'an enum of numbers',
    { size: 3 },
    cause('spec.size', 'FieldValueNotSupported', 'Unsupported value: 3: supported values: "1", "2"'),
  ),
  specimen(
    'an enum given another type',
    { size: 'big' },
    wrongType('spec.size', 'integer', 'string'),
    cause('spec.size', 'FieldValueNotSupported', 'Unsupported value: "big": supported values: "1", "2"'),
  ),
  specimen(
    'int-or-string over its bound',
    { port: 101 },
    invalid('spec.port', '101: spec.port in body should be less than or equal to 100'),
  ),
  specimen(
    'int-or-string that does not match',
    { port: 'A' },
    invalid('spec.port', `"A": spec.port in body should match '^[a-z]+$'`),
  ),
  specimen(
    'int-or-string spelled out',
    { spelled: [] },
    invalid('<nil>', '"": "spec.spelled" must validate at least one schema (anyOf)'),
    wrongType('spec.spelled', 'integer,string', 'array'),
    wrongType('spec.spelled', 'integer', 'array'),
  ),
  specimen(
    'formats',
    { when: '2026-02-30T00:00:00Z', day: '2026-13-01', address: '1.2.3', id: 'x', bytes: '?', fancy: 'anything' },
    wrongType('spec.when', 'date-time', '2026-02-30T00:00:00Z'),
    wrongType('spec.day', 'date', '2026-13-01'),
    wrongType('spec.address', 'ipv4', '1.2.3'),
    wrongType('spec.id', 'uuid', 'x'),
    wrongType('spec.bytes', 'byte', '?'),
  ),
  specimen(
    'a set with a repeated item',
    { set: ['a', 'b', 'a', 'a'] },
    cause('spec.set[2]', 'FieldValueDuplicate', 'Duplicate value: "a"'),
  ),
  specimen(
    'a list with nulls and too many items',
    { set: ['a', null, 'b', 'c', 'd'] },
    wrongType('spec.set[1]', 'string', 'null'),
    cause('spec.set', 'FieldValueTooMany', 'Too many: 5: must have at most 4 items'),
  ),
  specimen(
    'a repeated pair of keys, one of them by default',
    { pairs: [{ a: 'x' }, { a: 'x', b: 7 }, { b: 8 }] },
    cause('spec.pairs[1]', 'FieldValueDuplicate', 'Duplicate value: {"a":"x","b":7}'),
    cause('spec.pairs[2].a', 'FieldValueRequired', 'Required value'),
  ),
  specimen(
    'items of a keyed list that are no objects',
    { pairs: ['x'] },
    wrongType('spec.pairs[0]', 'object', 'string'),
    invalid('spec.pairs[0]', '"x": must be an object for an array of list-type map'),
  ),
  specimen(
    'a map with wrong values, whose keys become fields',
    { labels: { a: 'long', b: 5, c: 'ok' } },
    cause('spec.labels', 'FieldValueTooMany', 'Too many: 3: must have at most 2 items'),
    cause('spec.labels.a', 'FieldValueTooLong', 'Too long: may not be more than 3 bytes'),
    wrongType('spec.labels.b', 'string', 'integer'),
  ),
  specimen(
    'a set inside a map, whose key becomes an index',
    { lists: { k: [1, 1] } },
    cause('spec.lists[k][1]', 'FieldValueDuplicate', 'Duplicate value: 1'),
  ),
  specimen(
    'an object with too few fields',
    { crowd: {} },
    invalid('spec.crowd', '0: spec.crowd in body should have at least 1 properties'),
  ),
  specimen(
    'two alternatives at once',
    { choice: { left: 'a', right: 'b' } },
    invalid('<nil>', '"": "spec.choice" must validate one and only one schema (oneOf). Found 2 valid alternatives'),
  ),
  specimen(
    'no alternative',
    { choice: {} },
    invalid('<nil>', '"": "spec.choice" must validate one and only one schema (oneOf). Found none valid'),
    cause('spec.choice.left', 'FieldValueRequired', 'Required value'),
  ),
  specimen(
    'a banned value',
    { banned: 'bad' },
    invalid('<nil>', '"": "spec.banned" must not validate the schema (not)'),
  ),
  specimen(
    'one of two conditions',
    { both: 'xy' },
    invalid('spec.both', '"xy": spec.both in body should be at least 3 chars long'),
    invalid('<nil>', '"": "spec.both" must validate all the schemas (allOf)'),
  ),
  specimen(
    'null where it may not be is absent',
    { never: null, nested: { must: null } },
    cause('spec.nested.must', 'FieldValueRequired', 'Required value'),
  ),
]

/** Objects that must be accepted, with the paths strict decoding complains about and what is stored. */
export interface AcceptanceCase {
  readonly title: string
  readonly kind: Kind
  readonly spec: JsonObject
  /** Paths of unknown fields, sorted. */
  readonly unknown: readonly string[]
  readonly stored: JsonObject
}

/** Pruning and defaulting. */
export const ACCEPTANCE_CASES: readonly AcceptanceCase[] = [
  {
    title: 'defaults, also in lists',
    kind: Specimen,
    spec: { pairs: [{ a: 'x' }], nested: { must: 'm' } },
    unknown: [],
    stored: { pairs: [{ a: 'x', b: 7 }], nested: { must: 'm', gift: 'yes' } },
  },
  {
    title: 'unknown fields, also in lists and maps',
    kind: Specimen,
    spec: {
      odd: 1,
      pairs: [{ a: 'x', odd: { deep: 1 } }],
      crowd: { kept: { deep: 1 } },
      nested: { must: 'm', odd: [] },
    },
    unknown: ['spec.nested.odd', 'spec.odd', 'spec.pairs[0].odd'],
    stored: { pairs: [{ a: 'x', b: 7 }], crowd: { kept: { deep: 1 } }, nested: { must: 'm', gift: 'yes' } },
  },
  {
    title: 'nulls: kept where they may be, defaulted or dropped elsewhere',
    kind: Specimen,
    spec: { maybe: null, never: null, nested: { must: 'm', gift: null }, pairs: [{ a: 'x', b: null, c: null }] },
    unknown: [],
    stored: { maybe: null, nested: { must: 'm', gift: 'yes' }, pairs: [{ a: 'x', b: 7 }] },
  },
  {
    title: 'a name that is special in JavaScript',
    kind: Specimen,
    spec: JSON.parse('{"labels":{"__proto__":"a","constructor":"b"},"__proto__":{"x":1},"toString":1}') as JsonObject,
    unknown: ['spec.__proto__', 'spec.toString'],
    stored: JSON.parse('{"labels":{"__proto__":"a","constructor":"b"}}') as JsonObject,
  },
]
