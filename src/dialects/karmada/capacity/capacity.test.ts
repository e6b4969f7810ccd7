/** Division by free resources that agents report: room of nodes and quotas, and clusters that have not answered. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { faceOf, schedulerCluster } from '../served/cluster-face.ts'
import type { ServedBinding } from '../served/kinds.ts'
import { afterCapacity, scheduleServed } from '../served/schedule-served.ts'
import type { KarmadaPlacement } from '../types.ts'
import { awaitedCapacity, patienceFor } from './reported-capacity.ts'
import type { Capacity } from './reported-capacity.ts'

const amounts = (cpu: string, pods = '100') => [
  { name: 'cpu', amount: cpu },
  { name: 'pods', amount: pods },
]
/** A cluster of nodes with these free cores each. */
const free = (cores: readonly number[], more: Partial<Capacity> = {}): Capacity => ({
  allocatable: amounts(`${cores.length * 10}`),
  free: amounts(`${cores.reduce((sum, one) => sum + one, 0)}`),
  nodes: cores.map((one) => ({ count: 1, free: amounts(`${one}`) })),
  ...more,
})
const cluster = (name: string, spec: Partial<Cluster['spec']> = {}): Cluster => {
  const built = buildCluster(name)
  const isHere = { type: 'Available', status: 'True', reason: 'x', message: '', lastTransitionTime: '' } as const
  return { ...built, spec: { ...built.spec, ...spec }, status: { ...built.status, conditions: [isHere] } }
}
const DYNAMIC: KarmadaPlacement = {
  replicaScheduling: {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  },
}
const AGGREGATED: KarmadaPlacement = {
  replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' },
}
const binding = (placement: KarmadaPlacement, replicas: number, cpu = '1'): ServedBinding => ({
  apiVersion: 'work.karmada.io/v1alpha2',
  kind: 'ResourceBinding',
  metadata: { name: 'web-deployment', namespace: 'shop' },
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' },
    replicas,
    replicaRequirements: { resourceRequest: { cpu } },
    placement,
  },
})
const shares = (one: ServedBinding, fleet: Readonly<Record<string, Capacity | undefined>>) => {
  const clusters = Object.entries(fleet).map(([name, capacity]) => schedulerCluster(cluster(name), capacity))
  const decided = scheduleServed(one, clusters)
  return decided.scheduled.status === 'True'
    ? Object.fromEntries(decided.clusters.map(({ name, replicas }) => [name, replicas]))
    : decided.scheduled.reason
}

describe('free resources', () => {
  test('are the weights of a division', () => {
    assert.deepEqual(shares(binding(DYNAMIC, 12), { a: free([18]), b: free([12]), c: free([6]) }), { a: 6, b: 4, c: 2 })
    assert.deepEqual(shares(binding(AGGREGATED, 12), { a: free([12]), b: free([6]), c: free([6]) }), { a: 12 })
  })

  test('count node by node: a pod needs a node with room for the whole of it', () => {
    assert.deepEqual(shares(binding(DYNAMIC, 2, '4'), { a: free([3, 3, 3]), b: free([9]) }), { b: 2 })
    assert.equal(shares(binding(DYNAMIC, 3, '4'), { a: free([3, 3, 3]), b: free([9]) }), 'Unschedulable')
    const fewPods = free([10], { nodes: [{ count: 1, free: amounts('10', '1') }] })
    assert.deepEqual(shares(binding(DYNAMIC, 2), { a: fewPods, b: free([1]) }), { a: 1, b: 1 })
  })

  test('are limited by quotas of the namespace, and of no other', () => {
    const quota = (namespace: string) => free([100], { quotas: [{ namespace, free: amounts('2') }] })
    assert.equal(shares(binding(DYNAMIC, 5), { a: quota('shop') }), 'Unschedulable')
    assert.deepEqual(shares(binding(DYNAMIC, 5), { a: quota('other') }), { a: 5 })
  })

  test('that are not reported, or are no quantities, are no room', () => {
    assert.deepEqual(shares(binding(DYNAMIC, 2), { a: undefined, b: free([2]) }), { b: 2 })
    const hostile = free([2], { free: amounts('many', '-7'), nodes: [{ count: 5, free: amounts('-9') }] })
    assert.deepEqual(shares(binding(DYNAMIC, 2), { a: hostile, b: free([2]) }), { b: 2 })
  })

  test('of a cluster that lies take replicas from no other cluster that has room', () => {
    const many = [{ name: 'pods', amount: '4294967295' }]
    const huge = { allocatable: many, free: many, nodes: [{ count: 2_000_000_000, free: [...amounts('1E', '1E')] }] }
    const clusters = { a: huge, b: huge, c: free([50]) }
    const divided = shares(binding(AGGREGATED, 3), clusters)
    assert.notEqual(divided, 'Unschedulable')
  })

  test('stand on the face of the cluster', () => {
    const { status } = faceOf(cluster('a'), free([3, 4]))
    assert.deepEqual(status?.resourceSummary, {
      allocatable: { cpu: '20', pods: '100' },
      allocated: { cpu: '13', pods: '0' },
    })
  })
})

describe('a cluster that has not answered', () => {
  const now = Date.parse('2026-11-19T12:00:00Z')
  const asked = (spec: Partial<Cluster['spec']>) => {
    const one = cluster('a', spec)
    return [{ cluster: snapshotOf(schedulerCluster(one)), waitMs: patienceFor(one, now) }]
  }

  test('is waited for two minutes after the hub asked it, and only where free resources decide', () => {
    const recent = asked({ capacityAskedAt: '2026-11-19T11:59:00Z' })
    assert.equal(awaitedCapacity(DYNAMIC, recent)?.waitMs, 60_000)
    assert.match(awaitedCapacity(DYNAMIC, recent)?.message ?? '', /agents of a have reported/)
    assert.notEqual(awaitedCapacity(DYNAMIC, asked({})), undefined, 'it has not been asked yet')
    assert.equal(awaitedCapacity(DYNAMIC, asked({ capacityAskedAt: '2026-11-19T11:00:00Z' })), undefined)
    assert.equal(awaitedCapacity({}, recent), undefined)
    assert.equal(awaitedCapacity({ ...DYNAMIC, clusterAffinity: { clusterNames: ['b'] } }, recent), undefined)
  })

  test('holds a first decision, and none that changes nothing', () => {
    const recent = asked({})
    const fleet = [schedulerCluster(cluster('a')), schedulerCluster(cluster('b'), free([9]))]
    const first = binding(DYNAMIC, 2)
    const held = afterCapacity(first, scheduleServed(first, fleet), recent)
    assert.deepEqual([held.clusters, held.scheduled.status, held.waitMs], [[], 'False', 120_000])
    assert.equal(held.appliedPlacement, undefined)
    const settled: ServedBinding = {
      ...first,
      metadata: { ...first.metadata, annotations: { 'policy.karmada.io/applied-placement': JSON.stringify(DYNAMIC) } },
      spec: { ...first.spec, clusters: [{ name: 'b', replicas: 2 }] },
    }
    assert.equal(afterCapacity(settled, scheduleServed(settled, fleet), recent).scheduled.status, 'True')
  })
})
