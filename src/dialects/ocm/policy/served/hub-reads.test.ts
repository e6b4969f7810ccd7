import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trackReads } from '../../../../render/bundle/track-reads.ts'
import { parseLabelQuery } from '../../../../render/policy-template/label-query.ts'
import { compilePolicy } from './compile-policy.ts'
import { hubObjects, hubReadsOf, queriesOf, readConfigMaps, secretFunctionOf } from './hub-reads.ts'

const inText = (...actions: string[]) => ({
  spec: [{ data: { a: actions.map((one) => `x {{hub ${one} hub}} y`).join() } }],
})

test('ConfigMaps with a name in the template are read alone; a computed name reads all of the namespace', () => {
  for (const [actions, wanted] of [
    [['.ManagedClusterName'], []],
    [
      ['fromConfigMap "" "b" "key"', 'copyConfigMapData "shop" "a"'],
      ['/b', 'shop/a'],
    ],
    [['(lookup "v1" "ConfigMap" "" "a").data.x'], ['/a']],
    [['fromConfigMap "" (printf "%s" .ManagedClusterName) "key"', 'fromConfigMap "" "b" "key"'], ['/']],
    [
      ['fromConfigMap "shop" .ManagedClusterName "key"', 'fromConfigMap "shop" "b" "key"'],
      ['/', 'shop/'],
    ],
    [['lookup "v1" "ConfigMap" "" ""'], ['/']],
    [['fromConfigMap "" `a` "key"'], ['/']],
    [['lookup "cluster.open-cluster-management.io/v1" "ManagedCluster" "" .ManagedClusterName'], []],
  ] as const) {
    const reads = hubReadsOf(inText(...actions)).map(({ namespace, name = '' }) => `${namespace}/${name}`)
    assert.deepEqual(reads, wanted, actions.join())
  }
  assert.deepEqual(hubReadsOf({ a: '{{ fromConfigMap "x" "b" "key" }}' }), [], 'templates of clusters read there')
})

test('a text that opens templates of the hub and closes none is searched once', () => {
  // A search that begins anew at each opening reads 187,500,000,000 characters here.
  const open = { spec: { raw: '{{hub '.repeat(250_000) } }
  assert.deepEqual(hubReadsOf(open), [])
  assert.equal(secretFunctionOf(open), undefined)
  const closed = `${open.spec.raw}fromConfigMap "" "b" "key" hub}} {{hub fromConfigMap "" "c" "key" hub}} hub}}{{hub x`
  assert.deepEqual(hubReadsOf(closed), [{ namespace: '', name: 'b' }, { namespace: '', name: 'c' }]) // prettier-ignore
})

test('templates of the hub read at most 100 ConfigMaps or namespaces', () => {
  const compiled = (reads: number) => {
    const texts = Array.from({ length: reads }, (_, at) => `fromConfigMap "ns${at}" "x" "key"`)
    const objectDefinition = {
      kind: 'ConfigurationPolicy',
      metadata: { name: 'own' },
      spec: inText(...texts, ...texts),
    }
    const spec = { disabled: false, 'policy-templates': [{ objectDefinition }] }
    return compilePolicy({ metadata: { name: 'own' }, spec }, { enforces: false, sets: [] })
  }
  assert.equal(compiled(100).ok, true)
  assert.deepEqual(compiled(101), {
    ok: false,
    isSupported: false,
    problem: 'templates of the hub read 101 ConfigMaps or namespaces, at most 100; put their values into fewer ConfigMaps', // prettier-ignore
  })
})

test('a ConfigMap with a name in the template is listed alone, and nothing is listed twice', () => {
  const reads = [{ namespace: '', name: 'a' }, { namespace: 'own', name: 'a' }, { namespace: 'shop', name: 'b,c=d' }, { namespace: 'shop', name: 'b' }] // prettier-ignore
  const named = [
    { namespace: 'own', fieldSelector: 'metadata.name=a' },
    { namespace: 'shop', fieldSelector: 'metadata.name=b' },
  ]
  assert.deepEqual(queriesOf(reads, 'own'), named)
  assert.deepEqual(queriesOf([...reads, { namespace: '' }, { namespace: 'own' }], 'own'), [{ namespace: 'own' }, named[1]]) // prettier-ignore
})

test('a function that reads a Secret of the hub is found, also in a key', () => {
  assert.equal(secretFunctionOf({ '{{hub copySecretData "" "a" hub}}': 1 }), 'copySecretData')
  assert.equal(secretFunctionOf(inText('lookup "v1" "Secret" "" "a"')), 'lookup "v1" "Secret"')
  assert.equal(secretFunctionOf({ a: '{{ fromSecret "x" "b" "key" }}' }), undefined)
})

test('only what is read becomes a part of the Bundle, and not too much of it', () => {
  const map = (name: string, size: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name, uid: 'u', labels: { l: '1' } }, data: { k: 'x'.repeat(size) } }) // prettier-ignore
  assert.deepEqual(readConfigMaps([{ namespace: '', name: 'a' }], [map('b', 1), map('a', 1)], 'shop'), {
    configMaps: [{ metadata: { namespace: 'shop', name: 'a', labels: { l: '1' } }, data: { k: 'x' } }],
  })
  const many = readConfigMaps([{ namespace: 'shop' }], [map('a', 300_000), map('b', 300_000)], 'other')
  assert.match(
    'problem' in many ? many.problem : '',
    /read 600\d\d\d bytes of ConfigMaps, at most 524288 bytes, because .* all of namespace shop/,
  )
})

test('a cluster is read as far as a template asks, and other kinds are refused by name', () => {
  const cluster = trackReads({ name: 'lyon', labels: { env: 'prod' }, annotations: {}, claims: { b: '2', a: '1' }, values: {}, kubeVersion: 'v1.36.0' }) // prettier-ignore
  const objects = hubObjects({ configMaps: [{ metadata: { namespace: 'shop', name: 'a' }, data: { k: 'v' } }], namespaces: ['shop'] }, cluster) // prettier-ignore
  assert.deepEqual(cluster.reads(), {})
  assert.throws(() => objects.resourceOf({ apiVersion: 'v1', kind: 'Secret' }), /read no Secret of v1; they read ConfigMaps/) // prettier-ignore
  const labels = parseLabelQuery('')
  assert.equal(objects.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', labels }).length, 1)
  assert.deepEqual(cluster.reads(), {}, 'a ConfigMap is no fact of the cluster')
  const elsewhere = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'other', name: 'a' }
  assert.throws(() => objects.get(elsewhere), /namespace other only where the namespace is a text in the template/)
  const query = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster', namespace: '', name: 'lyon' } // prettier-ignore
  const found = objects.get(query)
  assert.deepEqual(found?.['metadata'], { name: 'lyon', labels: { env: 'prod' }, annotations: {} })
  assert.deepEqual(found?.['status'], {
    clusterClaims: [{ name: 'a', value: '1' }, { name: 'b', value: '2' }],
    version: { kubernetes: 'v1.36.0' },
  }) // prettier-ignore
  assert.equal(cluster.reads()['name'], 'lyon')
  for (const other of [{ name: 'paris' }, { apiVersion: 'v1', kind: 'Node', name: 'n' }]) {
    assert.throws(() => objects.get({ ...query, ...other }), /read no (ManagedCluster|Node) here; they read ConfigMaps/)
  }
  assert.throws(() => objects.list({ ...query, labels }), /read no ManagedCluster here/)
})
