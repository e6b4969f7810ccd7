import assert from 'node:assert/strict'
import { ConfigMap, Namespace } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Loose, SeenEvent } from '../harness.ts'

const names = (list: Loose): string[] => list.items.map((item: Loose) => item.metadata.name as string)
const types = (events: readonly SeenEvent[]) => events.map(({ type, object }) => `${type} ${object.metadata.name}`)
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const PARTIAL_LIST = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

async function makeMany(api: Api, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await api.ok('POST', api.path(Gadget), gadget(`g${n}`, { size: n }))
}

/** Getting, listing, watching, and the forms of answers. */
export const READ_CASES: readonly ApiCase[] = [
  {
    title: 'get of what is not there is NotFound',
    async run(api) {
      const reply = await api.send('GET', api.path(Gadget, 'none'))
      assert.equal(reply.status, 404)
      assert.equal(reply.body.kind, 'Status')
      assert.equal(reply.body.status, 'Failure')
      assert.equal(reply.body.code, 404)
      assert.equal(reply.body.message, 'gadgets.contract.flotilla.dev "none" not found')
      assert.deepEqual(reply.body.details, { name: 'none', group: 'contract.flotilla.dev', kind: 'gadgets' })
    },
  },
  {
    title: 'list is of its kind, in order of names, with a resourceVersion',
    async run(api) {
      for (const name of ['b', 'a', 'c']) await api.ok('POST', api.path(Gadget), gadget(name))
      const list = await api.ok('GET', api.path(Gadget))
      assert.equal(list.kind, 'GadgetList')
      assert.equal(list.apiVersion, 'contract.flotilla.dev/v1')
      assert.deepEqual(names(list), ['a', 'b', 'c'])
      assert.ok(Number(list.metadata.resourceVersion) >= Number(list.items[2].metadata.resourceVersion))
      assert.equal(list.metadata.continue || undefined, undefined)
    },
  },
  {
    title: 'an empty list has items',
    async run(api) {
      const list = await api.ok('GET', api.path(ConfigMap).replace(api.namespace, 'no-such-namespace'))
      assert.deepEqual(list.items, [])
    },
  },
  {
    title: 'pages are consistent at one version and say how many remain',
    async run(api) {
      await makeMany(api, 5)
      const first = await api.ok('GET', `${api.path(Gadget)}?limit=2`)
      assert.deepEqual(names(first), ['g0', 'g1'])
      assert.equal(first.metadata.remainingItemCount, 3)
      await api.ok('DELETE', api.path(Gadget, 'g3'))
      await api.ok('POST', api.path(Gadget), gadget('g9'))
      const token = encodeURIComponent(first.metadata.continue)
      const second = await api.ok('GET', `${api.path(Gadget)}?limit=2&continue=${token}`)
      assert.deepEqual(names(second), ['g2', 'g3'])
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion)
      const last = await api.ok(
        'GET',
        `${api.path(Gadget)}?limit=2&continue=${encodeURIComponent(second.metadata.continue)}`,
      )
      assert.deepEqual(names(last), ['g4'])
      assert.equal(last.metadata.continue || undefined, undefined)
    },
  },
  {
    title: 'pages with a selector are full, and nothing is said about what remains',
    async run(api) {
      for (let n = 0; n < 6; n += 1) {
        await api.ok('POST', api.path(Gadget), gadget(`g${n}`, {}, { labels: { odd: String(n % 2 === 1) } }))
      }
      const first = await api.ok('GET', `${api.path(Gadget)}?limit=2&labelSelector=odd%3Dtrue`)
      assert.deepEqual(names(first), ['g1', 'g3'])
      assert.equal(first.metadata.remainingItemCount, undefined)
      const token = encodeURIComponent(first.metadata.continue)
      const second = await api.ok('GET', `${api.path(Gadget)}?limit=2&labelSelector=odd%3Dtrue&continue=${token}`)
      assert.deepEqual(names(second), ['g5'])
    },
  },
  {
    title: 'a broken continue token is a bad request',
    async run(api) {
      const reply = await api.send('GET', `${api.path(Gadget)}?limit=1&continue=nonsense`)
      assert.equal(reply.status, 400)
      assert.match(reply.body.message, /continue key is not valid/)
    },
  },
  {
    title: 'label selectors of every form',
    async run(api) {
      const labels = [{}, { a: '1' }, { a: '2' }, { a: '1', b: '1' }]
      for (const [n, own] of labels.entries())
        await api.ok('POST', api.path(Gadget), gadget(`g${n}`, {}, { labels: own }))
      const select = async (selector: string) =>
        names(await api.ok('GET', `${api.path(Gadget)}?labelSelector=${encodeURIComponent(selector)}`))
      assert.deepEqual(await select('a=1'), ['g1', 'g3'])
      assert.deepEqual(await select('a==1,b=1'), ['g3'])
      assert.deepEqual(await select('a!=1'), ['g0', 'g2'])
      assert.deepEqual(await select('a in (1,2),!b'), ['g1', 'g2'])
      assert.deepEqual(await select('a notin (1)'), ['g0', 'g2'])
      assert.deepEqual(await select('a'), ['g1', 'g2', 'g3'])
      assert.deepEqual(await select('!a'), ['g0'])
      assert.equal(
        (await api.send('GET', `${api.path(Gadget)}?labelSelector=${encodeURIComponent('a=b=c')}`)).status,
        400,
      )
    },
  },
  {
    title: 'field selectors: name and namespace everywhere, unknown ones refused',
    async run(api) {
      await makeMany(api, 3)
      const select = async (selector: string) =>
        api.send('GET', `${api.path(Gadget)}?fieldSelector=${encodeURIComponent(selector)}`)
      assert.deepEqual(names((await select('metadata.name=g1')).body), ['g1'])
      assert.deepEqual(names((await select('metadata.name!=g1')).body), ['g0', 'g2'])
      assert.deepEqual(names((await select(`metadata.namespace=${api.namespace}`)).body), ['g0', 'g1', 'g2'])
      assert.deepEqual(names((await select('metadata.namespace=other')).body), [])
      const unknown = await select('spec.size=1')
      assert.equal(unknown.status, 400)
      assert.match(unknown.body.message, /field label not supported: spec\.size/)
      const across = await api.ok('GET', '/apis/contract.flotilla.dev/v1/gadgets?fieldSelector=metadata.name%3Dg1')
      assert.ok(across.items.some((item: Loose) => item.metadata.namespace === api.namespace))
    },
  },
  {
    title: 'resourceVersionMatch Exact reads the past, a future version is too large',
    async run(api) {
      await makeMany(api, 2)
      const before = await api.ok('GET', api.path(Gadget))
      await api.ok('DELETE', api.path(Gadget, 'g0'))
      const version = before.metadata.resourceVersion
      const exact = await api.ok('GET', `${api.path(Gadget)}?resourceVersion=${version}&resourceVersionMatch=Exact`)
      assert.deepEqual(names(exact), ['g0', 'g1'])
      assert.equal(exact.metadata.resourceVersion, version)
      const newer = await api.ok(
        'GET',
        `${api.path(Gadget)}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
      )
      assert.ok(Number(newer.metadata.resourceVersion) >= Number(version))
      const future = await api.send('GET', `${api.path(Gadget)}?resourceVersion=999999999`)
      assert.equal(future.status, 504)
      assert.match(future.body.message, /Too large resource version: 999999999, current: \d+/)
      assert.equal(future.body.details.causes[0].reason, 'ResourceVersionTooLarge')
      const alone = await api.send('GET', `${api.path(Gadget)}?resourceVersionMatch=Exact`)
      assert.equal(alone.status, 422)
      assert.match(alone.body.message, /resourceVersionMatch is forbidden unless resourceVersion is provided/)
      assert.equal((await api.send('GET', `${api.path(Gadget)}?resourceVersion=abc`)).status, 400)
    },
  },
  {
    title: 'watch from a list shows every later change once and in order',
    async run(api) {
      await makeMany(api, 1)
      const list = await api.ok('GET', api.path(Gadget))
      const g0 = list.items[0]
      await api.ok('PUT', api.path(Gadget, 'g0'), { ...g0, spec: { size: 9 } })
      await api.ok('POST', api.path(Gadget), gadget('g1'))
      const url = `${api.path(Gadget)}?watch=true&resourceVersion=${list.metadata.resourceVersion}`
      const watching = api.watch(url, (events) => events.length >= 4)
      await api.ok('DELETE', api.path(Gadget, 'g0'))
      await api.ok('DELETE', api.path(Gadget, 'g1'))
      const events = await watching
      assert.deepEqual(types(events), ['MODIFIED g0', 'ADDED g1', 'DELETED g0', 'DELETED g1'])
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      assert.deepEqual(
        versions,
        [...new Set(versions)].sort((a, b) => a - b),
      )
      assert.equal(events[2]!.object.spec.size, 9)
    },
  },
  {
    title: 'watch without a version begins with what is there',
    async run(api) {
      await makeMany(api, 2)
      for (const version of ['', '&resourceVersion=0']) {
        const events = await api.watch(`${api.path(Gadget)}?watch=1${version}`, (seen) => seen.length >= 2)
        assert.deepEqual(types(events), ['ADDED g0', 'ADDED g1'])
      }
    },
  },
  {
    title: 'sendInitialEvents ends in an annotated bookmark',
    async run(api) {
      await makeMany(api, 2)
      const url =
        `${api.path(Gadget)}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan` +
        '&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dg1'
      const events = await api.watch(url, (seen) => seen.some(({ type }) => type === 'BOOKMARK'))
      assert.deepEqual(
        events.map(({ type }) => type),
        ['ADDED', 'BOOKMARK'],
      )
      const bookmark = events[1]!.object
      assert.equal(bookmark.metadata.annotations['k8s.io/initial-events-end'], 'true')
      assert.equal(bookmark.kind, 'Gadget')
      assert.ok(Number(bookmark.metadata.resourceVersion) > 0)
      const refused = await api.send('GET', `${api.path(Gadget)}?watch=true&sendInitialEvents=true`)
      assert.equal(refused.status, 422)
      assert.match(refused.body.message, /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/)
    },
  },
  {
    title: 'an object that starts to match is ADDED, one that stops is DELETED',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a', {}, { labels: { on: 'yes' } }))
      const from = made.metadata.resourceVersion
      const url = `${api.path(Gadget)}?watch=true&labelSelector=on%3Dyes&resourceVersion=${from}`
      const watching = api.watch(url, (seen) => seen.length >= 4)
      const label = (on: string) =>
        api.send('PATCH', api.path(Gadget, 'a'), {
          body: { metadata: { labels: { on } } },
          contentType: 'application/merge-patch+json',
        })
      const off = await label('no')
      await label('maybe')
      await label('yes')
      await api.send('PATCH', api.path(Gadget, 'a'), {
        body: { spec: { size: 3 } },
        contentType: 'application/merge-patch+json',
      })
      await api.ok('DELETE', api.path(Gadget, 'a'))
      const events = await watching
      assert.deepEqual(types(events), ['DELETED a', 'ADDED a', 'MODIFIED a', 'DELETED a'])
      assert.equal(events[0]!.object.metadata.resourceVersion, off.body.metadata.resourceVersion)
      assert.equal(events[0]!.object.metadata.labels.on, 'yes')
    },
  },
  {
    title: 'many watches see one order',
    async run(api) {
      const list = await api.ok('GET', api.path(ConfigMap))
      const url = `${api.path(ConfigMap)}?watch=true&resourceVersion=${list.metadata.resourceVersion}`
      const watches = Array.from({ length: 5 }, () => api.watch(url, (seen) => seen.length >= 20))
      await Promise.all(Array.from({ length: 20 }, (_, n) => api.ok('POST', api.path(ConfigMap), configMap(`c${n}`))))
      const [first, ...others] = (await Promise.all(watches)).map(types)
      for (const other of others) assert.deepEqual(other, first)
    },
  },
  {
    title: 'timeoutSeconds ends a watch cleanly',
    async run(api) {
      const events = await api.watch(`${api.path(Gadget)}?watch=true&timeoutSeconds=1`, () => false)
      assert.deepEqual(events, [])
    },
  },
  {
    title: 'Tables have NAME first and the columns of the kind',
    async run(api) {
      await api.ok('POST', api.path(Gadget), gadget('a', { size: 7 }))
      const { body: table } = await api.send('GET', api.path(Gadget), { accept: TABLE })
      assert.equal(table.kind, 'Table')
      assert.equal(table.apiVersion, 'meta.k8s.io/v1')
      assert.deepEqual(
        table.columnDefinitions.map((column: Loose) => column.name),
        ['Name', 'Size', 'Ready', 'Age'],
      )
      assert.equal(table.rows[0].cells[0], 'a')
      assert.equal(table.rows[0].cells[1], 7)
      assert.match(table.rows[0].cells[3], /^\d+s$/)
      assert.equal(table.rows[0].object.kind, 'PartialObjectMetadata')
      assert.equal(table.rows[0].object.metadata.name, 'a')
      const none = await api.send('GET', `${api.path(Gadget)}?includeObject=None`, { accept: TABLE })
      assert.equal(none.body.rows[0].object, null)
      const whole = await api.send('GET', `${api.path(Gadget, 'a')}?includeObject=Object`, { accept: TABLE })
      assert.equal(whole.body.rows[0].object.spec.size, 7)
    },
  },
  {
    title: 'a watch of Tables has its columns in the first event only',
    async run(api) {
      await makeMany(api, 2)
      const events = await api.watch(`${api.path(Gadget)}?watch=true`, (seen) => seen.length >= 2, TABLE)
      assert.deepEqual(
        events.map(({ object }) => object.kind),
        ['Table', 'Table'],
      )
      assert.equal(events[0]!.object.columnDefinitions.length, 4)
      assert.equal(events[1]!.object.columnDefinitions, null)
      assert.deepEqual(new Set(events.map(({ object }) => object.rows[0].cells[0])), new Set(['g0', 'g1']))
    },
  },
  {
    title: 'a bookmark of watched Tables is a row about which nothing is known',
    async run(api) {
      const initial = '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
      const bookmark = async (kind: Kind, more = '') => {
        const events = await api.watch(`${api.path(kind)}${initial}${more}`, (seen) => seen.length >= 1, TABLE)
        assert.equal(events[0]!.type, 'BOOKMARK')
        return events[0]!.object
      }
      const table = await bookmark(Gadget)
      assert.deepEqual([table.kind, table.columnDefinitions.length], ['Table', 4])
      assert.deepEqual(Object.keys(table.metadata), ['resourceVersion'])
      const { cells, object } = table.rows[0]
      assert.deepEqual(cells, ['', null, null, null])
      assert.deepEqual(
        [object.kind, object.metadata.resourceVersion],
        ['PartialObjectMetadata', table.metadata.resourceVersion],
      )
      assert.deepEqual(object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' })
      assert.deepEqual((await bookmark(ConfigMap)).rows[0].cells, ['', 0, '<unknown>'])
      const without = await bookmark(ConfigMap, '&includeObject=None')
      assert.equal(without.rows[0].object.kind, 'PartialObjectMetadata')
      const whole = await bookmark(ConfigMap, '&includeObject=Object')
      assert.equal(whole.rows[0].object.kind, 'ConfigMap')
    },
  },
  {
    title: 'PartialObjectMetadata for one object and for lists',
    async run(api) {
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const one = await api.send('GET', api.path(Gadget, 'a'), { accept: PARTIAL })
      assert.equal(one.body.kind, 'PartialObjectMetadata')
      assert.equal(one.body.spec, undefined)
      const list = await api.send('GET', api.path(Gadget), { accept: PARTIAL_LIST })
      assert.equal(list.body.kind, 'PartialObjectMetadataList')
      assert.equal(list.body.items[0].metadata.name, 'a')
      assert.equal(list.body.items[0].spec, undefined)
    },
  },
  {
    title: 'YAML on request, 406 for unsupported types',
    async run(api) {
      const yaml = await api.send('GET', `/api/v1/namespaces/${api.namespace}`, { accept: 'application/yaml' })
      assert.equal(yaml.status, 200)
      assert.match(yaml.text, /^apiVersion: v1$/m)
      const none = await api.send('GET', api.path(Namespace), { accept: 'text/csv' })
      assert.equal(none.status, 406)
    },
  },
]
