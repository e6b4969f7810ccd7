import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { executorRefusal, userOf, writeRefusal } from './local-limits.ts'
import type { LocalLimits } from './local-limits.ts'

const map = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'x' }
const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'x' }
const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }

describe('the ceiling', () => {
  const cases: [string, LocalLimits, typeof map | typeof role | typeof namespace, RegExp | undefined][] = [
    ['allows all when it says nothing', {}, role, undefined],
    ['allows a namespace', { namespaces: ['shop-*', 'shop'] }, map, undefined],
    [
      'refuses another namespace',
      { namespaces: ['store-*'] },
      map,
      /ConfigMap shop\/x: .* not allow namespace shop; allowed: store-\*/,
    ],
    ['refuses every namespace', { namespaces: [] }, map, /allowed: none/],
    [
      'judges a namespace as the place it is',
      { namespaces: ['store'], clusterScoped: false },
      namespace,
      /namespace shop/,
    ],
    ['allows that namespace', { namespaces: ['shop'], clusterScoped: false }, namespace, undefined],
    ['refuses what is in no namespace', { clusterScoped: false }, role, /no objects outside namespaces/],
    ['denies kinds', { denyKinds: [{ group: 'rbac.*' }] }, role, /denies kind ClusterRole/],
    ['denies no other kinds', { denyKinds: [{ group: 'rbac.*' }] }, map, undefined],
    [
      'allows only some kinds',
      { allowKinds: [{ group: '', kind: 'Secret' }] },
      map,
      /does not allow kind ConfigMap of v1/,
    ],
    ['allows these', { allowKinds: [{ group: '' }] }, map, undefined],
  ]
  for (const [name, ceiling, id, expected] of cases) {
    it(name, () => {
      const refusal = writeRefusal(ceiling, id)
      if (expected) assert.match(refusal ?? '', expected)
      else assert.equal(refusal, undefined)
    })
  }

  it('judges executors', () => {
    const deployer = { namespace: 'shop', name: 'deployer' }
    assert.equal(executorRefusal({}, undefined), undefined)
    assert.match(executorRefusal({ ownRights: false }, undefined) ?? '', /name one in spec.executor/)
    assert.equal(executorRefusal({ ownRights: false, executors: ['shop/*'] }, deployer), undefined)
    assert.match(
      executorRefusal({ executors: ['store/*'] }, deployer) ?? '',
      /not allow executor shop\/deployer; allowed: store/,
    )
    assert.equal(userOf(deployer), 'system:serviceaccount:shop:deployer')
  })
})
