import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { aliasKeys } from './registration.ts'
import { clusterAvailabilityReconciler } from './reconcile.ts'

function conditionsOf(cluster: Cluster, others: readonly Cluster[] = []) {
  const fleet = [cluster, ...others]
  return reconcileOnce(
    clusterAvailabilityReconciler({
      viewsOf: () => [],
      assignmentOf: () => undefined,
      placedOn: () => [],
      reportOf: () => undefined,
      havingAlias: (key) => fleet.filter((one) => aliasKeys(one).includes(key)),
      settleMs: 0,
    }),
    cluster,
  )
}

test('rejected and revoked clusters say when and why, and how to let them in again', async () => {
  const refused = { verdict: 'Revoked', at: '2026-01-01T00:00:00Z', reason: 'laptop stolen' } as const
  // Whatever `accepted` says.
  for (const accepted of [false, true]) {
    const pass = await conditionsOf(buildCluster('a', { spec: { accepted, refused } }))
    const why = 'Revoked at 2026-01-01T00:00:00Z: laptop stolen. To let it in again: flotilla cluster accept a'
    assert.equal(pass.condition('Accepted'), `False Revoked: ${why}`)
    assert.match(pass.condition('Available'), /^Unknown NotAccepted/)
    assert.deepEqual([pass.draft.next.status?.state, pass.draft.next.status?.message], [undefined, why])
  }
})

test('two live agents are an alarm with both addresses, until one is gone', async () => {
  const one = { instance: 'aaaaaaaa', since: '2026-01-01T00:00:00Z', address: '10.0.0.1' }
  const rival = { instance: 'bbbbbbbb', since: '2026-01-02T00:00:00Z', address: '192.0.2.9' }
  const calm = await conditionsOf(buildCluster('a', { status: { agent: one } }))
  assert.equal(calm.draft.conditions.get('Cloned'), undefined)
  const alarm = await conditionsOf(buildCluster('a', { status: { agent: { ...one, rival } } }))
  assert.match(alarm.condition('Cloned'), /^True TwoAgents: .*10\.0\.0\.1.*192\.0\.2\.9.*refused.*cluster revoke a$/)
  const after = await conditionsOf(buildCluster('a', { status: { ...alarm.draft.next.status, agent: one } }))
  assert.match(after.condition('Cloned'), /^False OneAgent/)
})

test('of clusters with one alias the oldest has it', async () => {
  const named = (name: string, creationTimestamp: string) => {
    const cluster = buildCluster(name, { spec: { aliases: [{ dialect: 'fleet', name: 'fleet-default/store-1' }] } })
    return { ...cluster, metadata: { ...cluster.metadata, creationTimestamp } }
  }
  const older = named('b', '2026-01-01T00:00:00Z')
  const newer = named('a', '2026-01-02T00:00:00Z')
  assert.equal((await conditionsOf(older, [newer])).draft.conditions.get('AliasTaken'), undefined)
  const taken = await conditionsOf(newer, [older])
  assert.match(taken.condition('AliasTaken'), /^True Duplicate: .*fleet\/fleet-default\/store-1 \(of b\)/)
  const free = await conditionsOf({ ...newer, status: taken.draft.next.status! })
  assert.equal(free.draft.conditions.get('AliasTaken'), undefined)
})
