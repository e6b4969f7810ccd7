import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { writePublicKey } from '../../wire/trust/trust-bundle.ts'
import { clusterAvailabilityReconciler } from './reconcile.ts'

function pass(cluster: Cluster, refusal?: ClusterReport['spec']['refusal']) {
  const spec = { clusterId: 'c-a', epoch: 1, revision: 7, receivedAt: '2026-01-01T00:00:00Z', bundles: [] }
  const report = build(ClusterReport, 'a', { spec: { ...spec, ...(refusal ? { refusal } : {}) } })
  const reconciler = clusterAvailabilityReconciler({
    viewsOf: () => [],
    assignmentOf: () => undefined,
    placedOn: () => [],
    reportOf: () => report,
    havingAlias: () => [],
    settleMs: 0,
  })
  return reconcileOnce(reconciler, cluster)
}

test('a clock that is wrong is said, with the way it is wrong', async () => {
  assert.equal((await pass(buildCluster('a'))).draft.conditions.get('ClockSkewed'), undefined)
  const ahead = await pass(buildCluster('a', { status: { clockSkewSeconds: 7200 } }))
  assert.match(ahead.condition('ClockSkewed'), /^True Ahead: The agent's clock is 120m ahead of the hub's/)
  const behind = await pass(buildCluster('a', { status: { clockSkewSeconds: -90 } }))
  assert.match(behind.condition('ClockSkewed'), /^True Behind: The agent's clock is 90s behind/)
  const { clockSkewSeconds: _, ...status } = ahead.draft.next.status!
  assert.match((await pass(buildCluster('a', { status }))).condition('ClockSkewed'), /^False InStep/)
})

test('a refusal is shown with the agent’s words and what to do, and taken back when it is over', async () => {
  const calm = await pass(buildCluster('a'))
  assert.equal(calm.draft.conditions.get('DocumentRefused'), undefined)
  const twin = { reason: 'Equivocation', message: 'two for revision 7', document: digestOf('x') }
  const alarm = await pass(buildCluster('a'), twin)
  assert.match(
    alarm.condition('DocumentRefused'),
    /^True Equivocation: The agent keeps revision 7: two for revision 7\. Two signed documents have one number/,
  )
  const unknown = await pass(buildCluster('a'), { reason: 'SomethingNew', message: 'no' })
  assert.equal(unknown.condition('DocumentRefused'), 'True SomethingNew: The agent keeps revision 7: no.')
  const after = await pass(buildCluster('a', { status: alarm.draft.next.status }))
  assert.match(after.condition('DocumentRefused'), /^False Followed/)
})

test('a sealing key that is to go is shown until the agent has another one', async () => {
  assert.equal((await pass(buildCluster('a'))).draft.conditions.get('SealingKeyRetired'), undefined)
  const { spec } = buildCluster('a')
  const retiredSealingKey = { key: spec.sealingKey, at: '2026-01-02T00:00:00Z', by: 'ada', reason: 'a lost laptop' }
  const asked = await pass(buildCluster('a', { spec: { retiredSealingKey } }))
  assert.match(
    asked.condition('SealingKeyRetired'),
    /^True Asked: A new sealing key was requested at 2026-01-02T00:00:00Z by ada: a lost laptop\. The agent makes the key/,
  )
  const replaced = {
    retiredSealingKey,
    sealingKey: writePublicKey(keyPairFromSeed('x25519', new Uint8Array(48).fill(5)).publicKey),
  }
  const after = await pass(buildCluster('a', { spec: replaced, status: asked.draft.next.status }))
  assert.match(after.condition('SealingKeyRetired'), /^False Replaced/)
})
