import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupOf, listPath, objectPath } from './paths.ts'

test('paths of lists and objects', () => {
  const cases: readonly (readonly [string, string])[] = [
    [listPath('clusters'), '/apis/flotilla.dev/v1alpha1/clusters'],
    [objectPath('rollouts', 'a', 'shop'), '/apis/flotilla.dev/v1alpha1/namespaces/shop/rollouts/a'],
    [objectPath('clusters', 'a/../b?x'), '/apis/flotilla.dev/v1alpha1/clusters/a%2F..%2Fb%3Fx'],
    [
      listPath('bundlestates', { fields: { cluster: 'a' }, limit: 5 }),
      '/apis/view.flotilla.dev/v1alpha1/bundlestates?fieldSelector=cluster%3Da&limit=5',
    ],
    [listPath('events', { namespace: 'default' }), '/api/v1/namespaces/default/events'],
  ]
  for (const [path, expected] of cases) assert.equal(path, expected)
  assert.deepEqual(['clusters', 'bundlestates', 'events', 'policies'].map(groupOf), [
    'flotilla.dev',
    'view.flotilla.dev',
    '',
    'policy.open-cluster-management.io',
  ])
})
