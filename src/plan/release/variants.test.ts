import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import { clusterInputsOf, contentFor, variantKey } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

const [A, B] = [digestOf('a'), digestOf('b')]
const at = (labels: Record<string, string>) => clusterInputsOf(buildCluster('c1', { labels }))

test('the first variant that fits is the cluster’s; nothing fits a cluster that was never rendered for', () => {
  const variants: ReleaseVariant[] = [
    { when: { 'labels.env': 'prod' }, set: A },
    { when: { 'labels.env': 'lab' }, skip: 'variant lab' },
    { when: {}, absent: ['labels.env'], problem: 'no env' },
    { when: { 'labels.env': 'dev', name: 'c1' }, set: B },
  ]
  const bundle = { set: A, variants }
  assert.deepEqual(contentFor(bundle, at({ env: 'prod', x: '1' })), { kind: 'Set', set: A })
  assert.deepEqual(contentFor(bundle, at({ env: 'dev' })), { kind: 'Set', set: B })
  assert.deepEqual(contentFor(bundle, at({ env: 'lab' })), { kind: 'Skip', by: 'variant lab' })
  assert.deepEqual(contentFor(bundle, at({})), { kind: 'Problem', problem: 'no env' })
  assert.deepEqual(contentFor(bundle, at({ env: 'other' })), { kind: 'Unknown' })
  assert.deepEqual(contentFor(bundle, undefined), { kind: 'Unknown' })
  assert.deepEqual(
    contentFor({ set: A }, undefined),
    { kind: 'Set', set: A },
    'without variants it is for all clusters',
  )
})

test('what a render read is written down with what was not there', () => {
  assert.deepEqual(variantKey({ 'labels.a': 'x', 'labels.b': null }), {
    when: { 'labels.a': 'x' },
    absent: ['labels.b'],
  })
  assert.deepEqual(variantKey({}), { when: {} })
})

test('id, labels, annotations, claims, values and the version of a cluster are its inputs', () => {
  const status = { kubernetesVersion: 'v1.33.1', claims: [{ name: 'region', value: 'eu' }] }
  const cluster = buildCluster('c1', { labels: { a: 'b' }, spec: { values: { vat: 19 } }, status })
  assert.deepEqual(clusterInputsOf(cluster), {
    name: 'c1',
    id: cluster.spec.id,
    labels: { a: 'b' },
    annotations: {},
    claims: { region: 'eu' },
    values: { vat: 19 },
    kubeVersion: 'v1.33.1',
  })
})
