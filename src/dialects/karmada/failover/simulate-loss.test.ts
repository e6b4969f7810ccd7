/** A loss of clusters, played before it happens. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServedBinding } from '../served/kinds.ts'
import type { KarmadaCluster, KarmadaPlacement } from '../types.ts'
import { simulateLoss } from './simulate-loss.ts'

const NOW = 1_800_000_000_000
const NAMES = ['a', 'b', 'c']
const fleet = (lost: readonly string[]): KarmadaCluster[] =>
  NAMES.map((name) => ({
    metadata: { name },
    spec: { taints: lost.includes(name) ? [{ key: 'cluster.karmada.io/unreachable', effect: 'NoSchedule' }] : [] },
    status: { apiEnablements: [{ groupVersion: 'apps/v1', resources: [{ kind: 'Deployment' }] }] },
  }))
const WEIGHTED: KarmadaPlacement = {
  replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' },
}
const binding = (placement: KarmadaPlacement, shares: Record<string, number>, moves = true): ServedBinding => ({
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: {
    name: 'web-deployment',
    namespace: 'shop',
    annotations: { 'policy.karmada.io/applied-placement': JSON.stringify(placement) },
  },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    replicas: 6,
    placement,
    clusters: Object.entries(shares).map(([name, replicas]) => ({ name, replicas })),
    ...(moves ? { failover: { cluster: {} } } : {}),
  },
})
const lose = (one: ServedBinding, lost: readonly string[], held?: string) =>
  simulateLoss(one, { clusters: fleet(lost), lost: new Set(lost), held, now: NOW })
const EVEN = { a: 2, b: 2, c: 2 }

test('replicas move to the other clusters of the placement, also from several clusters', () => {
  const one = lose(binding(WEIGHTED, EVEN), ['a'])
  assert.deepEqual([one?.outcome, one?.isLast], ['Moves', false])
  assert.deepEqual(
    one?.after.map(({ name, replicas }) => [name, replicas]),
    [
      ['b', 3],
      ['c', 3],
    ],
  )
  const two = lose(binding(WEIGHTED, EVEN), ['a', 'b'])
  assert.deepEqual([two?.outcome, two?.after.map(({ name }) => name)], ['Moves', ['c']])
})

test('replicas stay where the policy does not ask, no cluster takes them, the loss is tolerated or too large', () => {
  const whyOf = (...args: Parameters<typeof lose>) => {
    const outcome = lose(...args)
    assert.equal(outcome?.outcome, 'Stays')
    return outcome.why
  }
  assert.match(whyOf(binding(WEIGHTED, EVEN, false), ['a'])!, /does not ask for moves/)
  const named = { ...WEIGHTED, clusterAffinity: { clusterNames: ['a'] } }
  assert.match(whyOf(binding(named, { a: 6 }), ['a'])!, /no other cluster/)
  assert.equal(lose(binding(named, { a: 6 }), ['a'])?.isLast, true)
  const forever = [{ key: 'cluster.karmada.io/unreachable', operator: 'Exists' }]
  assert.match(whyOf(binding({ ...WEIGHTED, clusterTolerations: forever }, EVEN), ['a'])!, /tolerates the loss/)
  assert.equal(whyOf(binding(WEIGHTED, EVEN), ['a'], '2 of 3 are out of reach'), '2 of 3 are out of reach')
})

test('a binding without a copy on a lost cluster is not affected', () => {
  assert.equal(lose(binding(WEIGHTED, { b: 3, c: 3 }), ['a']), undefined)
})
