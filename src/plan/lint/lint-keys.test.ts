import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUILTIN_MINOR_VERSION, findBuiltinKind } from '../../kinds/builtin/kind-table.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { lintContentFields } from './lint-fields.ts'
import { lintKeys } from './lint-keys.ts'

const CLUSTERS = [{ name: 'c1', kubeVersion: `v1.${BUILTIN_MINOR_VERSION}.0` }]
const configMap = (body: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop' },
  ...(readYamlDocument(body, { resolver: '1.1' }).value as object),
})

test('a key that YAML reads as a boolean is found, with the map and the words', () => {
  const found = lintContentFields(configMap('data: {n: "3", on: "4", text: x}'), CLUSTERS)
  assert.deepEqual(
    found.map(({ check, severity, message, todo }) => [check, severity, message, todo]),
    [
      [
        'boolean-key',
        'warning',
        'ConfigMap shop/a: .data has the key "false"',
        'put the key in quotes; without quotes, YAML reads n, no and off as false',
      ],
      [
        'boolean-key',
        'warning',
        'ConfigMap shop/a: .data has the key "true"',
        'put the key in quotes; without quotes, YAML reads y, yes and on as true',
      ],
    ],
  )
})

test('keys in quotes and fields of the schema are not found; labels of a template are', () => {
  assert.deepEqual(lintContentFields(configMap('data: {"n": "3", "on": "4"}'), CLUSTERS), [])
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', true: 'no field of metadata' },
    spec: { template: { metadata: { labels: { true: 'a' } } } },
  }
  assert.deepEqual(
    lintKeys(deployment, findBuiltinKind('apps/v1', 'Deployment')!.schema).map(({ message }) => message),
    ['Deployment shop/web: .spec.template.metadata.labels has the key "true"'],
  )
})
