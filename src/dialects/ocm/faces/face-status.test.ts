import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { isForeignNamespace, namespaceCondition, NAMESPACE_LABEL, reportedStatus } from './face-status.ts'

test('works of a namespace with another purpose are not delivered, until it is labelled', () => {
  const foreign = (cluster: string, owner?: string) =>
    isForeignNamespace(cluster, { metadata: owner === undefined ? {} : { labels: { [NAMESPACE_LABEL]: owner } } })
  assert.deepEqual(
    ['default', 'kube-system', 'flotilla-system', 'open-cluster-management'].map((name) => foreign(name)),
    [true, true, true, true],
  )
  assert.deepEqual(
    [foreign('default', 'default'), foreign('store-1'), foreign('store-1', 'store-2')],
    [false, false, true],
  )
  assert.match(namespaceCondition('default', { metadata: {} }).message, /are not delivered\. Label the namespace/)
  assert.match(namespaceCondition('store-1', { metadata: {} }).message, /reach the cluster\. Label the namespace/)
})

test('the resources of the nodes come from the claims, and only quantities are shown', () => {
  const claims = [
    { name: 'flotilla.dev/allocatable.cpu', value: '7500m' },
    { name: 'flotilla.dev/capacity.cpu', value: '8' },
    { name: 'flotilla.dev/capacity.memory', value: 'plenty' },
    { name: 'flotilla.dev/capacity.pods', value: '' },
    { name: 'flotilla.dev/nodes', value: '2' },
  ]
  const status = reportedStatus({ ...buildCluster('store-1'), status: { claims } })
  assert.deepEqual([status.capacity, status.allocatable], [{ cpu: '8' }, { cpu: '7500m' }])
  const none = reportedStatus(buildCluster('store-1'))
  assert.ok(!('capacity' in none) && !('allocatable' in none), 'the agent may not read nodes')
})
