import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type as TypeBox } from 'typebox'
import { Type } from './typebox.ts'

/** Every builder, as schemas use them. */
function schemasOf(type: typeof Type) {
  const limits = { minLength: 1, pattern: '^a', description: 'text' }
  const plain = type.Object({
    text: type.String(limits),
    count: type.Optional(type.Integer({ minimum: 0 })),
    share: type.Number(),
    is: type.Boolean({ default: false }),
  })
  return {
    plain,
    none: type.Object({ only: type.Optional(type.String()) }),
    closed: type.Object({ list: type.Array(plain, { maxItems: 3 }) }, { additionalProperties: false }),
    either: type.Union([type.Literal('a'), type.Literal(1), type.Literal(true, { title: 'yes' })], { default: 'a' }),
    given: type.Unsafe<string>({ type: 'string', enum: ['a', 'b'] }),
    maybeGiven: type.Object({ given: type.Optional(type.Unsafe<number>({ type: 'integer' })) }),
    less: type.Omit(plain, ['text', 'share']),
    lessOfClosed: type.Omit(type.Object({ a: type.String(), b: type.String() }, { additionalProperties: false }), [
      'a',
    ]),
  }
}

test('the builders make what TypeBox makes, with its hidden marks', () => {
  const ours = schemasOf(Type)
  const theirs = schemasOf(TypeBox)
  for (const [name, schema] of Object.entries(theirs)) {
    const own = ours[name as keyof typeof ours]
    assert.equal(JSON.stringify(own), JSON.stringify(schema), name)
    assert.deepEqual(Object.getOwnPropertyDescriptors(own), Object.getOwnPropertyDescriptors(schema), name)
  }
})
