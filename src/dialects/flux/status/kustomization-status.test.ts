import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from '../../../testing/fixtures/builders.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { inventoryId, readyState } from './kustomization-status.ts'

type Condition = readonly [type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string]

function bundle(conditions: readonly Condition[] = [], more: object = {}): Bundle {
  const status = {
    release: 'apps-g1',
    conditions: conditions.map(([type, is, reason, message]) => ({
      type,
      status: is,
      reason,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    ...more,
  }
  return { ...build(Bundle, 'flux-system/kustomization-apps', { spec: { placement: 'all' } }), status }
}

const NONE = { total: 0, ready: 0, progressing: 0, pending: 0, failed: 0, offline: 0 }
const said = (facts: Partial<Parameters<typeof readyState>[0]>) => {
  const known = { bundle: bundle(), counts: NONE, revision: 'main@sha1:a', newest: 'main@sha1:a' }
  const { status, reason, message } = readyState({ ...known, ...facts })
  return `${status} ${reason}: ${message}`
}

test('Ready is True only when every cluster has the revision', () => {
  assert.equal(
    said({ counts: { ...NONE, total: 1, ready: 1 } }),
    'True ReconciliationSucceeded: Applied revision: main@sha1:a',
  )
  assert.equal(
    said({ counts: { ...NONE, total: 3, ready: 3 } }),
    'True ReconciliationSucceeded: Applied revision: main@sha1:a on 3 clusters',
  )
  assert.equal(
    said({ counts: { ...NONE, total: 3, ready: 1, pending: 2 } }),
    'Unknown Progressing: Applying revision main@sha1:a: 1 ready, 2 pending of 3 clusters',
  )
  assert.equal(
    said({ counts: { ...NONE, total: 2, ready: 1, failed: 1 }, failure: 'c1: image not found' }),
    'False HealthCheckFailed: 1 ready, 1 failed of 2 clusters: c1: image not found',
  )
  assert.equal(
    said({ counts: { ...NONE, total: 1, ready: 1 }, newest: 'main@sha1:b' }),
    'Unknown Progressing: Building revision main@sha1:b.',
  )
  assert.match(said({ counts: { ...NONE, total: 2, ready: 1, offline: 1 } }), /^Unknown Progressing: .*1 offline of 2/)
})

test('no cluster, a failed build and a held change are said', () => {
  assert.equal(said({}), 'False NoCluster: No cluster is selected.')
  assert.match(said({ bundle: undefined, counts: undefined }), /^Unknown Progressing: Building revision main@sha1:a/)
  const failed = bundle([['Rendered', 'False', 'RenderFailed', 'Cannot render it.']])
  assert.equal(said({ bundle: failed }), 'False BuildFailed: Cannot render it.')
  const partly = bundle([['Rendered', 'True', 'PartlyRendered', 'Not for c2.']])
  assert.equal(said({ bundle: partly, counts: { ...NONE, total: 2, ready: 2 } }), 'False BuildFailed: Not for c2.')
  const held = bundle([['Ready', 'False', 'DropHeld', 'It would drop 3 of 4 objects.']], { held: { token: 't' } })
  assert.equal(said({ bundle: held }), 'False ReconciliationFailed: It would drop 3 of 4 objects.')
  const unplaced = bundle([['Unplaced', 'True', 'PlacementEmpty', 'Placement all selects no cluster.']])
  assert.equal(said({ bundle: unplaced }), 'False NoCluster: Placement all selects no cluster.')
})

test('counts of older content are not the state of the Kustomization', () => {
  const counts = { ...NONE, total: 1, ready: 1 }
  const building = 'Unknown Progressing: Building revision main@sha1:a.'
  const older = bundle([], { observedGeneration: 1 })
  assert.equal(said({ bundle: { ...older, metadata: { ...older.metadata, generation: 2 } }, counts }), building)
  assert.match(said({ bundle: { ...older, metadata: { ...older.metadata, generation: 1 } }, counts }), /^True/)
  assert.equal(said({ counts, isWritten: true }), building)
  const waiting = (reason: string) => said({ counts, bundle: bundle([['Reconciling', 'True', reason, 'It waits.']]) })
  assert.equal(waiting('InputNotAllowed'), 'False BuildFailed: It waits.')
  assert.equal(waiting('RenderQuota'), 'Unknown Progressing: It waits.')
  assert.match(waiting('RollingOut'), /^True/)
})

test('ids of an inventory are as in Flux', () => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a', name: 'web' }
  assert.deepEqual(inventoryId(deployment), { id: 'a_web_apps_Deployment', v: 'v1' })
  assert.deepEqual(inventoryId({ apiVersion: 'v1', kind: 'Namespace', name: 'a' }), { id: '_a__Namespace', v: 'v1' })
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'system:a' }
  assert.equal(inventoryId(role).id, '_system__a_rbac.authorization.k8s.io_ClusterRole')
})
