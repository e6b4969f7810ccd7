/**
 * The Kubernetes project's own JavaScript client, unmodified, against the embedded API: its informers see every change.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import type { Informer, ObjectCache, V1ConfigMap } from '@kubernetes/client-node'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { createMemoryStore } from '../../src/store/memory-store.ts'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../src/testing/control-plane/embedded-api.ts'

const NAMESPACE = 'client-node'
const WATCHED = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const isWatch = (path: string) => path.includes('watch=true')

describe('@kubernetes/client-node', { timeout: 300_000 }, () => {
  const store = createMemoryStore()
  const asked: string[] = []
  let closing = new AbortController()
  /** A new watch is let in when this is settled. */
  let open = Promise.resolve()
  let home: ApiHome
  let core: CoreV1Api
  let informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>
  let latest: string | undefined
  const seen: string[] = []
  const errors: unknown[] = []

  before(async () => {
    home = await startApiHome(store, {
      wrap: (handle) => async (request, caller, signal) => {
        if (isWatch(request.path)) await open
        if (request.method === 'GET') asked.push(request.path)
        return handle(request, caller, isWatch(request.path) ? AbortSignal.any([signal, closing.signal]) : signal)
      },
    })
    const config = new KubeConfig()
    config.loadFromString(home.kubeconfig)
    core = config.makeApiClient(CoreV1Api)
    await core.createNamespace({ body: { metadata: { name: NAMESPACE } } })
    await create('before')
    informer = makeInformer(config, WATCHED, () => core.listNamespacedConfigMap({ namespace: NAMESPACE }))
    for (const event of ['add', 'update', 'delete'] as const) {
      informer.on(event, (object) => {
        latest = object.metadata?.resourceVersion
        seen.push(`${event} ${object.metadata?.name} ${object.data?.['text'] ?? ''}`.trimEnd())
      })
    }
    informer.on('error', (error) => errors.push(error))
    await informer.start()
  })
  after(async () => {
    await informer?.stop()
    await home?.close()
  })

  const create = (name: string) =>
    core.createNamespacedConfigMap({ namespace: NAMESPACE, body: { metadata: { name }, data: { text: 'one' } } })
  const replace = (name: string, text: string) =>
    core.replaceNamespacedConfigMap({
      namespace: NAMESPACE,
      name,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { text } },
    })

  /** Waits until the informer has told exactly these, in this order, since the last call. */
  async function sees(...expected: readonly string[]): Promise<void> {
    while (seen.length < expected.length && errors.length === 0) await systemClock.sleep(10)
    assert.deepEqual(errors, [])
    assert.deepEqual(seen.splice(0), expected)
  }

  /** Ends every watch as a server does, makes a change meanwhile, and waits until the client is back. */
  async function closeWatches(meanwhile: () => Promise<unknown>): Promise<void> {
    const [ended, before] = [closing, asked.length]
    const { promise, resolve } = Promise.withResolvers<void>()
    closing = new AbortController()
    open = promise
    ended.abort()
    await meanwhile()
    resolve()
    while (!asked.slice(before).some(isWatch)) await systemClock.sleep(10)
  }

  it('lists what is there and tells each addition, change and removal once', async () => {
    await sees('add before one')
    await create('a')
    await replace('a', 'two')
    const patch = [{ op: 'replace', path: '/data/text', value: 'three' }]
    await core.patchNamespacedConfigMap({ namespace: NAMESPACE, name: 'a', body: patch })
    await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'a' })
    await sees('add a one', 'update a two', 'update a three', 'delete a three')
    assert.deepEqual(
      informer.list().map(({ metadata }) => metadata?.name),
      ['before'],
    )
  })

  it('goes on from where it was when the server closes the watch', async () => {
    const lists = () => asked.filter((path) => !isWatch(path)).length
    const listsBefore = lists()
    const resumed = new RegExp(`resourceVersion=${latest}\\b`)
    await closeWatches(() => create('b'))
    await sees('add b one')
    assert.equal(lists(), listsBefore, 'listed again')
    assert.match(asked.at(-1)!, resumed)
  })

  it('lists again when the history it needs is gone', async () => {
    await closeWatches(async () => {
      await replace('b', 'two')
      await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'before' })
      await store.compact(store.revision())
    })
    await sees('delete before one', 'update b two')
    await create('c')
    await sees('add c one')
  })
})
