import assert from 'node:assert/strict'
import { ConfigMap, Event, Namespace } from '../../../kinds/builtin/core.ts'
import { EventsEvent } from '../../../kinds/builtin/events.ts'
import { ClusterRole } from '../../../kinds/builtin/rbac.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Loose } from '../harness.ts'

const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** What of a list a client may ask for. */
const QUERIES = ['', '?limit=1', '?labelSelector=of%3Dlist', '?fieldSelector=metadata.name%3Da', '?pretty=true']
const typeOf = ({ apiVersion, kind }: Loose) => ({ apiVersion, kind })
const NOTHING = { apiVersion: undefined, kind: undefined }
const labelled = (object: Loose): Loose => ({ ...object, metadata: { ...object.metadata, labels: { of: 'list' } } })

async function makeBoth(api: Api): Promise<void> {
  for (const name of ['a', 'b']) {
    await api.ok('POST', api.path(ConfigMap), labelled(configMap(name)))
    await api.ok('POST', api.path(Gadget), labelled(gadget(name)))
  }
}

/** What the objects in lists and watches say about what they are. */
export const ITEM_CASES: readonly ApiCase[] = [
  {
    title: 'items of a built-in kind say neither kind nor apiVersion, whatever is asked of their list',
    async run(api) {
      await makeBoth(api)
      for (const query of QUERIES) {
        const list = await api.ok('GET', `${api.path(ConfigMap)}${query}`)
        assert.deepEqual(typeOf(list), { apiVersion: 'v1', kind: 'ConfigMapList' }, query)
        const items = list.items.filter(({ metadata }: Loose) => metadata.labels?.of === 'list')
        assert.ok(items.length > 0 || query === '?limit=1', query)
        for (const item of list.items) assert.deepEqual(typeOf(item), NOTHING, query)
        for (const item of items) assert.deepEqual([item.metadata.namespace, item.data], [api.namespace, { a: '1' }])
      }
      const across = await api.ok('GET', '/api/v1/configmaps?labelSelector=of%3Dlist')
      for (const item of across.items) assert.deepEqual(typeOf(item), NOTHING)
      const yaml = await api.send('GET', `${api.path(ConfigMap)}?labelSelector=of%3Dlist`, {
        accept: 'application/yaml',
      })
      assert.deepEqual(
        yaml.text.match(/^.*(?:kind|apiVersion): .*$/gm)?.filter((line) => !/^ {4}/.test(line)),
        ['apiVersion: v1', 'kind: ConfigMapList'],
      )
    },
  },
  {
    title: 'items of a custom kind say what they are',
    async run(api) {
      await makeBoth(api)
      const type = { apiVersion: 'contract.flotilla.dev/v1', kind: 'Gadget' }
      for (const query of QUERIES) {
        const list = await api.ok('GET', `${api.path(Gadget)}${query}`)
        assert.ok(list.items.length > 0, query)
        for (const item of list.items) assert.deepEqual(typeOf(item), type, query)
      }
      const yaml = await api.send('GET', api.path(Gadget), { accept: 'application/yaml' })
      assert.equal(yaml.text.match(/^ {2}kind: Gadget$/gm)?.length, 2)
      const gone = await api.ok('DELETE', api.path(Gadget))
      for (const item of gone.items) assert.deepEqual(typeOf(item), type)
    },
  },
  {
    title: 'items say nothing of what they are however they were written',
    async run(api) {
      const { metadata, data } = labelled(configMap('kind-first'))
      await api.ok('POST', api.path(ConfigMap), { metadata, data, kind: 'ConfigMap', apiVersion: 'v1' })
      await api.ok('PUT', api.path(ConfigMap, 'kind-first'), {
        data: { b: '2' },
        kind: 'ConfigMap',
        metadata,
        apiVersion: 'v1',
      })
      const applied = await api.apply(api.path(ConfigMap, 'applied'), labelled(configMap('applied')), 'me')
      assert.equal(applied.status, 201)
      await api.ok('POST', api.path(ConfigMap), labelled(configMap('patched')))
      const patched = await api.send('PATCH', api.path(ConfigMap, 'patched'), {
        body: { data: { c: '3' } },
        contentType: 'application/merge-patch+json',
      })
      assert.equal(patched.status, 200)
      const { items } = await api.ok('GET', `${api.path(ConfigMap)}?labelSelector=of%3Dlist`)
      assert.deepEqual(
        items.map((item: Loose) => [item.metadata.name, item.data, typeOf(item)]),
        [
          ['applied', { a: '1' }, NOTHING],
          ['kind-first', { b: '2' }, NOTHING],
          ['patched', { a: '1', c: '3' }, NOTHING],
        ],
      )
    },
  },
  {
    title: 'items of what the server made itself, and of one kind seen as another, say nothing of what they are',
    async run(api) {
      const regarding = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: api.namespace }
      await api.ok('POST', api.path(Event), {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'a.1' },
        involvedObject: regarding,
        reason: 'Seen',
        type: 'Normal',
      })
      for (const kind of [Namespace, ClusterRole, Event, EventsEvent]) {
        const { items } = await api.ok('GET', api.path(kind))
        assert.ok(items.length > 0, kind.plural)
        for (const item of items) assert.deepEqual(typeOf(item), NOTHING, kind.plural)
      }
      const [event] = (await api.ok('GET', api.path(EventsEvent))).items
      assert.deepEqual(event.regarding, regarding)
    },
  },
  {
    title: 'metadata, rows and single objects say what they are',
    async run(api) {
      await makeBoth(api)
      const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' }
      const whole = { apiVersion: 'v1', kind: 'ConfigMap' }
      const url = `${api.path(ConfigMap)}?labelSelector=of%3Dlist`
      const { body: partials } = await api.send('GET', url, { accept: PARTIAL_LIST })
      assert.deepEqual(partials.items.map(typeOf), [partial, partial])
      const { body: table } = await api.send('GET', `${url}&includeObject=Object`, { accept: TABLE })
      assert.deepEqual(
        table.rows.map(({ object }: Loose) => typeOf(object)),
        [whole, whole],
      )
      const { body: small } = await api.send('GET', url, { accept: TABLE })
      assert.deepEqual(
        small.rows.map(({ object }: Loose) => typeOf(object)),
        [partial, partial],
      )
      assert.deepEqual(typeOf(await api.ok('GET', api.path(ConfigMap, 'a'))), whole)
    },
  },
  {
    title: 'events of a watch say what their objects are, from the first to the last',
    async run(api) {
      await makeBoth(api)
      const whole = { apiVersion: 'v1', kind: 'ConfigMap' }
      const url = `${api.path(ConfigMap)}?watch=true&labelSelector=of%3Dlist`
      const initial = '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
      const first = await api.watch(`${url}${initial}`, (seen) => seen.length >= 3)
      assert.deepEqual(
        first.map(({ object }) => typeOf(object)),
        [whole, whole, whole],
      )
      const partials = await api.watch(`${url}${initial}`, (seen) => seen.length >= 3, PARTIAL)
      for (const { object } of partials) {
        assert.deepEqual(typeOf(object), { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' })
      }
      const { resourceVersion } = first[2]!.object.metadata
      const watching = api.watch(`${url}&resourceVersion=${resourceVersion}`, (seen) => seen.length >= 2)
      const gone = await api.ok('DELETE', `${api.path(ConfigMap)}?labelSelector=of%3Dlist`)
      assert.deepEqual(gone.items.map(typeOf), [NOTHING, NOTHING])
      for (const { type, object } of await watching) {
        assert.deepEqual([type, typeOf(object)], ['DELETED', whole])
      }
    },
  },
]
