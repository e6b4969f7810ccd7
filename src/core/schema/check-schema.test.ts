import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Check } from 'typebox/schema'
import { firstSchemaProblem } from './check-schema.ts'
import { Type } from './typebox.ts'

const Part = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 3, pattern: '^[a-c]*$' }),
    size: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
    share: Type.Optional(Type.Number()),
  },
  { additionalProperties: false },
)
const SCHEMA = Type.Object({
  parts: Type.Array(Part, { minItems: 1, maxItems: 2 }),
  is: Type.Optional(Type.Boolean()),
  state: Type.Unsafe<'a' | 'b'>({ type: 'string', enum: ['a', 'b'] }),
  which: Type.Union([
    Type.Object({ kind: Type.Literal('one'), at: Type.Integer() }),
    Type.Object({ kind: Type.Literal('two') }),
    Type.Literal(7),
  ]),
  seen: Type.Optional(
    Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: { type: 'integer' } }),
  ),
})
const GOOD = { parts: [{ name: 'ab', size: 3 }], state: 'a', which: { kind: 'one', at: 1 }, seen: { x: 1 } }

const TABLE: readonly (readonly [change: object, problem: string | undefined])[] = [
  [{}, undefined],
  [{ unknown: true }, undefined],
  [{ is: undefined }, undefined],
  [{ which: 7 }, undefined],
  [{ parts: undefined }, 'parts: is required'],
  [{ parts: {} }, 'parts: must be array'],
  [{ parts: [] }, 'parts: must have at least 1 items'],
  [{ parts: [1] }, 'parts.0: must be object'],
  [{ parts: [{ name: '' }] }, 'parts.0.name: must have at least 1 characters'],
  [{ parts: [{ name: 'abca' }] }, 'parts.0.name: must have at most 3 characters'],
  [{ parts: [{ name: 'x' }] }, 'parts.0.name: must match ^[a-c]*$'],
  [{ parts: [{ name: 'a', size: 1.5 }] }, 'parts.0.size: must be integer'],
  [{ parts: [{ name: 'a', size: 6 }] }, 'parts.0.size: must be at most 5'],
  [{ parts: [{ name: 'a', size: -1 }] }, 'parts.0.size: must be at least 0'],
  [{ parts: [{ name: 'a', more: 1 }] }, 'parts.0.more: is not known'],
  [{ parts: [{ name: 'a', ['__proto__x']: 1 }] }, 'parts.0.__proto__x: is not known'],
  [{ state: 'c' }, 'state: must be one of a, b'],
  [{ which: { kind: 'three' } }, 'which: must be one of 3 things and is none of them'],
  [{ seen: { x: 'y' } }, 'seen.x: must be integer'],
  [{ is: 'yes' }, 'is: must be boolean'],
]

test('what is wrong is named with its place', () => {
  for (const [change, wanted] of TABLE) {
    const problem = firstSchemaProblem(SCHEMA, { ...GOOD, ...change })
    assert.equal(problem && `${problem.path.join('.')}: ${problem.message}`, wanted, JSON.stringify(change))
  }
  assert.equal(firstSchemaProblem(SCHEMA, [])?.message, 'must be object')
  assert.equal(firstSchemaProblem(Type.String({ format: 'date-time' }), 'noon')?.message, 'must be a date-time')
  assert.equal(firstSchemaProblem(Type.String({ format: 'date-time' }), '2026-11-16T12:00:00Z'), undefined)
  const few = Type.Unsafe<object>({ type: 'object', maxProperties: 1, 'x-kubernetes-map-type': 'atomic' })
  assert.equal(firstSchemaProblem(few, { a: 1, b: 2 })?.message, 'must have at most 1 fields')
  assert.throws(
    () => firstSchemaProblem(Type.Array(Type.String(), { uniqueItems: true }), []),
    /says uniqueItems, which is not/,
  )
  assert.throws(
    () => firstSchemaProblem(Type.String({ format: 'email' }), 'x'),
    /a schema says format email, which is not checked here/,
  )
  assert.equal(firstSchemaProblem(Part, JSON.parse('{"name":"a","__proto__":1}'))?.message, 'is not known')
})

test('a value fits exactly when TypeBox says that it does', () => {
  const name = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'x'), maxLength: 4 }), fc.jsonValue())
  const number = fc.oneof(fc.integer({ min: -2, max: 7 }), fc.constantFrom(1.5, '1', null))
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const json = (shape: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(shape).map((value) => JSON.parse(JSON.stringify(value)) as unknown)
  const part = json({ name, size: maybe(number), share: maybe(number), more: maybe(fc.constantFrom(undefined, 1)) })
  const which = fc.oneof(
    json({ kind: fc.constantFrom('one', 'two', 'three'), at: maybe(number) }),
    fc.constantFrom(7, 8),
  )
  const changes = {
    parts: fc.oneof(
      fc.array(fc.oneof({ weight: 4, arbitrary: part }, fc.jsonValue()), { maxLength: 3 }),
      fc.jsonValue(),
    ),
    is: maybe(fc.constantFrom(true, false, 'true')),
    state: fc.constantFrom('a', 'b', 'c', 1),
    which,
    seen: maybe(fc.oneof(fc.dictionary(fc.string({ maxLength: 3 }), number), fc.jsonValue())),
  }
  const changed = fc.record(changes, { requiredKeys: [] }).map((change) => ({ ...GOOD, ...change }))
  const value = changed.map((given) => JSON.parse(JSON.stringify(given)) as unknown)
  let fitting = 0
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: value }, fc.jsonValue()), (given) => {
      const fits = firstSchemaProblem(SCHEMA, given) === undefined
      fitting += Number(fits)
      assert.equal(fits, Check(SCHEMA, given), JSON.stringify(given))
    }),
    { numRuns: 3_000 },
  )
  assert.ok(fitting > 20, `only ${fitting} fitted`)
})
