import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeDenied } from './object-failure.ts'

describe('denied calls', () => {
  it('are named with verb, resource and subject', () => {
    const said =
      'deployments.apps "x" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "deployments" in API group "apps" in the namespace "shop"'
    assert.equal(
      describeDenied(said),
      'denied: system:serviceaccount:a:b may not patch deployments.apps in namespace shop',
    )
    const wide =
      'namespaces is forbidden: User "u" cannot create resource "namespaces" in API group "" at the cluster scope'
    assert.equal(describeDenied(wide), 'denied: u may not create namespaces')
    assert.equal(describeDenied('exceeded quota'), undefined)
  })
})
