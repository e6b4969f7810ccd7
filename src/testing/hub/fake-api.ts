/**
 * The few verbs of a Kubernetes API that informers and controllers need, over one Map: for tests of client and engine
 * that should fail for their own reasons only. It knows no schemas and no kinds; the real one is src/apiserver.
 */
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { API_REASONS } from '../../core/errors.ts'
import type { ApiReason } from '../../core/errors.ts'
import { bytesBody } from '../../core/http.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../core/http.ts'
import { jsonEqual } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

interface Event {
  readonly revision: number
  readonly collection: string
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: UnknownObject
}

/** An API in a Map, and the handles a test needs. */
export interface FakeApi {
  readonly transport: Transport
  /** `METHOD path` of every request, in order. */
  readonly requests: string[]
  /** Changes the API's state from the outside, as another client would. */
  put(path: string, object: UnknownObject): UnknownObject
  remove(path: string): void
  get(path: string): UnknownObject | undefined
  /** Forgets events up to now: resuming an older watch is Expired. */
  compact(): void
  /** Ends all watches as a broken connection would. */
  breakWatches(): void
  /** The next requests that match get this instead of an answer; undefined lets them through again. */
  intercept(answer: ((request: HttpRequest) => HttpResponse | Error | undefined) | undefined): void
}

/** Makes an empty API. */
export function createFakeApi(): FakeApi {
  const objects = new Map<string, UnknownObject>()
  const requests: string[] = []
  const watchers = new Set<{ wake(): void; fail(error: Error): void }>()
  let events: Event[] = []
  let revision = 10
  let compacted = 10
  let intercepting: ((request: HttpRequest) => HttpResponse | Error | undefined) | undefined

  function happen(path: string, type: Event['type'], object: UnknownObject): UnknownObject {
    events.push({ revision, collection: parent(path), type, object })
    for (const watcher of watchers) watcher.wake()
    return object
  }

  function put(path: string, object: UnknownObject): UnknownObject {
    const before = objects.get(path)
    revision += 1
    const specChanged = !jsonEqual(before?.['spec'], object['spec'])
    const metadata = {
      ...object.metadata,
      uid: before?.metadata.uid ?? `uid-${revision}`,
      generation: (before?.metadata.generation ?? 0) + (specChanged || !before ? 1 : 0),
      resourceVersion: String(revision),
    }
    const stored = { ...object, metadata }
    objects.set(path, stored)
    return happen(path, before ? 'MODIFIED' : 'ADDED', stored)
  }

  function remove(path: string): void {
    const before = objects.get(path)
    if (!before) return
    objects.delete(path)
    revision += 1
    happen(path, 'DELETED', { ...before, metadata: { ...before.metadata, resourceVersion: String(revision) } })
  }

  async function* watchBody(collection: string, after: number, signal: AbortSignal): AsyncIterable<Uint8Array> {
    let cursor = after
    for (;;) {
      const wake = Promise.withResolvers<void>()
      const watcher = { wake: wake.resolve, fail: wake.reject }
      watchers.add(watcher)
      const end = () => wake.reject(signal.reason)
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      try {
        for (const event of events.filter((one) => one.collection === collection && one.revision > cursor)) {
          cursor = event.revision
          yield utf8(`${JSON.stringify({ type: event.type, object: event.object })}\n`)
        }
        if (events.every((one) => one.collection !== collection || one.revision <= cursor)) await wake.promise
      } finally {
        wake.promise.catch(() => {})
        watchers.delete(watcher)
        signal.removeEventListener('abort', end)
      }
    }
  }

  function list(url: URL, signal: AbortSignal): HttpResponse {
    const collection = url.pathname
    if (url.searchParams.get('watch') === 'true') {
      const after = Number(url.searchParams.get('resourceVersion'))
      if (after < compacted) return refuse('Expired', 'too old resource version')
      return { status: 200, headers: {}, body: watchBody(collection, after, signal) }
    }
    const all = [...objects].filter(([path]) => parent(path) === collection).sort(([a], [b]) => (a < b ? -1 : 1))
    const from = Number(url.searchParams.get('continue') ?? 0)
    const limit = Number(url.searchParams.get('limit') ?? all.length)
    const more = from + limit < all.length ? String(from + limit) : undefined
    const items = all.slice(from, from + limit).map(([, object]) => object)
    return json(200, { kind: 'List', metadata: { resourceVersion: String(revision), continue: more }, items })
  }

  function write(method: string, path: string, body: UnknownObject): HttpResponse {
    if (method === 'POST') {
      const target = `${path}/${body.metadata.name}`
      if (objects.has(target)) return refuse('AlreadyExists', `${target} exists`)
      return json(201, put(target, body))
    }
    const isStatus = path.endsWith('/status')
    const target = isStatus ? parent(path) : path
    const before = objects.get(target)
    if (!before) return refuse('NotFound', `${target} not found`)
    const expected = body.metadata.resourceVersion
    if (expected !== undefined && expected !== before.metadata.resourceVersion) {
      return refuse('Conflict', 'the object has been modified')
    }
    const next = isStatus ? { ...before, status: body['status'] } : { ...body, status: before['status'] }
    return json(200, jsonEqual(next, before) ? before : put(target, next))
  }

  const transport: Transport = async (request, signal) => {
    signal.throwIfAborted()
    requests.push(`${request.method} ${request.path}`)
    const instead = intercepting?.(request)
    if (instead instanceof Error) throw instead
    if (instead) return instead
    const url = new URL(request.path, 'http://api')
    const path = allNamespaces(url.pathname)
    if (request.method === 'GET') {
      const object = objects.get(path)
      if (object) return json(200, object)
      url.pathname = path
      return /\/[a-z]+s$/.test(path) ? list(url, signal) : refuse('NotFound', `${path} not found`)
    }
    if (request.method === 'DELETE') {
      remove(path)
      return json(200, { kind: 'Status', status: 'Success' })
    }
    return write(request.method, path, JSON.parse(fromUtf8(request.body!)) as UnknownObject)
  }

  return {
    transport,
    requests,
    put: (path, object) => put(allNamespaces(path), object),
    remove: (path) => remove(allNamespaces(path)),
    get: (path) => objects.get(allNamespaces(path)),
    compact: () => {
      compacted = revision
      events = []
    },
    breakWatches: () => {
      for (const watcher of watchers) watcher.fail(new Error('connection reset'))
    },
    intercept: (answer) => {
      intercepting = answer
    },
  }
}

// One namespace is enough here: /namespaces/x/things/y is kept as /things/y.
function allNamespaces(path: string): string {
  return path.replace(/\/namespaces\/[^/]+\//, '/')
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function json(status: number, value: unknown): HttpResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: bytesBody(utf8(JSON.stringify(value))) }
}

/** A refusal in Kubernetes' form. */
export function refuse(reason: ApiReason, message: string): HttpResponse {
  const code = API_REASONS[reason]
  return json(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, code })
}
