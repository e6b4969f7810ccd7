import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trackReads } from '../../../../render/bundle/track-reads.ts'
import { parseLabelQuery } from '../../../../render/policy-template/label-query.ts'
import { hubObjects, hubReadsOf, readConfigMaps, secretFunctionOf } from './hub-reads.ts'

const inText = (...actions: string[]) => ({
  spec: [{ data: { a: actions.map((one) => `x {{hub ${one} hub}} y`).join() } }],
})

test('ConfigMaps with a name in the template are read alone; a computed name reads all of the namespace', () => {
  for (const [actions, wanted] of [
    [['.ManagedClusterName'], undefined],
    [
      ['fromConfigMap "" "b" "key"', 'copyConfigMapData "shop" "a"'],
      ['a', 'b'],
    ],
    [['(lookup "v1" "ConfigMap" "" "a").data.x'], ['a']],
    [['fromConfigMap "" (printf "%s" .ManagedClusterName) "key"', 'fromConfigMap "" "b" "key"'], 'all'],
    [['lookup "v1" "ConfigMap" "" ""'], 'all'],
    [['fromConfigMap "" `a` "key"'], 'all'],
    [['lookup "cluster.open-cluster-management.io/v1" "ManagedCluster" "" .ManagedClusterName'], undefined],
  ] as const) {
    assert.deepEqual(hubReadsOf(inText(...actions)), wanted, actions.join())
  }
  assert.equal(hubReadsOf({ a: '{{ fromConfigMap "x" "b" "key" }}' }), undefined, 'templates of clusters read there')
})

test('a function that reads a Secret of the hub is found, also in a key', () => {
  assert.equal(secretFunctionOf({ '{{hub copySecretData "" "a" hub}}': 1 }), 'copySecretData')
  assert.equal(secretFunctionOf(inText('lookup "v1" "Secret" "" "a"')), 'lookup "v1" "Secret"')
  assert.equal(secretFunctionOf({ a: '{{ fromSecret "x" "b" "key" }}' }), undefined)
})

test('only what is read becomes a part of the Bundle, and not too much of it', () => {
  const map = (name: string, size: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: 'u', labels: { l: '1' } }, data: { k: 'x'.repeat(size) } }) // prettier-ignore
  assert.deepEqual(readConfigMaps(['a'], [map('b', 1), map('a', 1)]), {
    configMaps: [{ metadata: { name: 'a', labels: { l: '1' } }, data: { k: 'x' } }],
  })
  const many = readConfigMaps('all', [map('a', 300_000), map('b', 300_000)])
  assert.match('problem' in many ? many.problem : '', /read 600\d\d\d bytes of ConfigMaps .*at most 524288 bytes/)
})

test('a cluster is read as far as a template asks, and other kinds are refused by name', () => {
  const cluster = trackReads({ name: 'lyon', labels: { env: 'prod' }, annotations: {}, claims: { b: '2', a: '1' }, values: {}, kubeVersion: 'v1.36.0' }) // prettier-ignore
  const objects = hubObjects([{ metadata: { name: 'a' }, data: { k: 'v' } }], 'shop', cluster)
  assert.deepEqual(cluster.reads(), {})
  assert.throws(() => objects.resourceOf({ apiVersion: 'v1', kind: 'Secret' }), /read no Secret of v1; they read ConfigMaps of namespace shop/) // prettier-ignore
  const labels = parseLabelQuery('')
  assert.equal(objects.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', labels }).length, 1)
  assert.deepEqual(cluster.reads(), {}, 'a ConfigMap is no fact of the cluster')
  const query = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster', namespace: '', name: 'lyon' } // prettier-ignore
  const found = objects.get(query)
  assert.deepEqual(found?.['metadata'], { name: 'lyon', labels: { env: 'prod' }, annotations: {} })
  assert.deepEqual(found?.['status'], {
    clusterClaims: [{ name: 'a', value: '1' }, { name: 'b', value: '2' }],
    version: { kubernetes: 'v1.36.0' },
  }) // prettier-ignore
  assert.equal(cluster.reads()['name'], 'lyon')
})
