import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromUtf8, utf8 } from '../core/bytes.ts'
import { ApiError } from '../core/errors.ts'
import { bytesBody } from '../core/http.ts'
import type { HttpRequest, HttpResponse } from '../core/http.ts'
import type { ResourceType } from '../kinds/meta.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import type { Client, WatchEvent } from './client.ts'
import { createClient } from './create-client.ts'

const ConfigMap: ResourceType = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
}
const Deployment: ResourceType = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
}
const Node: ResourceType = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' }

const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: 'a' } }

function answering(response: Partial<HttpResponse> | ((request: HttpRequest) => HttpResponse)) {
  const sent: HttpRequest[] = []
  const clock = createVirtualClock()
  const client = createClient({
    clock,
    transport: (request) => {
      sent.push(request)
      if (typeof response === 'function') return Promise.resolve(response(request))
      return Promise.resolve({ status: 200, headers: {}, body: bytesBody(utf8('{}')), ...response })
    },
  })
  return { client, sent, clock }
}

describe('requests', () => {
  const cases: readonly {
    readonly what: string
    readonly call: (client: Client) => Promise<unknown>
    readonly sends: string
    readonly type?: string
    readonly body?: unknown
  }[] = [
    {
      what: 'get, core group',
      call: (c) => c.get(ConfigMap, map.metadata),
      sends: 'GET /api/v1/namespaces/ns/configmaps/a',
    },
    { what: 'get, cluster scope', call: (c) => c.get(Node, { name: 'n' }), sends: 'GET /api/v1/nodes/n' },
    {
      what: 'get, named group',
      call: (c) => c.get(Deployment, { namespace: 'ns', name: 'd' }),
      sends: 'GET /apis/apps/v1/namespaces/ns/deployments/d',
    },
    {
      what: 'a namespace on a kind of the cluster is ignored',
      call: (c) => c.get(Node, { namespace: 'ns', name: 'n' }),
      sends: 'GET /api/v1/nodes/n',
    },
    {
      what: 'create',
      call: (c) => c.create(ConfigMap, map, { fieldManager: 'me', dryRun: true }),
      sends: 'POST /api/v1/namespaces/ns/configmaps?fieldManager=me&dryRun=All',
      type: 'application/json',
      body: map,
    },
    {
      what: 'update of status',
      call: (c) => c.update(ConfigMap, map, { subresource: 'status' }),
      sends: 'PUT /api/v1/namespaces/ns/configmaps/a/status',
      body: map,
    },
    {
      what: 'apply is JSON under the name the API wants',
      call: (c) => c.apply(ConfigMap, map, { fieldManager: 'flotilla ns/x', force: true }),
      sends: 'PATCH /api/v1/namespaces/ns/configmaps/a?fieldManager=flotilla%20ns%2Fx&force=true',
      type: 'application/apply-patch+yaml',
      body: map,
    },
    {
      what: 'merge patch',
      call: (c) => c.patch(ConfigMap, map.metadata, { type: 'merge', body: { data: null } }),
      sends: 'PATCH /api/v1/namespaces/ns/configmaps/a',
      type: 'application/merge-patch+json',
      body: { data: null },
    },
    {
      what: 'JSON patch',
      call: (c) => c.patch(ConfigMap, map.metadata, { type: 'json', operations: [{ op: 'remove', path: '/data' }] }),
      sends: 'PATCH /api/v1/namespaces/ns/configmaps/a',
      type: 'application/json-patch+json',
      body: [{ op: 'remove', path: '/data' }],
    },
    {
      what: 'delete with preconditions',
      call: (c) => c.delete(ConfigMap, map.metadata, { uid: 'u', propagationPolicy: 'Foreground' }),
      sends: 'DELETE /api/v1/namespaces/ns/configmaps/a',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'u' },
        propagationPolicy: 'Foreground',
      },
    },
  ]
  for (const { what, call, sends, type, body } of cases) {
    it(what, async () => {
      const { client, sent, clock } = answering({})
      await call(client)
      const [request] = sent
      assert.equal(`${request?.method} ${request?.path}`, sends)
      if (type) assert.equal(request?.headers['content-type'], type)
      if (body) assert.deepEqual(JSON.parse(fromUtf8(request!.body!)), body)
      assert.equal(clock.sleepers(), 0, 'the deadline ends with the request')
    })
  }

  it('refuses names that would address something else', async () => {
    const { client, sent } = answering({})
    for (const name of ['', '.', '..', 'a/b', 'a%2fb']) {
      await assert.rejects(async () => client.get(ConfigMap, { namespace: 'ns', name }), { reason: 'BadRequest' })
    }
    await assert.rejects(async () => client.get(ConfigMap, { name: 'a' }), /ConfigMap "a" has no namespace/)
    assert.deepEqual(sent, [])
  })
})

describe('answers', () => {
  it('lists fill in what kube-apiserver leaves out', async () => {
    const list = { metadata: { resourceVersion: '7', continue: 'next' }, items: [{ metadata: { name: 'a' } }] }
    const { client, sent } = answering({ body: bytesBody(utf8(JSON.stringify(list))) })
    const page = await client.list(ConfigMap, { labelSelector: 'a=b', limit: 1 })
    assert.deepEqual(page, {
      items: [{ metadata: { name: 'a' }, apiVersion: 'v1', kind: 'ConfigMap' }],
      resourceVersion: '7',
      continue: 'next',
    })
    assert.equal(sent[0]?.path, '/api/v1/configmaps?labelSelector=a%3Db&limit=1')
  })

  const refusals: readonly (readonly [string, number, string, Record<string, string>, Partial<ApiError>])[] = [
    [
      'a Status',
      409,
      '{"kind":"Status","reason":"AlreadyExists","message":"exists","code":409}',
      {},
      { reason: 'AlreadyExists', message: 'exists' },
    ],
    ['Gone is Expired', 410, '{"kind":"Status","reason":"Gone","message":"old"}', {}, { reason: 'Expired' }],
    [
      'no JSON',
      404,
      '404 page not found\n',
      {},
      { reason: 'NotFound', message: 'GET /api/v1/nodes/n: HTTP 404: 404 page not found' },
    ],
    [
      'an unknown reason',
      418,
      '{"kind":"Status","reason":"Teapot","message":"short","code":418}',
      {},
      { reason: 'BadRequest' },
    ],
    ['a proxy', 502, '<html>', {}, { reason: 'ServiceUnavailable' }],
    [
      'retry-after',
      429,
      '{"kind":"Status","reason":"TooManyRequests","message":"slow"}',
      { 'retry-after': '3' },
      { reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } },
    ],
  ]
  for (const [what, status, body, headers, expected] of refusals) {
    it(`refusal: ${what}`, async () => {
      const { client } = answering({ status, headers, body: bytesBody(utf8(body)) })
      await assert.rejects(client.get(Node, { name: 'n' }), (caught) => {
        assert.ok(caught instanceof ApiError)
        assert.partialDeepStrictEqual(
          { reason: caught.reason, message: caught.message, details: caught.details },
          expected,
        )
        return true
      })
    })
  }

  it('gives up by its own clock', async () => {
    const clock = createVirtualClock()
    const client = createClient({
      clock,
      timeoutMs: 5_000,
      transport: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const waiting = assert.rejects(client.get(Node, { name: 'n' }), /GET \/api\/v1\/nodes\/n: no answer within 5 s/)
    await clock.advance(5_000)
    await waiting
  })
})

describe('watch', () => {
  async function watch(
    ...chunks: readonly string[]
  ): Promise<WatchEvent<{ apiVersion: string; kind: string; metadata: { name: string } }>[]> {
    async function* body() {
      for (const chunk of chunks) yield utf8(chunk)
    }
    const { client, sent } = answering({ body: body() })
    const events = []
    const signal = new AbortController().signal
    for await (const event of client.watch(ConfigMap, { resourceVersion: '5', timeoutSeconds: 9 }, signal))
      events.push(event)
    assert.equal(
      sent[0]?.path,
      '/api/v1/configmaps?resourceVersion=5&watch=true&allowWatchBookmarks=true&timeoutSeconds=9',
    )
    return events
  }

  it('joins lines from any chunks', async () => {
    const events = await watch(
      '{"type":"ADDED","obj',
      'ect":{"metadata":{"name":"é"}}}\n\n{"type":"DELETED"',
      ',"object":{"metadata":{"name":"b"}}}\n',
    )
    assert.deepEqual(
      events.map((event) => event.type),
      ['ADDED', 'DELETED'],
    )
  })

  it('knows bookmarks', async () => {
    const events = await watch(
      '{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}\n',
    )
    assert.deepEqual(events, [{ type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true }])
  })

  it('throws what an ERROR event carries', async () => {
    const status = { kind: 'Status', reason: 'Expired', code: 410, message: 'too old resource version: 5 (9)' }
    await assert.rejects(watch(`{"type":"ERROR","object":${JSON.stringify(status)}}\n`), { reason: 'Expired' })
  })

  it('throws when the stream ends within an event', async () => {
    await assert.rejects(watch('{"type":"ADDED","object":{"meta'), /in the middle of an event/)
  })
})
