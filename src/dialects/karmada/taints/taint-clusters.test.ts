/** Taints of ClusterTaintPolicies on Clusters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import type { ServedTaintPolicy } from './kinds.ts'
import { taintsOf } from './taint-clusters.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const cluster = (available: 'True' | 'False', taints: Cluster['spec']['taints'] = []): Cluster => {
  const built = buildCluster('a', { labels: { tier: 'x' } })
  const condition = { type: 'Available', status: available, reason: 'x', message: '', lastTransitionTime: '' } as const
  return {
    ...built,
    spec: { ...built.spec, ...(taints.length > 0 ? { taints } : {}) },
    status: { ...built.status, conditions: [condition] },
  }
}
const policy = (more: Partial<ServedTaintPolicy['spec']> = {}): ServedTaintPolicy => ({
  apiVersion: 'policy.karmada.io/v1alpha1',
  kind: 'ClusterTaintPolicy',
  metadata: { name: 'p' },
  spec: {
    addOnConditions: [{ conditionType: 'Ready', operator: 'NotIn', statusValues: ['True'] }],
    removeOnConditions: [{ conditionType: 'Ready', operator: 'In', statusValues: ['True'] }],
    taints: [{ key: 'not-ready', effect: 'NoSchedule' }],
    ...more,
  },
})
const tainted = { key: 'not-ready', effect: 'NoSelectIfNew' as const, timeAdded: '2026-03-01T12:00:00Z' }

test('a taint comes with the conditions that add it, and goes with those that remove it', () => {
  assert.deepEqual(taintsOf(cluster('False'), [policy()], NOW), [tainted])
  assert.equal(taintsOf(cluster('False', [tainted]), [policy()], NOW), undefined, 'nothing to write')
  assert.deepEqual(taintsOf(cluster('True', [tainted]), [policy()], NOW), [])
  assert.equal(taintsOf(cluster('True'), [policy()], NOW), undefined)
  assert.deepEqual(
    taintsOf(
      cluster('False'),
      [policy({ addOnConditions: [{ conditionType: 'Available', operator: 'In', statusValues: ['False'] }] })],
      NOW,
    ),
    [tainted],
    'conditions of the Cluster count, too',
  )
})

test('taints of others stay, and a policy concerns the clusters that it selects', () => {
  const other = { key: 'repair', effect: 'NoSelect' as const }
  assert.deepEqual(taintsOf(cluster('False', [other]), [policy()], NOW), [other, tainted])
  assert.deepEqual(taintsOf(cluster('True', [other, tainted]), [policy()], NOW), [other])
  const elsewhere = { targetClusters: { labelSelector: { matchLabels: { tier: 'y' } } } }
  assert.equal(taintsOf(cluster('False'), [policy(elsewhere)], NOW), undefined)
})

test('a taint with the effect NoExecute is not written, and one without conditions neither', () => {
  assert.equal(taintsOf(cluster('False'), [policy({ taints: [{ key: 'x', effect: 'NoExecute' }] })], NOW), undefined)
  assert.equal(taintsOf(cluster('False'), [policy({ addOnConditions: [] })], NOW), undefined)
})
