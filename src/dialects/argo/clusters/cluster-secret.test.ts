import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../../kinds/builtin/core.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { chooseCluster, commonOf, mergedLabels, wantedCluster } from './cluster-of-secret.ts'
import { readClusterSecret, readWindow } from './cluster-secret.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'

function secret(
  data: Record<string, string>,
  { labels = {}, annotations = {} }: { labels?: Record<string, string>; annotations?: Record<string, string> } = {},
): Secret {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]))
  const made = build(Secret, 'argocd/store-1', { data: encoded })
  const all = { 'argocd.argoproj.io/secret-type': 'cluster', ...labels }
  return { ...made, metadata: { ...made.metadata, labels: all, annotations } }
}

const server = 'https://10.0.0.7:6443'
const read = (config: object, more: Record<string, string> = {}) =>
  readClusterSecret(secret({ name: 'store-1', server: `${server}/`, config: JSON.stringify(config), ...more }))

test('credentials of a cluster Secret become a kubeconfig', () => {
  const token = read({ bearerToken: 'sesame', tlsClientConfig: { caData: btoa(PEM), serverName: 'api' } })
  assert.deepEqual(token.findings, [])
  const { clusters, users } = JSON.parse(token.kubeconfig!) as {
    clusters: { cluster: object }[]
    users: { user: object }[]
  }
  assert.deepEqual(clusters[0]?.cluster, {
    server,
    'certificate-authority-data': btoa(PEM),
    'tls-server-name': 'api',
  })
  assert.deepEqual(users[0]?.user, { token: 'sesame' })
  const cert = read({ tlsClientConfig: { caData: btoa(PEM), certData: btoa('cert'), keyData: btoa('key') } })
  assert.match(cert.kubeconfig!, /"client-key-data":"a2V5"/)
  assert.equal(read({}).kubeconfig, undefined)
  assert.equal(readClusterSecret(secret({ name: 'in-cluster', server })).kubeconfig, undefined)
})

test('credentials that cannot be used are refused by name, and never printed', () => {
  const refused: readonly [object, RegExp][] = [
    [{ execProviderConfig: { command: 'argocd-k8s-auth' } }, /execProviderConfig is refused: the hub runs no programs/],
    [{ awsAuthConfig: { clusterName: 'x' } }, /awsAuthConfig is refused/],
    [{ username: 'admin', password: 'hunter2' }, /username and password are refused/],
    [{ bearerToken: 'hunter2', tlsClientConfig: { insecure: true } }, /insecure is refused: set caData/],
    [{ bearerToken: 'hunter2', proxyUrl: 'http://proxy' }, /proxyUrl is refused/],
  ]
  for (const [config, finding] of refused) {
    const found = read(config)
    assert.equal(found.kubeconfig, undefined)
    assert.match(found.findings.join(), finding)
    assert.doesNotMatch(found.findings.join(), /hunter2/)
  }
  const http = readClusterSecret(
    secret({ name: 'a', server: 'http://10.0.0.7', config: JSON.stringify({ bearerToken: 'hunter2' }) }),
  )
  assert.match(http.findings.join(), /server must be https/)
  for (const config of ['{"bearerToken": "hunter2"', '[]', `"${'x'.repeat(200_000)}"`]) {
    const broken = readClusterSecret(secret({ name: 'a', server, config }))
    assert.deepEqual(broken.findings, ['config is not a JSON object of at most 128 KiB'])
  }
  assert.match(read({}, { namespaces: 'a,b', clusterResources: 'false' }).findings.join(), /^namespaces has no effect/)
})

test('a maintenance window is a cron expression, a duration and a zone', () => {
  const saturday = { schedule: '0 22 * * 6', duration: '8h' }
  assert.deepEqual(readWindow('0 22 * * 6 8h Europe/Berlin'), { times: [saturday], zone: 'Europe/Berlin' })
  assert.deepEqual(readWindow('  0 22 * * 6   8h '), { times: [saturday] })
  assert.deepEqual(readWindow('@daily 1h30m'), { times: [{ schedule: '@daily', duration: '1h30m' }] })
  for (const broken of ['', '0 22 * * 6', '0 22 * * 6 long', '0 22 * * 6 8h Europe/Berlin x', '* '.repeat(600)])
    assert.equal(readWindow(broken), undefined, broken)
  const kept = readClusterSecret(
    secret({ name: 'a', server }, { annotations: { 'flotilla.dev/maintenance-window': 'soon' } }),
  )
  assert.equal(kept.isWindowBroken, true)
  assert.match(kept.findings.join(), /the window is not changed/)
})

test('annotations of tools stay with the Secret', () => {
  const { annotations, labels } = readClusterSecret(
    secret(
      { name: 'a', server },
      {
        labels: { env: 'prod' },
        annotations: {
          'kubectl.kubernetes.io/last-applied-configuration': '{}',
          'argocd.argoproj.io/refresh': 'x',
          'flotilla.dev/cluster': 'a',
          'addons.example/repo': 'https://git.example/addons',
        },
      },
    ),
  )
  assert.deepEqual(annotations, { 'addons.example/repo': 'https://git.example/addons' })
  assert.deepEqual(labels, { env: 'prod' })
})

test('a Secret finds its Cluster by its note, by address, then by name', () => {
  const face = secret({ name: 'store-1', server })
  const found = readClusterSecret(face)
  const named = buildCluster('store-1')
  const addressed = buildCluster('other')
  addressed.spec.aliases = [{ dialect: 'argo', name: server }]
  const choose = (one: Secret, clusters: Parameters<typeof chooseCluster>[2], says = found) =>
    chooseCluster(one, says, clusters)
  assert.deepEqual(choose(face, [named, addressed]), { cluster: addressed })
  assert.deepEqual(choose(face, [named]), { cluster: named })
  const tied = secret({ name: 'store-1', server }, { annotations: { 'flotilla.dev/cluster': 'store-1' } })
  assert.deepEqual(choose(tied, [named, addressed]), { cluster: named })
  assert.match(JSON.stringify(choose(tied, [])), /Cluster store-1 was removed; to register/)
  assert.match(JSON.stringify(choose(face, [])), /there is no Cluster store-1, and the Secret has no credentials/)
  const withToken = { ...found, kubeconfig: '{}' }
  assert.deepEqual(choose(face, [], withToken), { create: 'store-1' })
  assert.deepEqual(choose(face, [], { ...withToken, name: 'EKS Prod (eu)' }), { create: 'eks-prod-eu' })
  assert.deepEqual(choose(face, [], { ...withToken, name: server }), { create: '10.0.0.7' })
  const elsewhere = buildCluster('store-1')
  elsewhere.spec.aliases = [{ dialect: 'argo', name: 'https://10.0.0.8' }]
  assert.match(JSON.stringify(choose(face, [elsewhere], withToken)), /there is a Cluster store-1 with another address/)
  const taken = buildCluster('store-1')
  taken.metadata.annotations = { 'flotilla.dev/argo-secret': 'argocd/first' }
  assert.match(JSON.stringify(choose(face, [taken])), /has the cluster Secret argocd\/first already/)
  const local = { ...found, name: 'in-cluster', server: 'https://kubernetes.default.svc' }
  assert.match(JSON.stringify(choose(face, [named], local)), /no Cluster stands for/)
})

test('labels are merged from both places, also under names that objects inherit', () => {
  assert.deepEqual(mergedLabels({ a: '1', b: '1', c: '1' }, { a: '2', b: '1', d: '1' }, { a: '1', c: '1', e: '1' }), {
    a: '2',
    d: '1',
    e: '1',
  })
  assert.deepEqual(mergedLabels({}, { constructor: 'x' }, {}), { constructor: 'x' })
  assert.deepEqual(mergedLabels({ constructor: 'x' }, { constructor: 'x' }, {}), {})
  for (const broken of ['x', '[]', '{"labels":3,"annotations":"a"}'])
    assert.deepEqual(
      commonOf(secret({}, { annotations: { 'flotilla.dev/argo-common': broken } })),
      { labels: {}, annotations: [] },
      broken,
    )
})

test('a Cluster gets aliases, annotations and the project of its Secret, and loses what the Secret lost', () => {
  const face = secret({ name: 'Store One', server, project: 'shops' }, { annotations: { 'x.example/a': '1' } })
  const own = buildCluster('store-1')
  own.metadata.annotations = { 'x.example/old': '1', 'x.example/own': '1' }
  face.metadata.annotations!['flotilla.dev/argo-common'] = '{"labels":{},"annotations":["x.example/old"]}'
  const wanted = wantedCluster(face, readClusterSecret(face), {
    own,
    name: 'store-1',
    labels: {},
    registration: undefined,
  })
  assert.deepEqual(wanted.metadata.annotations, {
    'x.example/own': '1',
    'x.example/a': '1',
    'flotilla.dev/argo-project': 'shops',
    'flotilla.dev/argo-secret': 'argocd/store-1',
  })
  assert.deepEqual(wanted.spec.aliases, [
    { dialect: 'argo', name: 'Store One' },
    { dialect: 'argo', name: server },
  ])
})
