import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customSchemasOf } from './custom-schemas.ts'

const definition = (schema: unknown) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'tills.shop.example' },
  spec: { group: 'shop.example', names: { kind: 'Till' }, versions: [{ name: 'v1', schema }] },
})

test('each version of a definition has its schema; what is no schema has none', () => {
  const openAPIV3Schema = { type: 'object' as const }
  const of = customSchemasOf([definition({ openAPIV3Schema })])
  assert.equal(of('shop.example/v1', 'Till'), openAPIV3Schema)
  assert.equal(of('shop.example/v2', 'Till'), undefined)
  assert.equal(of('shop.example/v1', 'Shop'), undefined)
  for (const broken of [undefined, 3, {}, { openAPIV3Schema: 'x' }]) {
    assert.equal(customSchemasOf([definition(broken)])('shop.example/v1', 'Till'), undefined)
  }
  assert.equal(customSchemasOf([{ ...definition({}), spec: 3 }])('shop.example/v1', 'Till'), undefined)
})
