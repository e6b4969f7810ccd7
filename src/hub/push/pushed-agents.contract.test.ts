/**
 * Clusters registered by a kubeconfig: a hub as a process, and embedded API servers as clusters. The hub runs the
 * agents, under an account that they create in the cluster; the credential of the user leaves no trace.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { ConfigMap, Namespace, Secret, ServiceAccount } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { kubeconfigOf } from '../../testing/control-plane/embedded-api.ts'
import { configMapManifest } from '../../testing/fixtures/builders.ts'
import { lastFirst, startFlotilla, temporaryFolder } from '../../../test/e2e/flotilla-process.ts'
import {
  kubeconfigSecret,
  placeHello,
  pushedOf,
  registerPushed,
  settles,
  startPushedSite,
  startPushHub,
  untilPushed,
  untilState,
} from '../../../test/e2e/pushed-sites.ts'

const ACCOUNT = 'system:serviceaccount:flotilla-agent:flotilla-agent'

/** The content of a file, without its compression. */
function unpacked(bytes: Buffer): Buffer {
  const magic = bytes.subarray(0, 4).toString('hex')
  if (magic.startsWith('1f8b')) return gunzipSync(bytes)
  return magic === '28b52ffd' ? zstdDecompressSync(bytes) : bytes
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

test('a cluster is registered, follows, survives restarts and leaves no credential behind', async (context: TestContext) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const site = await startPushedSite(t)
  const file = join(folder, 'store-1.kubeconfig')
  writeFileSync(file, site.kubeconfig)
  const first = await startPushHub(t, data, '--push-hosts', '127.0.0.1', '--log-level', 'debug')

  const added = await first.flotilla('cluster', 'add', 'store-1', '--kubeconfig', file, '-l', 'tier=store')
  assert.equal(added.code, 0, added.stderr)
  assert.match(
    added.stderr,
    /cluster "store-1" is registered; the hub runs its agent with Secret flotilla-system\/store-1-kubeconfig/,
  )
  await placeHello(first.client, { greeting: 'hi' })
  await settles(async () => {
    const { data: found } = await site.client.get(ConfigMap, { namespace: 'default', name: 'hello' })
    assert.equal(found?.['greeting'], 'hi')
  })
  await untilPushed(first.client, 'store-1', 'Running')
  await settles(async () => {
    const { spec, status } = await first.client.get(Cluster, { name: 'store-1' })
    assert.match(spec.id, /^c-/)
    assert.deepEqual([status?.state, status?.badges], ['Ready', 'Pushed'])
  })
  const table = await first.flotilla('get', 'clusters')
  assert.match(table.stdout, /store-1 +Ready .* Pushed /)

  // The credential of the user makes the account and its token. Content is written as the account.
  const asAdmin = site.writes.filter((write) => write.startsWith('admin '))
  const inAgent = '/api/v1/namespaces/flotilla-agent'
  assert.deepEqual(
    new Set(asAdmin),
    new Set([
      `admin PATCH ${inAgent}`,
      `admin PATCH ${inAgent}/serviceaccounts/flotilla-agent`,
      'admin PATCH /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/flotilla-agent',
      `admin POST ${inAgent}/serviceaccounts/flotilla-agent/token`,
    ]),
  )
  assert.ok(
    site.writes.includes(`${ACCOUNT} PATCH /api/v1/namespaces/default/configmaps/hello`),
    site.writes.join('\n'),
  )

  // A restart resumes without the credential of the user, and without a write.
  const before = site.writes.length
  assert.equal((await first.hub.stop()).code, 0)
  const second = await startPushHub(t, data, '--push-hosts', '127.0.0.1', '--log-level', 'debug')
  await untilPushed(second.client, 'store-1', 'Running')
  await second.client.patch(
    Bundle,
    { namespace: 'default', name: 'hello' },
    { type: 'merge', body: { spec: { manifests: configMapManifest('hello', { greeting: 'again' }) } } },
  )
  await settles(async () => {
    const { data: found } = await site.client.get(ConfigMap, { namespace: 'default', name: 'hello' })
    assert.equal(found?.['greeting'], 'again')
  })
  assert.deepEqual(
    site.writes.slice(before).filter((write) => write.startsWith('admin ')),
    [],
  )

  // A deleted account is a refused token: the user's credential makes a new one.
  await site.client.delete(ServiceAccount, { namespace: 'flotilla-agent', name: 'flotilla-agent' })
  await settles(async () => {
    await site.client.get(ServiceAccount, { namespace: 'flotilla-agent', name: 'flotilla-agent' })
  })

  // Nothing of the credential is in a file, a log, a backup or a support bundle.
  const backup = await second.flotilla('backup', join(folder, 'hub.backup'), '--data', data)
  assert.equal(backup.code, 0, backup.stderr)
  const support = await second.flotilla('support-bundle', join(folder, 'support.tar.gz'))
  assert.equal(support.code, 0, support.stderr)
  await second.hub.stop()
  const { privateKey } = site.home.admin
  const canaries = [privateKey, Buffer.from(privateKey).toString('base64')].flatMap((text) => [
    text.slice(60, 110),
    Buffer.from(text).toString('base64').slice(80, 130),
  ])
  const files = [...filesBelow(data), join(folder, 'hub.backup'), join(folder, 'support.tar.gz')]
  assert.ok(files.length > 10)
  const readable = files.map((path) => [path, unpacked(readFileSync(path)).toString('latin1')] as const)
  for (const [path, text] of readable)
    for (const canary of canaries) assert.ok(!text.includes(canary), `${path} has the credential`)
  // The name of the Secret is in the same places: the contents can be read.
  const naming = readable.filter(([, text]) => text.includes('store-1-kubeconfig')).map(([path]) => basename(path))
  for (const name of ['hub.db', 'hub.backup', 'support.tar.gz'])
    assert.ok(naming.includes(name), `${name}: ${naming.join()}`)
  for (const { hub } of [first, second])
    for (const canary of canaries) assert.ok(!hub.logged().includes(canary), 'a log has the credential')
  assert.ok(
    canaries.some((canary) => site.kubeconfig.includes(canary)),
    'the canary is the credential',
  )
  for (const path of filesBelow(join(data, 'pushed'))) assert.equal(statSync(path).mode & 0o077, 0, path)
})

test('a Secret that comes later, a rotated Secret, a Cluster that is gone, and an agent that takes over', async (context: TestContext) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const [one, two] = [await startPushedSite(t), await startPushedSite(t)]
  const { client, flotilla } = await startPushHub(t, data, '--push-hosts', '127.0.0.1')
  await registerPushed(client, 'one')
  await untilPushed(client, 'one', 'SecretNotFound')
  await client.create(Secret, kubeconfigSecret('one', one.kubeconfig))
  await client.create(Secret, kubeconfigSecret('two', two.kubeconfig))
  await registerPushed(client, 'two')
  for (const name of ['one', 'two']) await untilPushed(client, name, 'Running')
  await placeHello(client, { greeting: 'hi' })
  for (const name of ['one', 'two']) await untilState(client, name, 'Ready')

  // The hub reads a Secret every 30 s, and with each change of the Cluster.
  const rotate = async (name: string, text: string) => {
    const { data: body } = kubeconfigSecret(name, text)
    await client.patch(Secret, { namespace: 'flotilla-system', name }, { type: 'merge', body: { data: body } })
    await client.patch(Cluster, { name }, { type: 'merge', body: { metadata: { labels: { rotated: 'true' } } } })
  }
  // The first Secret gets a credential that the cluster does not know: the agent goes on with its own token.
  await rotate('one', kubeconfigOf(one.home.url, one.home.ca, two.home.admin))
  // The Secret of the second cluster now leads to the first one.
  await rotate('two', one.kubeconfig)
  assert.match(await untilPushed(client, 'two', 'OtherCluster'), /leads to another cluster than before/)
  assert.equal((await pushedOf(client, 'one'))?.reason, 'Running')

  // A Cluster that is gone leaves no files.
  await client.delete(Cluster, { name: 'two' })
  await settles(async () => assert.deepEqual(readdirSync(join(data, 'pushed')), ['one']))
  assert.ok(await two.client.get(Namespace, { name: 'flotilla-agent' }), 'the cluster stays as it is')

  // An agent beside the cluster takes over from the agent of the hub, and changes nothing in the cluster.
  const { spec } = await client.get(Cluster, { name: 'one' })
  const taken = await flotilla('cluster', 'add', 'one')
  assert.equal(taken.code, 5, taken.stderr)
  assert.match(taken.stderr, /already exists\n.*flotilla cluster add one --take-over"/)
  const writes = one.writes.length
  const added = await flotilla('cluster', 'add', 'one', '--take-over', '-o', 'json')
  assert.equal(added.code, 0, added.stderr)
  const { code } = JSON.parse(added.stdout) as { code: string }
  const file = join(folder, 'one.kubeconfig')
  writeFileSync(file, one.kubeconfig)
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', file, '--data', join(folder, 'agent')])
  await settles(async () => {
    const now = await client.get(Cluster, { name: 'one' })
    assert.deepEqual([now.spec.kubeconfigSecret, now.spec.id], [undefined, spec.id])
    assert.notEqual(now.spec.identityKey, spec.identityKey)
    assert.deepEqual([now.status?.state, now.status?.badges], ['Ready', undefined])
  })
  await settles(async () => assert.deepEqual(readdirSync(join(data, 'pushed')), []))
  const manifests = configMapManifest('hello', { greeting: 'from the cluster' })
  const key = { namespace: 'default', name: 'hello' }
  const changes = one.writes.slice(writes).filter((write) => !write.includes('/leases/'))
  await client.patch(Bundle, key, { type: 'merge', body: { spec: { manifests } } })
  await settles(async () => {
    assert.equal((await one.client.get(ConfigMap, key)).data?.['greeting'], 'from the cluster')
  })
  assert.deepEqual(changes, [])
})

test('a hub without push, and addresses of its own machine', async (context: TestContext) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const site = await startPushedSite(t)
  const file = join(folder, 'a.kubeconfig')
  writeFileSync(file, site.kubeconfig)
  const data = join(folder, 'hub')
  const guarded = await startPushHub(t, data, '--push-hosts', 'store.example')
  assert.equal((await guarded.flotilla('cluster', 'add', 'a', '--kubeconfig', file)).code, 0)
  assert.match(
    await untilPushed(guarded.client, 'a', 'AddressRefused'),
    /127\.0\.0\.1:\d+ is not in the hub's list of hosts for agents of the hub.*--push-hosts/,
  )
  assert.deepEqual(site.writes, [])
  await guarded.hub.stop()
  const without = await startPushHub(t, data, '--no-push')
  assert.match(await untilPushed(without.client, 'a', 'PushDisabled'), /--no-push/)
})
