import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DIALECT_NAMES, parseDialects, servedDialects } from './dialect-names.ts'

test('an embedded hub serves all dialects, a hub on a kube-apiserver those that are named', () => {
  const ordinary = DIALECT_NAMES.filter((name) => name !== 'karmada')
  assert.deepEqual(servedDialects({}), ordinary)
  assert.deepEqual(servedDialects({ kubeconfig: 'home.kubeconfig' }), [])
  assert.deepEqual(servedDialects({ kubeconfig: 'home.kubeconfig', dialects: 'all' }), ordinary)
  assert.deepEqual(servedDialects({ dialects: 'ocm' }), ['ocm'])
  assert.deepEqual(servedDialects({ dialects: '' }), [])
  assert.deepEqual(servedDialects({ dialects: 'none' }), [])
})

test('hub templates bring karmada, and are refused where controllers would run them', () => {
  assert.deepEqual(servedDialects({ hubTemplates: 'Served' }), [...DIALECT_NAMES])
  assert.deepEqual(servedDialects({ hubTemplates: 'Served', dialects: 'karmada' }), ['karmada'])
  assert.deepEqual(servedDialects({ hubTemplates: 'Served', dialects: 'ocm' }), ['ocm', 'karmada'])
  const kube = { kubeconfig: 'home.kubeconfig' }
  assert.deepEqual(servedDialects({ ...kube, hubTemplates: 'NoControllers' }), ['karmada'])
  assert.throws(() => servedDialects({ ...kube, hubTemplates: 'Served' }), /controllers of a kube-apiserver run/)
  assert.throws(() => servedDialects({ dialects: 'karmada' }), /karmada needs hub templates/)
})

test('each dialect is named once', () => {
  assert.deepEqual(parseDialects(' ocm, fleet,ocm'), ['fleet', 'ocm'])
  assert.throws(() => parseDialects('fleet,flux2'), /unknown dialect "flux2"; valid dialects: fleet, .*none/)
  assert.throws(() => parseDialects('none,fleet'), /"none" cannot be combined with other dialects/)
})
