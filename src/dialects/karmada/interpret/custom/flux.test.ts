import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interpret } from '../interpret.ts'
import type { InterpretQuestion, Operation } from '../interpret.ts'
import type { InterpretedObject } from '../shape.ts'

const ask = (operation: Operation, object: InterpretedObject, more: Partial<InterpretQuestion> = {}) =>
  interpret({ operation, object, now: '2026-01-01T00:00:00Z', ...more })

const ready = (message: string, status = 'True') => ({ type: 'Ready', status, reason: 'Succeeded', message })

const bucket = (more: object = {}): InterpretedObject => ({
  apiVersion: 'source.toolkit.fluxcd.io/v1beta2',
  kind: 'Bucket',
  metadata: {
    name: 'media',
    namespace: 'shop',
    generation: 3,
    annotations: { 'resourcetemplate.karmada.io/generation': '7' },
  },
  ...more,
})

test('conditions of one type, status and reason are one, and name their clusters', () => {
  const of = (clusterName: string, ...conditions: object[]) => ({
    clusterName,
    status: {
      conditions,
      generation: 2,
      observedGeneration: 2,
      resourceTemplateGeneration: 3,
      url: `http://${clusterName}`,
    },
  })
  const items = [of('a', ready('stored')), of('b', ready('stored'), ready('gone', 'False'))]
  const { object } = ask('AggregateStatus', bucket({ status: { observedGeneration: 1 } }), { items })
  assert.deepEqual((object as { status: unknown }).status, {
    observedGeneration: 3,
    url: 'http://b',
    conditions: [ready('a=stored, b=stored'), ready('b=gone', 'False')],
  })
})

test('the generation follows only when each cluster has observed the newest template', () => {
  const observed = (resourceTemplateGeneration: number, observedGeneration = 2) => ({
    clusterName: 'a',
    status: { generation: 2, observedGeneration, resourceTemplateGeneration },
  })
  const generationOf = (items: InterpretQuestion['items']) =>
    (
      ask('AggregateStatus', bucket({ status: { observedGeneration: 1 } }), compactItems(items)) as {
        object: { status: { observedGeneration: number } }
      }
    ).object.status.observedGeneration
  const compactItems = (items: InterpretQuestion['items']) => (items ? { items } : {})
  assert.equal(generationOf([observed(3), observed(3)]), 3)
  assert.equal(generationOf([observed(3), observed(2)]), 1, 'an older template')
  assert.equal(generationOf([observed(3), observed(3, 1)]), 1, 'not observed')
  assert.equal(generationOf([observed(3), { clusterName: 'b' }]), 1, 'not reported')
  assert.equal(generationOf(undefined), 3, 'no cluster')
})

test('a condition without a message is an error, as in Karmada', () => {
  const items = [{ clusterName: 'a', status: { conditions: [{ type: 'Ready', status: 'True' }] } }]
  assert.throws(() => ask('AggregateStatus', bucket(), { items }), /has no message/)
})

test('what is reflected, retained and healthy', () => {
  const status = { url: 'http://x', conditions: [ready('ok')], lastHandledReconcileAt: 'now' }
  assert.deepEqual(ask('InterpretStatus', bucket({ status })), {
    status: { url: 'http://x', conditions: [ready('ok')], generation: 3, resourceTemplateGeneration: 7 },
  })
  assert.deepEqual(ask('InterpretStatus', bucket()), { status: {} })
  assert.deepEqual(ask('InterpretHealth', bucket({ status })), { healthy: true })
  assert.deepEqual(ask('InterpretHealth', bucket({ status: { conditions: [ready('no', 'False')] } })), {
    healthy: false,
  })
  const kept = ask('Retain', bucket({ spec: { interval: '1m' } }), { observed: bucket({ spec: { suspend: true } }) })
  assert.deepEqual((kept['object'] as InterpretedObject)['spec'], { interval: '1m', suspend: true })
  assert.deepEqual(ask('ReviseReplica', bucket(), { replicas: 2 }), { notSupported: true })
})

test('a release: failures are added up, and what its spec names follows it', () => {
  const release = (more: object): InterpretedObject => ({
    apiVersion: 'helm.toolkit.fluxcd.io/v2beta1',
    kind: 'HelmRelease',
    metadata: { name: 'web', namespace: 'shop' },
    ...more,
  })
  const items = [1, 2].map((failures) => ({
    clusterName: `c${failures}`,
    status: { failures, lastAppliedRevision: `1.${failures}` },
  }))
  const { object } = ask('AggregateStatus', release({ status: { failures: 4 } }), { items })
  const { failures, lastAppliedRevision } = (object as { status: Record<string, unknown> }).status
  assert.deepEqual([failures, lastAppliedRevision], [7, '1.2'])
  const spec = {
    valuesFrom: [
      { kind: 'Secret', name: 'a' },
      { kind: 'ConfigMap', name: 'b' },
      { kind: 'Other', name: 'c' },
    ],
    kubeConfig: { secretRef: { name: 'a' } },
    serviceAccountName: 'deployer',
  }
  const { dependencies } = ask('InterpretDependency', release({ spec }))
  assert.deepEqual(
    (dependencies as { kind: string; name: string }[]).map(({ kind, name }) => `${kind} ${name}`),
    ['Secret a', 'ConfigMap b', 'ServiceAccount deployer'],
  )
})
