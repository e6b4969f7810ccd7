import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import type { FleetCluster } from '../kinds.ts'
import { desiredCluster, mergeLabels } from './cluster-face.ts'

const face = (spec: NonNullable<FleetCluster['spec']> = {}): FleetCluster => ({
  apiVersion: 'fleet.cattle.io/v1alpha1',
  kind: 'Cluster',
  metadata: { namespace: 'clusters', name: 'store' },
  spec,
})
const AT = { name: 'store', labels: { ring: '1' }, now: '2026-01-01T00:00:00Z' }

test('a label that changed in one place changes in the other one; of two changes that of Fleet counts', () => {
  const table: [Record<string, string>, Record<string, string>, Record<string, string>, Record<string, string>][] = [
    [{}, { a: '1' }, { b: '2' }, { a: '1', b: '2' }],
    [{ a: '1' }, { a: '1' }, { a: '2' }, { a: '2' }],
    [{ a: '1' }, { a: '2' }, { a: '1' }, { a: '2' }],
    [{ a: '1' }, {}, { a: '1' }, {}],
    [{ a: '1' }, { a: '1' }, {}, {}],
    [{ a: '1' }, { a: '2' }, { a: '3' }, { a: '2' }],
    [{ a: '1' }, {}, { a: '3' }, {}],
  ]
  for (const [common, of, own, merged] of table) assert.deepEqual(mergeLabels(common, of, own), merged)
})

test('a kubeconfig, labels and the workspace reach the Cluster, whose other fields stay', () => {
  const made = desiredCluster(face({ kubeConfigSecret: 's' }), undefined, AT)
  assert.deepEqual(made.spec.kubeconfigSecret, { namespace: 'clusters', name: 's', key: 'value' })
  assert.deepEqual(made.metadata.labels, { ring: '1', 'fleet.cattle.io/workspace': 'clusters' })
  assert.deepEqual([made.spec.accepted, made.spec.aliases], [true, [{ dialect: 'fleet', name: 'clusters/store' }]])
  const own = buildCluster('store', { spec: { timeZone: 'Europe/Berlin', aliases: [{ dialect: 'argo', name: 'x' }] } })
  const kept = desiredCluster(face(), own, AT)
  assert.deepEqual([kept.spec.timeZone, kept.spec.aliases?.length], ['Europe/Berlin', 2])
})

test('paused holds the cluster, and ends only the hold that it made', () => {
  const paused = desiredCluster(face({ paused: true }), buildCluster('store'), AT)
  assert.equal(paused.spec.hold?.reason, 'paused in Fleet')
  assert.equal(desiredCluster(face(), paused, AT).spec.hold, undefined)
  const hold = { reason: 'power works', since: '2026-01-01T00:00:00Z' }
  const held = buildCluster('store', { spec: { hold } })
  for (const spec of [{ paused: true }, {}]) assert.deepEqual(desiredCluster(face(spec), held, AT).spec.hold, hold)
})
