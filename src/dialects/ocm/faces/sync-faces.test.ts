import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { ManagedCluster } from '../kinds.ts'
import { changeFace } from './face-changes.ts'
import { fieldsOfCluster, fieldsOfFace, formatSynced, SYNCED_ANNOTATION, syncFaces } from './sync-faces.ts'

type Labels = Record<string, string>

/** A cluster and its face that were equal with the labels `before`, and have these labels now. */
function sides(own: Labels, shown: Labels, before?: Labels): [Cluster, ManagedCluster] {
  const cluster = buildCluster('a', { labels: own })
  const fields = { ...fieldsOfCluster(cluster), ...(before ? { labels: before } : {}) }
  const annotations: Labels = before ? { [SYNCED_ANNOTATION]: formatSynced(fields) } : {}
  const spec = { hubAcceptsClient: true, leaseDurationSeconds: 24 }
  return [cluster, build(ManagedCluster, 'a', { spec }, { labels: shown, annotations })]
}

const writtenAt = (time: string, label: string) => [
  {
    manager: 'kubectl',
    operation: 'Update' as const,
    apiVersion: 'v1',
    time,
    fieldsType: 'FieldsV1' as const,
    fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${label}`]: {} } } },
  },
]

test('the side that changed a label wins; a label that one side removed goes', () => {
  const cases: [Labels, Labels, Labels | undefined, Labels][] = [
    [{ a: '1' }, { a: '1' }, { a: '1' }, { a: '1' }],
    [{ a: '2' }, { a: '1' }, { a: '1' }, { a: '2' }],
    [{ a: '1' }, { a: '2' }, { a: '1' }, { a: '2' }],
    [{}, { a: '1' }, { a: '1' }, {}],
    [{ a: '1' }, {}, { a: '1' }, {}],
    [{ a: '1' }, { b: '1' }, undefined, { a: '1', b: '1' }],
    [
      { a: '1', b: '2' },
      { a: '3', b: '1' },
      { a: '1', b: '1' },
      { a: '3', b: '2' },
    ],
  ]
  for (const [own, shown, before, wanted] of cases) {
    assert.deepEqual(syncFaces(...sides(own, shown, before)).labels, wanted, JSON.stringify([own, shown, before]))
  }
})

test('a label that both sides changed has the value of the newer write', () => {
  const [cluster, face] = sides({ a: '2' }, { a: '3' }, { a: '1' })
  cluster.metadata.managedFields = writtenAt('2026-01-01T00:00:01Z', 'a')
  face.metadata.managedFields = writtenAt('2026-01-01T00:00:02Z', 'a')
  assert.deepEqual(syncFaces(cluster, face).labels, { a: '3' })
  face.metadata.managedFields = writtenAt('2026-01-01T00:00:00Z', 'a')
  assert.deepEqual(syncFaces(cluster, face).labels, { a: '2' })
})

test('a damaged annotation and hostile names of labels are read as data', () => {
  const [cluster, face] = sides({ a: '1' }, { b: '1', toString: 'x' })
  for (const text of ['', '[]', '{"labels":', 'null']) {
    face.metadata.annotations = { [SYNCED_ANNOTATION]: text }
    assert.deepEqual(syncFaces(cluster, face).labels, { a: '1', b: '1', toString: 'x' })
  }
})

const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), fc.constantFrom('1', '2', '3'))

test('property: after both sides took the result they are equal, and a second pass changes nothing', () => {
  fc.assert(
    fc.property(labels, labels, fc.option(labels, { nil: undefined }), (own, shown, before) => {
      const [cluster, face] = sides(own, shown, before)
      const fields = syncFaces(cluster, face)
      cluster.metadata.labels = { ...fields.labels }
      changeFace(face, fields, { now: 0, conditions: [] })
      assert.deepEqual(fieldsOfFace(face), fieldsOfCluster(cluster))
      assert.deepEqual(syncFaces(cluster, face), fieldsOfCluster(cluster))
    }),
  )
})

test('the lease of OCM and the offline tolerance are one setting, within its limits', () => {
  const [cluster, face] = sides({}, {}, {})
  assert.equal(syncFaces(cluster, face).leaseDurationSeconds, 24)
  face.spec.leaseDurationSeconds = 60
  assert.equal(syncFaces(cluster, face).leaseDurationSeconds, 60)
  face.spec.leaseDurationSeconds = 2_000_000_000
  assert.equal(syncFaces(cluster, face).leaseDurationSeconds, 6_307_200)
  face.spec.leaseDurationSeconds = 0
  assert.equal(syncFaces(cluster, face).leaseDurationSeconds, 60)
})
