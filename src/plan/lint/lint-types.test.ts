import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBuiltinKind } from '../../kinds/builtin/kind-table.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { lintTypes } from './lint-types.ts'

const told = (object: UnknownObject) =>
  lintTypes(object, findBuiltinKind(object.apiVersion, object.kind)!.schema).map(
    ({ message, todo }) => `${message}${todo === undefined ? '' : `; ${todo}`}`,
  )
const deployment = (spec: object, metadata: object = {}): UnknownObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', ...metadata },
  spec,
})

test('a value of another type is named with its field', () => {
  assert.deepEqual(told(deployment({ replicas: 'many' })), [
    'Deployment shop/web: .spec.replicas must be of type integer, and is of type string',
  ])
  assert.deepEqual(
    told({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', namespace: 'default' },
      data: { n: 3, on: true, text: 'x' },
    }),
    [
      'ConfigMap default/a: .data.n must be of type string, and is of type integer; put the value in quotes',
      'ConfigMap default/a: .data.on must be of type string, and is of type boolean; put the value in quotes',
    ],
  )
  assert.deepEqual(told(deployment({}, { labels: { version: 1.2 } })), [
    'Deployment shop/web: .metadata.labels.version must be of type string, and is of type number; put the value in quotes',
  ])
  assert.deepEqual(told(deployment({ template: { spec: { containers: { name: 'web' } } } })), [
    'Deployment shop/web: .spec.template.spec.containers must be of type array, and is of type object',
  ])
})

test('what an API server takes is not told: absent as null, ports by name, quantities as numbers', () => {
  const container = {
    name: 'web',
    image: 'x',
    resources: { limits: { cpu: 0.5, memory: '1Gi' }, requests: { cpu: 1 } },
    livenessProbe: { httpGet: { port: 'http' } },
    readinessProbe: { httpGet: { port: 8080 } },
    env: null,
  }
  const spec = {
    replicas: 2,
    strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    template: { spec: { containers: [container] } },
  }
  assert.deepEqual(told(deployment(spec, { creationTimestamp: null })), [])
})
