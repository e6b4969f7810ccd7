import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIALECT_NAMES, parseDialects, servedDialects } from './dialect-names.ts'

test('an embedded hub serves all dialects, a hub on a kube-apiserver those that are named', () => {
  assert.deepEqual(servedDialects({}), [...DIALECT_NAMES])
  assert.deepEqual(servedDialects({ kubeconfig: 'home.kubeconfig' }), [])
  assert.deepEqual(servedDialects({ kubeconfig: 'home.kubeconfig', dialects: 'all' }), [...DIALECT_NAMES])
  assert.deepEqual(servedDialects({ dialects: 'ocm' }), ['ocm'])
  assert.deepEqual(servedDialects({ dialects: '' }), [])
  assert.deepEqual(servedDialects({ dialects: 'none' }), [])
})

test('each dialect is named once', () => {
  assert.deepEqual(parseDialects(' ocm, fleet,ocm'), ['fleet', 'ocm'])
  assert.throws(() => parseDialects('fleet,flux2'), /unknown dialect "flux2"; valid dialects: fleet, .*none/)
  assert.throws(() => parseDialects('none,fleet'), /"none" cannot be combined with other dialects/)
})
