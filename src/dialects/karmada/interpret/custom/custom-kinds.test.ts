import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpret } from '../interpret.ts'
import type { InterpretedObject } from '../shape.ts'

const now = '2026-01-01T00:00:00Z'

test('Kyverno: rules are counted over all clusters, and ready is believed before conditions', () => {
  const policy = (more: object = {}): InterpretedObject => ({
    apiVersion: 'kyverno.io/v1',
    kind: 'ClusterPolicy',
    metadata: { name: 'labels' },
    ...more,
  })
  const ready = { type: 'Ready', status: 'True', reason: 'Succeeded', message: 'ok' }
  const items = [
    { clusterName: 'a', status: { ready: true, rulecount: { validate: 2, mutate: 1 }, conditions: [ready] } },
    { clusterName: 'b', status: { ready: false, rulecount: { validate: 1 } } },
  ]
  const { object } = interpret({ operation: 'AggregateStatus', object: policy(), items, now })
  assert.deepEqual((object as InterpretedObject)['status'], {
    ready: false,
    rulecount: { generate: 0, mutate: 1, validate: 3, verifyimages: 0 },
    conditions: [{ ...ready, message: 'a=ok' }],
  })
  const healthy = (status: object) =>
    interpret({ operation: 'InterpretHealth', object: policy({ status }), now })['healthy']
  assert.equal(healthy({ ready: false, conditions: [ready] }), false)
  assert.equal(healthy({ conditions: [ready] }), true)
  assert.deepEqual(interpret({ operation: 'InterpretStatus', object: policy({ status: { other: 1 } }), now }), {
    status: {},
  })
})
