/**
 * Clusters registered by a kubeconfig: a hub as a process, and embedded API servers as clusters. The hub runs the
 * agents, under an account that they create in the cluster; the credential of the user leaves no trace.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Handler } from '../../core/http.ts'
import { Secret as SecretText } from '../../core/secret.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { ConfigMap, Namespace, Secret, ServiceAccount } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { clientByKubeconfig } from '../../testing/control-plane/kubeconfig-client.ts'
import { kubeconfigOf, startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { build, buildBundle, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import {
  eventually,
  FREE,
  lastFirst,
  runFlotilla,
  startFlotilla,
  temporaryFolder,
} from '../../../test/e2e/flotilla-process.ts'
import type { Cleanup } from '../../../test/e2e/flotilla-process.ts'

const ACCOUNT = 'system:serviceaccount:flotilla-agent:flotilla-agent'

interface Site {
  readonly home: ApiHome
  readonly kubeconfig: string
  readonly client: Client
  /** `user METHOD path` of every write, in order. */
  readonly writes: string[]
  /** The API answers no request while it hangs. */
  hangs: boolean
}

/** The user of a token. */
function userOf({ authorization }: Readonly<Record<string, string>>): string | undefined {
  const payload = authorization?.split('.')[1]
  return payload && (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub
}

/** An embedded API server as a cluster; it has what a controller manager gives namespaces. */
async function startSite(t: Cleanup): Promise<Site> {
  const writes: string[] = []
  const site = { writes, hangs: false } as Site
  const wrap =
    (handle: Handler): Handler =>
    async (request, caller, signal) => {
      if (site.hangs)
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('away'))))
      if (request.method !== 'GET')
        writes.push(`${userOf(request.headers) ?? caller.user} ${request.method} ${request.path.split('?')[0]}`)
      return await handle(request, caller, signal)
    }
  const home = await startApiHome(createMemoryStore(), { namespaceDefaults: true, wrap })
  t.after(() => home.close())
  const { certificate, privateKey } = home.admin
  const connection = { server: home.url, ca: home.ca, cert: certificate, key: new SecretText(privateKey) }
  const { transport, close } = createUndiciTransport(connection)
  t.after(close)
  // The file of a user has other names than the kubeconfig of a hub.
  const kubeconfig = home.kubeconfig.replaceAll('"flotilla"', '"store"')
  return Object.assign(site, { home, kubeconfig, client: createClient({ transport, clock: systemClock }) })
}

async function startHub(t: Cleanup, data: string, ...flags: readonly string[]) {
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...flags])
  await hub.says(/flotilla hub ready/)
  const { client, close } = await clientByKubeconfig(join(data, 'admin.kubeconfig'))
  t.after(close)
  const env = { FLOTILLA_KUBECONFIG: join(data, 'admin.kubeconfig') }
  return { hub, client, env, flotilla: (...args: string[]) => runFlotilla(t, args, { env }) }
}

/** Repeats assertions until they hold. */
async function settles<T>(look: () => Promise<T>): Promise<T> {
  let last: unknown
  const tried = await eventually('the assertions', async () => {
    return await look().then(
      (value) => ({ value }),
      (caught: unknown) => void (last = caught),
    )
  }).catch(() => Promise.reject(last as Error))
  return tried.value
}

const pushed = async (client: Client, name: string) =>
  findCondition((await client.get(Cluster, { name })).status?.conditions, 'Pushed')

async function untilPushed(client: Client, name: string, reason: string): Promise<string> {
  return await settles(async () => {
    const found = await pushed(client, name)
    assert.ok(found)
    assert.equal(found.reason, reason, found.message)
    return found.message
  })
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

async function place(client: Client, name: string, data: Record<string, string>): Promise<void> {
  await client.create(Placement, buildPlacement('default/everywhere', { tier: 'store' }))
  await client.create(Bundle, buildBundle(`default/${name}`, { manifests: configMapManifest('hello', data) }))
}

test('a cluster is registered, follows, survives restarts and leaves no credential behind', async (context: TestContext) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const data = join(folder, 'hub')
  const site = await startSite(t)
  const file = join(folder, 'store-1.kubeconfig')
  writeFileSync(file, site.kubeconfig)
  const first = await startHub(t, data, '--push-hosts', '127.0.0.1', '--log-level', 'debug')

  const added = await first.flotilla('cluster', 'add', 'store-1', '--kubeconfig', file, '-l', 'tier=store')
  assert.equal(added.code, 0, added.stderr)
  assert.match(
    added.stderr,
    /cluster "store-1" is registered; the hub runs its agent with Secret flotilla-system\/store-1-kubeconfig/,
  )
  await place(first.client, 'hello', { greeting: 'hi' })
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
  const second = await startHub(t, data, '--push-hosts', '127.0.0.1', '--log-level', 'debug')
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

  // Nothing of the credential is in a file, a log, a backup or an answer to another user.
  const backup = await second.flotilla('backup', join(folder, 'hub.backup'), '--data', data)
  assert.equal(backup.code, 0, backup.stderr)
  await second.hub.stop()
  const { privateKey } = site.home.admin
  const canaries = [privateKey, Buffer.from(privateKey).toString('base64')].flatMap((text) => [
    text.slice(60, 110),
    Buffer.from(text).toString('base64').slice(80, 130),
  ])
  const files = [...filesBelow(data), join(folder, 'hub.backup')]
  assert.ok(files.length > 10)
  for (const path of files) {
    const text = readFileSync(path, 'latin1')
    for (const canary of canaries) assert.ok(!text.includes(canary), `${path} has the credential`)
  }
  for (const { hub } of [first, second])
    for (const canary of canaries) assert.ok(!hub.logged().includes(canary), 'a log has the credential')
  assert.ok(
    canaries.some((canary) => site.kubeconfig.includes(canary)),
    'the canary is the credential',
  )
  for (const path of filesBelow(join(data, 'pushed'))) assert.equal(statSync(path).mode & 0o077, 0, path)
})

test('an unreachable cluster is offline and delays no other; a rotated Secret is followed', async (context: TestContext) => {
  const t = lastFirst(context)
  const data = join(temporaryFolder(t), 'hub')
  const [one, two] = [await startSite(t), await startSite(t)]
  const { client } = await startHub(t, data, '--push-hosts', '127.0.0.1')
  const secretOf = (name: string, text: string): Secret =>
    build(Secret, `flotilla-system/${name}`, { data: { value: Buffer.from(text).toString('base64') } })
  const register = async (name: string) =>
    await client.create(Cluster, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name, labels: { tier: 'store' } },
      spec: {
        accepted: true,
        kubeconfigSecret: { namespace: 'flotilla-system', name },
        checkInSeconds: 2,
        offlineAfterSeconds: 30,
      } as Cluster['spec'],
    })
  await register('one')
  await untilPushed(client, 'one', 'SecretNotFound')
  await client.create(Secret, secretOf('one', one.kubeconfig))
  await untilPushed(client, 'one', 'Running')
  await place(client, 'hello', { greeting: 'hi' })
  await settles(async () => assert.equal((await client.get(Cluster, { name: 'one' })).status?.state, 'Ready'))

  one.hangs = true
  await client.create(Secret, secretOf('two', two.kubeconfig))
  await register('two')
  await settles(async () => assert.equal((await client.get(Cluster, { name: 'two' })).status?.state, 'Ready'))
  await untilPushed(client, 'one', 'Unreachable')
  await settles(async () => assert.equal((await client.get(Cluster, { name: 'one' })).status?.state, 'Offline'))
  one.hangs = false
  await untilPushed(client, 'one', 'Running')
  await settles(async () => assert.equal((await client.get(Cluster, { name: 'one' })).status?.state, 'Ready'))

  // The Secret gets a credential that the cluster does not know: the agent goes on with its own token.
  const rotate = async (name: string, text: string) =>
    await client.patch(
      Secret,
      { namespace: 'flotilla-system', name },
      { type: 'merge', body: { data: { value: Buffer.from(text).toString('base64') } } },
    )
  const foreign = kubeconfigOf(one.home.url, one.home.ca, two.home.admin)
  await rotate('one', foreign)
  await rotate('two', one.kubeconfig)
  // The Secret of the second cluster now leads to the first one.
  assert.match(await untilPushed(client, 'two', 'OtherCluster'), /leads to another cluster than before/)
  assert.equal((await pushed(client, 'one'))?.reason, 'Running')

  // A Cluster that is gone leaves no files.
  await client.delete(Cluster, { name: 'two' })
  await settles(async () => assert.deepEqual(readdirSync(join(data, 'pushed')), ['one']))
  assert.ok(await two.client.get(Namespace, { name: 'flotilla-agent' }), 'the cluster stays as it is')
})

test('a hub without push, and addresses of its own machine', async (context: TestContext) => {
  const t = lastFirst(context)
  const folder = temporaryFolder(t)
  const site = await startSite(t)
  const file = join(folder, 'a.kubeconfig')
  writeFileSync(file, site.kubeconfig)
  const data = join(folder, 'hub')
  const guarded = await startHub(t, data, '--push-hosts', 'store.example')
  assert.equal((await guarded.flotilla('cluster', 'add', 'a', '--kubeconfig', file)).code, 0)
  assert.match(
    await untilPushed(guarded.client, 'a', 'AddressRefused'),
    /127\.0\.0\.1:\d+ is not in the hub's list of hosts for agents of the hub.*--push-hosts/,
  )
  assert.deepEqual(site.writes, [])
  await guarded.hub.stop()
  const without = await startHub(t, data, '--no-push')
  assert.match(await untilPushed(without.client, 'a', 'PushDisabled'), /--no-push/)
})
