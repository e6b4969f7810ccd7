import assert from 'node:assert/strict'
import { ConfigMap, Event } from '../../../kinds/builtin/core.ts'
import { EventsEvent } from '../../../kinds/builtin/events.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Reply, SendOptions } from '../harness.ts'

/** Bad input: a Status with the right code, nothing stored, and the next request is served. */
export const BAD_INPUT_CASES: readonly ApiCase[] = [
  {
    title: 'bad input: bodies that are no JSON, or no object',
    async run(api) {
      for (const body of ['{', '[]', '"text"', '{"metadata":{"name":"x"},}', 'nonsense']) {
        await refused(api, { body }, 400)
      }
      await refused(api, { body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) }, 400)
    },
  },
  {
    title: 'bad input: a body over the limit is 413',
    async run(api) {
      await refused(api, { body: configMap('x', { big: 'x'.repeat(3 * 1024 * 1024 + 10) }) }, 413)
    },
  },
  {
    title: 'bad input: a YAML bomb is refused at once',
    async run(api) {
      const levels = Array.from({ length: 9 }, (_, n) => {
        const below = n === 0 ? '"lol"' : `*l${n - 1}`
        return `l${n}: &l${n} [${Array.from({ length: 9 }, () => below).join(',')}]`
      })
      const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n${levels.join('\n')}\n`
      await refused(api, { body, contentType: 'application/yaml' }, 400)
    },
  },
  {
    title: 'bad input: nesting without end is refused',
    async run(api) {
      const deep = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":${'['.repeat(200_000)}`
      await refused(api, { body: deep }, 400)
      const closed = `{"apiVersion":"contract.flotilla.dev/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"raw":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}}`
      const reply = await api.send('POST', api.path(Gadget), { body: closed })
      assert.ok(reply.status >= 400 && reply.status < 500, reply.text.slice(0, 300))
    },
  },
  {
    title: 'bad input: unsupported content types are 415',
    async run(api) {
      await refused(api, { body: 'x', contentType: 'text/plain' }, 415)
      await refused(api, { body: '<x/>', contentType: 'application/xml' }, 415)
      await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const patch = await api.send('PATCH', api.path(ConfigMap, 'a'), {
        body: '{}',
        contentType: 'application/x-other',
      })
      assert.equal(patch.status, 415, patch.text)
      const strategic = await api.send('PATCH', api.path(Gadget, 'a'), {
        body: '{}',
        contentType: 'application/strategic-merge-patch+json',
      })
      assert.ok(strategic.status === 415 || strategic.status === 404, strategic.text)
    },
  },
  {
    title: 'bad input: wrong types where the server itself looks',
    async run(api) {
      for (const metadata of [{ name: 7 }, { name: 'x', labels: { a: 1 } }, { name: 'x', finalizers: 'a' }, 'text']) {
        await refused(api, { body: { apiVersion: 'v1', kind: 'ConfigMap', metadata } }, 400)
      }
      await refused(api, { body: { ...configMap('x'), kind: 'Secret' } }, 400)
      await refused(api, { body: { ...configMap('x'), apiVersion: 'v2' } }, 400)
    },
  },
  {
    title: 'bad input: wrong names are 422',
    async run(api) {
      for (const name of ['UP', 'a_b', '-a', 'a/b', 'a'.repeat(254), '..', 'ä']) {
        await refused(api, { body: configMap(name) }, 422)
      }
      const labels = { 'bad key!': 'x' }
      await refused(api, { body: { ...configMap('x'), metadata: { name: 'x', labels } } }, 422)
    },
  },
  {
    title: 'bad input: wrong selectors, limits and tokens are 400',
    async run(api) {
      for (const query of [
        'labelSelector=a%20b%20c',
        'labelSelector=a%20in%20(',
        'labelSelector=!!a',
        'fieldSelector=spec.nothing%3Dx',
        'limit=many',
        'continue=nonsense',
        'resourceVersion=abc',
      ]) {
        const reply = await api.send('GET', `${api.path(ConfigMap)}?${query}`)
        assert.equal(reply.status, 400, `${query}: ${reply.text}`)
        assert.equal(reply.body.kind, 'Status')
      }
    },
  },
  {
    title: 'bad input: patches that make no sense are 4xx and change nothing',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      for (const [contentType, body] of [
        ['application/json-patch+json', '{}'],
        ['application/json-patch+json', '[{"op":"replace","path":"/spec/nowhere/deep","value":1}]'],
        ['application/json-patch+json', '[{"op":"test","path":"/spec/size","value":99}]'],
        ['application/merge-patch+json', '[1]'],
        ['application/merge-patch+json', '{"metadata":{"name":"other"}}'],
        ['application/apply-patch+yaml', '{'],
      ] as const) {
        const path = `${api.path(Gadget, 'a')}?fieldManager=m`
        const reply = await api.send('PATCH', path, { body, contentType })
        assert.ok(reply.status >= 400 && reply.status < 500, `${contentType} ${body}: ${reply.status} ${reply.text}`)
        assert.equal(reply.body.kind, 'Status')
      }
      const after = await api.ok('GET', api.path(Gadget, 'a'))
      assert.equal(after.metadata.resourceVersion, made.metadata.resourceVersion)
    },
  },
  {
    title: 'bad input: methods and paths that are not there',
    async run(api) {
      for (const [method, path, status] of [
        ['GET', '/api/v1/nothing', 404],
        ['GET', '/apis/no.such.group/v1/x', 404],
        ['POST', api.path(ConfigMap, 'x'), 405],
        ['PUT', api.path(ConfigMap), 405],
        ['GET', api.path(ConfigMap, 'x', 'status'), 404],
        ['GET', api.path(ConfigMap, 'x', 'scale'), 404],
      ] as const) {
        const reply = await api.send(method, path, method === 'GET' ? {} : { body: configMap('x') })
        assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
      }
    },
  },
  {
    title: 'events of v1 and events.k8s.io/v1 are one store seen twice',
    async run(api) {
      const made = await api.ok('POST', api.path(Event), {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e' },
        involvedObject: { kind: 'ConfigMap', name: 'm', namespace: api.namespace },
        type: 'Warning',
        reason: 'Odd',
        message: 'it is odd',
        count: 2,
        source: { component: 'me' },
      })
      const seen = await api.ok('GET', api.path(EventsEvent, 'e'))
      assert.equal(seen.apiVersion, 'events.k8s.io/v1')
      assert.equal(seen.note, 'it is odd')
      assert.equal(seen.regarding.name, 'm')
      assert.equal(seen.deprecatedCount, 2)
      assert.equal(seen.deprecatedSource.component, 'me')
      assert.equal(seen.metadata.uid, made.metadata.uid)
      const list = await api.ok('GET', api.path(EventsEvent))
      assert.deepEqual(
        list.items.map(({ note }: { note: string }) => note),
        ['it is odd'],
      )
      await api.ok('POST', api.path(EventsEvent), {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'f' },
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'example.com/c',
        reportingInstance: 'c-1',
        action: 'Look',
        reason: 'Even',
        type: 'Normal',
        note: 'it is even',
        regarding: { kind: 'ConfigMap', name: 'm', namespace: api.namespace },
      })
      const core = await api.ok('GET', api.path(Event, 'f'))
      assert.equal(core.message, 'it is even')
      assert.equal(core.involvedObject.name, 'm')
      assert.equal(core.reportingComponent, 'example.com/c')
      const path = `${api.path(EventsEvent)}?watch=true&resourceVersion=${core.metadata.resourceVersion}`
      const watching = api.watch(path, (events) => events.length > 0)
      await api.ok('DELETE', api.path(Event, 'e'))
      const [event] = await watching
      assert.equal(event!.type, 'DELETED')
      assert.equal(event!.object.note, 'it is odd')
      assert.equal((await api.send('GET', api.path(EventsEvent, 'e'))).status, 404)
    },
  },
  {
    title: 'scale: replicas through autoscaling/v1, by PUT and PATCH',
    async run(api) {
      const template = {
        metadata: { labels: { app: 'd' } },
        spec: { containers: [{ name: 'c', image: 'c:1' }] },
      }
      await api.ok('POST', api.path(Deployment), {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { replicas: 2, selector: { matchLabels: { app: 'd' } }, template },
      })
      const path = api.path(Deployment, 'd', 'scale')
      const scale = await api.ok('GET', path)
      assert.equal(scale.kind, 'Scale')
      assert.equal(scale.apiVersion, 'autoscaling/v1')
      assert.deepEqual(scale.spec, { replicas: 2 })
      assert.equal(scale.status.selector, 'app=d')
      // Where controllers run, the Deployment's status is written between a read and a write: read again then.
      let put = await api.send('PUT', path, { body: { ...scale, spec: { replicas: 5 } } })
      for (let tries = 0; put.status === 409 && tries < 20; tries++) {
        put = await api.send('PUT', path, { body: { ...(await api.ok('GET', path)), spec: { replicas: 5 } } })
      }
      assert.deepEqual(put.body.spec, { replicas: 5 }, put.text)
      const merge = { body: { spec: { replicas: 6 } }, contentType: 'application/merge-patch+json' }
      const patched = await api.send('PATCH', path, merge)
      assert.equal(patched.body.spec.replicas, 6, patched.text)
      const whole = await api.ok('GET', api.path(Deployment, 'd'))
      assert.equal(whole.spec.replicas, 6)
      assert.equal(whole.metadata.generation, 3)
      const stale = await api.send('PUT', path, { body: { ...scale, spec: { replicas: 7 } } })
      assert.equal(stale.status, 409, stale.text)
      const wrong = { body: { spec: { replicas: -1 } }, contentType: 'application/merge-patch+json' }
      assert.equal((await api.send('PATCH', path, wrong)).status, 422)
      assert.equal((await api.send('GET', api.path(Deployment, 'no', 'scale'))).status, 404)
    },
  },
]

/** Sends a create that must be refused with a Status, after which the server still serves and nothing was stored. */
async function refused(api: Api, options: SendOptions, status: number): Promise<Reply> {
  const reply = await api.send('POST', api.path(ConfigMap), options)
  const what = typeof options.body === 'string' ? options.body : (JSON.stringify(options.body) ?? '')
  assert.equal(reply.status, status, `${what.slice(0, 100)}: ${reply.text.slice(0, 500)}`)
  assert.equal(reply.body.kind, 'Status')
  assert.equal(reply.body.code, status)
  const { items } = await api.ok('GET', api.path(ConfigMap))
  assert.deepEqual(
    items.map((item: { metadata: { name: string } }) => item.metadata.name).filter((name: string) => name === 'x'),
    [],
  )
  return reply
}
