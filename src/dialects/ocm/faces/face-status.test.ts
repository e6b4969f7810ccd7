import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForeignNamespace, namespaceCondition, NAMESPACE_LABEL } from './face-status.ts'

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
