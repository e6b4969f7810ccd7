/** Embedded API servers as clusters that a hub reaches by a kubeconfig, and a hub as a process. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Client } from '../../src/client/client.ts'
import { createClient } from '../../src/client/create-client.ts'
import { createUndiciTransport } from '../../src/client/undici-transport.ts'
import { findCondition } from '../../src/core/conditions.ts'
import type { Handler } from '../../src/core/http.ts'
import { Secret as SecretText } from '../../src/core/secret.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { Secret } from '../../src/kinds/builtin/core.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Cluster } from '../../src/kinds/native/cluster.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import { clientByKubeconfig } from '../../src/testing/control-plane/kubeconfig-client.ts'
import { build, buildBundle, buildPlacement, configMapManifest } from '../../src/testing/fixtures/builders.ts'
import { eventually, FREE, runFlotilla, startFlotilla } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

/** A cluster of the test. */
export interface PushedSite {
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
export async function startPushedSite(t: Cleanup): Promise<PushedSite> {
  const writes: string[] = []
  const site = { writes, hangs: false } as PushedSite
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

/** Starts a hub with its data in a folder, and gives the client and the CLI of its administrator. */
export async function startPushHub(t: Cleanup, data: string, ...flags: readonly string[]) {
  const hub = startFlotilla(t, ['hub', 'run', '--data', data, ...FREE, ...flags])
  await hub.says(/flotilla hub ready/)
  const env = { FLOTILLA_KUBECONFIG: join(data, 'admin.kubeconfig') }
  const { client, close } = await clientByKubeconfig(env.FLOTILLA_KUBECONFIG)
  t.after(close)
  return { hub, client, env, flotilla: (...args: string[]) => runFlotilla(t, args, { env }) }
}

/** Repeats assertions until they hold. */
export async function settles<T>(look: () => Promise<T>): Promise<T> {
  let last: unknown
  const tried = await eventually('the assertions', async () => {
    return await look().then(
      (value) => ({ value }),
      (caught: unknown) => void (last = caught),
    )
  }).catch(() => Promise.reject(last as Error))
  return tried.value
}

/** The condition Pushed of a Cluster. */
export async function pushedOf(client: Client, name: string) {
  return findCondition((await client.get(Cluster, { name })).status?.conditions, 'Pushed')
}

/** Waits for a reason of the condition Pushed, and returns its message. */
export async function untilPushed(client: Client, name: string, reason: string): Promise<string> {
  return await settles(async () => {
    const found = await pushedOf(client, name)
    assert.ok(found)
    assert.equal(found.reason, reason, found.message)
    return found.message
  })
}

/** Waits for the state of a Cluster. */
export async function untilState(client: Client, name: string, state: string): Promise<void> {
  await settles(async () => assert.equal((await client.get(Cluster, { name })).status?.state, state))
}

/** A Secret of the hub with a kubeconfig. */
export function kubeconfigSecret(name: string, text: string): Secret {
  return build(Secret, `flotilla-system/${name}`, { data: { value: Buffer.from(text).toString('base64') } })
}

/** Registers a cluster by the Secret of its name; it is offline after 30 s. */
export async function registerPushed(client: Client, name: string): Promise<void> {
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
}

/** A ConfigMap `hello` for all clusters. */
export async function placeHello(client: Client, data: Record<string, string>): Promise<void> {
  await client.create(Placement, buildPlacement('default/everywhere', { tier: 'store' }))
  await client.create(Bundle, buildBundle('default/hello', { manifests: configMapManifest('hello', data) }))
}
