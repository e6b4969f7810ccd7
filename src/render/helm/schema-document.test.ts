import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchemaDocument, SchemaError } from './schema/schema-document.ts'

test('a reference with a broken escape is a problem of the schema, in the words of Helm', () => {
  const definitions = new Map([['a b', 'found']])
  const document = new SchemaDocument(new Map([['definitions', definitions]]))
  const missing = (_pointer: string, key: string) => `Object has no key '${key}'`
  assert.equal(document.resolve('#/definitions/a%20b', missing), 'found')
  const says = (ref: string, message: string) =>
    assert.throws(() => document.resolve(ref, missing), new SchemaError(message))
  says('#/%zz', 'parse "#/%zz": invalid URL escape "%zz"')
  says('#/a%2', 'parse "#/a%2": invalid URL escape "%2"')
  says('#/definitions/%ff', "Object has no key '%ff'")
})
