import assert from 'node:assert/strict'
import type { Api, ApiCase, Loose } from '../harness.ts'

/** Pods that have time to end. */

const podsOf = ({ namespace }: Api): string => `/api/v1/namespaces/${namespace}/pods`

/** A pod, on a node unless said. */
async function pod(api: Api, name: string, more: { readonly on?: string; readonly finalizers?: string[] } = {}) {
  const { on = 'n1', finalizers } = more
  return await api.ok('POST', podsOf(api), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(finalizers && { finalizers }) },
    spec: { containers: [{ name: 'c', image: 'web:1' }], ...(on && { nodeName: on }) },
  })
}

const remove = (api: Api, name: string, options: object = {}): Promise<Loose> =>
  api.ok('DELETE', `${podsOf(api)}/${name}`, { apiVersion: 'v1', kind: 'DeleteOptions', ...options })

const isThere = async (api: Api, name: string): Promise<boolean> =>
  (await api.send('GET', `${podsOf(api)}/${name}`)).status === 200

const graceOf = ({ metadata }: Loose): unknown => metadata.deletionGracePeriodSeconds
const timeOf = ({ metadata }: Loose): number => Date.parse(metadata.deletionTimestamp)

const merge = (api: Api, path: string, body: object) =>
  api.send('PATCH', `${podsOf(api)}/${path}`, { body, contentType: 'application/merge-patch+json' })

/** The cases. */
export const GRACE_CASES: readonly ApiCase[] = [
  {
    title: 'a pod on a node is marked by its delete, and goes when it is deleted without time',
    async run(api) {
      const made = await pod(api, 'a')
      const marked = await remove(api, 'a')
      assert.deepEqual([graceOf(marked), marked.metadata.uid], [30, made.metadata.uid])
      assert.equal(marked.metadata.generation, made.metadata.generation + 1)
      const seconds = (timeOf(marked) - Date.parse(made.metadata.creationTimestamp)) / 1000
      assert.ok(seconds >= 30, `gone ${seconds} s after it was made`)

      const shorter = await remove(api, 'a', { gracePeriodSeconds: 10 })
      assert.deepEqual([graceOf(shorter), timeOf(shorter)], [10, timeOf(marked) - 20_000])
      assert.equal(shorter.metadata.generation, marked.metadata.generation)
      for (const options of [{}, { gracePeriodSeconds: 10 }, { gracePeriodSeconds: 25 }]) {
        const same = await remove(api, 'a', options)
        assert.equal(same.metadata.resourceVersion, shorter.metadata.resourceVersion, JSON.stringify(options))
      }
      const gone = await remove(api, 'a', { gracePeriodSeconds: 0 })
      assert.deepEqual([graceOf(gone), timeOf(gone)], [0, timeOf(marked) - 30_000])
      assert.equal(await isThere(api, 'a'), false)
    },
  },
  {
    title: 'a pod without a node is deleted at once, and a watch sees the deletionTimestamp first',
    async run(api) {
      await pod(api, 'waits', { on: '' })
      const { metadata } = await api.ok('GET', podsOf(api))
      await remove(api, 'waits', { gracePeriodSeconds: 20 })
      assert.equal(await isThere(api, 'waits'), false)
      for (const phase of ['Succeeded', 'Failed']) {
        const name = phase.toLowerCase()
        await pod(api, name)
        assert.equal((await merge(api, `${name}/status`, { status: { phase } })).status, 200)
        await remove(api, name)
        assert.equal(await isThere(api, name), false, phase)
      }
      const path = `${podsOf(api)}?watch=true&fieldSelector=metadata.name=waits&resourceVersion=${metadata.resourceVersion}`
      const events = await api.watch(path, (seen) => seen.at(-1)?.type === 'DELETED')
      assert.deepEqual(
        events.map(({ type, object }: Loose) => [
          type,
          graceOf(object),
          object.metadata.deletionTimestamp !== undefined,
        ]),
        [
          ['MODIFIED', 0, true],
          ['DELETED', 0, true],
        ],
      )
    },
  },
  {
    title: 'a pod with a finalizer and time needs both to end',
    async run(api) {
      await pod(api, 'a', { finalizers: ['example.com/a'] })
      assert.equal(graceOf(await remove(api, 'a', { gracePeriodSeconds: 5 })), 5)
      assert.equal((await merge(api, 'a', { metadata: { finalizers: null } })).status, 200)
      assert.equal(await isThere(api, 'a'), true, 'its containers still run')
      await remove(api, 'a', { gracePeriodSeconds: 0 })
      assert.equal(await isThere(api, 'a'), false)

      await pod(api, 'b', { finalizers: ['example.com/a'] })
      await remove(api, 'b', { gracePeriodSeconds: 0 })
      assert.equal(await isThere(api, 'b'), true)
      assert.equal((await merge(api, 'b', { metadata: { finalizers: null } })).status, 200)
      assert.equal(await isThere(api, 'b'), false)
    },
  },
  {
    title: 'a negative time is a second, and a pod may say its own',
    async run(api) {
      await pod(api, 'a')
      assert.equal(graceOf(await remove(api, 'a', { gracePeriodSeconds: -1 })), 1)
      await api.ok('POST', podsOf(api), {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'b' },
        spec: { containers: [{ name: 'c', image: 'web:1' }], nodeName: 'n1', terminationGracePeriodSeconds: 7 },
      })
      assert.equal(graceOf(await remove(api, 'b')), 7)
      await pod(api, 'c')
      const dry = await remove(api, 'c', { dryRun: ['All'] })
      assert.equal(graceOf(dry), 30)
      assert.equal((await api.ok('GET', `${podsOf(api)}/c`)).metadata.deletionTimestamp, undefined)
      const { items } = await api.ok('DELETE', podsOf(api))
      assert.deepEqual(
        items.map((item: Loose) => [item.metadata.name, graceOf(item)]),
        [
          ['a', 1],
          ['b', 7],
          ['c', undefined],
        ],
      )
      assert.equal(graceOf(await api.ok('GET', `${podsOf(api)}/c`)), 30, 'the list is of what there was')
      for (const name of ['a', 'b', 'c']) await remove(api, name, { gracePeriodSeconds: 0 })
    },
  },
  {
    title: 'an evicted pod on a node says why it ends',
    async run(api) {
      await pod(api, 'a')
      const { status } = await api.send('POST', `${podsOf(api)}/a/eviction`, {
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a', namespace: api.namespace } },
      })
      assert.equal(status, 201)
      const ending = await api.ok('GET', `${podsOf(api)}/a`)
      assert.equal(graceOf(ending), 30)
      const [condition] = ending.status.conditions
      assert.deepEqual([condition.type, condition.reason], ['DisruptionTarget', 'EvictionByEvictionAPI'])
      await remove(api, 'a', { gracePeriodSeconds: 0 })
    },
  },
]
