import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exact, warned } from './field-table.ts'
import { fieldsSchema } from './fields-schema.ts'

test('known fields have their types, and unknown fields are kept at every level', () => {
  const schema = fieldsSchema(
    {
      name: exact('text', 'Name.'),
      parts: warned({ items: { at: exact('text', '') } }, 'parts has no effect'),
      inner: exact({ on: exact('flag', '') }, ''),
    },
    { required: ['name'] },
  )
  const kept = { 'x-kubernetes-preserve-unknown-fields': true }
  assert.deepEqual(schema, {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', description: 'Name.' },
      parts: {
        type: 'array',
        items: { type: 'object', properties: { at: { type: 'string' } }, ...kept },
        description: 'parts has no effect',
      },
      inner: { type: 'object', properties: { on: { type: 'boolean' } }, ...kept },
    },
    ...kept,
  })
})
