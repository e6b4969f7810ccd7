import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { UnknownObject } from '../../kinds/meta.ts'
import { peerOf } from './peers.ts'
import { managedFieldsWithout, ownerReferencesWithout, releaseMarksPatch } from './release-marks.ts'

const OWN = 'flotilla:team/shop'
const FLEET = peerOf('fleet')!
const entry = (manager: string, operation: 'Apply' | 'Update', fieldsV1: object) => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1,
})
const live = (labels: Record<string, string>, own: object, theirs: object): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'x',
    resourceVersion: '3',
    labels,
    annotations: { 'objectset.rio.cattle.io/id': 'shop', 'meta.helm.sh/release-name': 'shop', mine: '1' },
    managedFields: [
      entry(OWN, 'Apply', own),
      entry('fleetagent', 'Update', theirs),
      entry('kubectl', 'Update', theirs),
    ],
  } as UnknownObject['metadata'],
  data: { a: '1' },
})
const DATA = { 'f:data': { 'f:a': {} } }

it('removes the marks of the other system and moves its fields, and leaves what the bundle and people have', () => {
  const labels = { 'objectset.rio.cattle.io/hash': 'abc', 'app.kubernetes.io/managed-by': 'Helm', app: 'x' }
  const patch = releaseMarksPatch(live(labels, DATA, DATA), FLEET, OWN) as { metadata: Record<string, unknown> }
  assert.deepEqual(patch.metadata['labels'], {
    'objectset.rio.cattle.io/hash': null,
    'app.kubernetes.io/managed-by': null,
  })
  assert.deepEqual(patch.metadata['annotations'], {
    'objectset.rio.cattle.io/id': null,
    'meta.helm.sh/release-name': null,
  })
  const managers = (patch.metadata['managedFields'] as { manager: string }[]).map(({ manager }) => manager)
  assert.deepEqual(managers, [OWN, 'kubectl'], 'only managers of the other system lose fields')
})

it('keeps a label that the content of the bundle has, and a value that is not of Helm', () => {
  const own = { 'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/managed-by': {} } } }
  for (const [labels, fields] of [
    [{ 'app.kubernetes.io/managed-by': 'Helm' }, own],
    [{ 'app.kubernetes.io/managed-by': 'team-a' }, DATA],
  ] as const) {
    const patch = releaseMarksPatch(live(labels, fields, {}), FLEET, OWN) as { metadata: Record<string, unknown> }
    assert.equal(patch.metadata['labels'], undefined)
  }
})

it('writes nothing to an object without marks', () => {
  const plain: UnknownObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
  assert.equal(releaseMarksPatch(plain, FLEET, OWN), undefined)
  assert.equal(managedFieldsWithout(plain, OWN), undefined)
})

it('finds owner references of the system by group and kind', () => {
  const reference = (apiVersion: string, kind: string) => ({ apiVersion, kind, name: 'a', uid: 'u' })
  const owned: UnknownObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'x',
      ownerReferences: [
        reference('work.open-cluster-management.io/v1', 'AppliedManifestWork'),
        reference('apps/v1', 'Deployment'),
        reference('work.example.com/v1', 'AppliedManifestWork'),
      ],
    },
  }
  const left = ownerReferencesWithout(owned, peerOf('ocm')!)
  assert.deepEqual(left, owned.metadata.ownerReferences!.slice(1))
  assert.equal(ownerReferencesWithout(owned, FLEET), undefined)
})
