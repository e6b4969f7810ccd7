import assert from 'node:assert/strict'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { readBody } from '../../core/http.ts'
import type { Transport } from '../../core/http.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { kindOf } from '../../kinds/define-kind.ts'
import type { KubeObject, ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'

/** What the cases of the API contract talk to: any Kubernetes API with our kinds, by an administrator. */

/** A kind with every way of merging, served by both homes during the contract. */
export const Gadget = kindOf<KubeObject>({
  group: 'contract.flotilla.dev',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
  shortNames: ['gd'],
  description: 'Every way of merging once.',
  subresources: { status: true },
  columns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  fields: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', format: 'int64' },
        mode: { type: 'string', default: 'plain', enum: ['plain', 'fancy'] },
        words: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        steps: { type: 'array', items: { type: 'string' } },
        settings: { type: 'object', additionalProperties: { type: 'string' } },
        whole: {
          type: 'object',
          'x-kubernetes-map-type': 'atomic',
          properties: { a: { type: 'string' }, b: { type: 'string' } },
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            required: ['port'],
            properties: {
              port: { type: 'integer' },
              protocol: { type: 'string', default: 'TCP' },
              name: { type: 'string' },
              tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            },
          },
        },
        raw: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: {
        seen: { type: 'integer' },
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: {
            type: 'object',
            required: ['type', 'status'],
            properties: { type: { type: 'string' }, status: { type: 'string' } },
          },
        },
      },
    },
  },
})

/** An answer, read whole. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as JSON; most cases look into it without ceremony. */
  readonly body: Loose
}

/** JSON that is looked into without ceremony: a wrong assumption fails the case anyway. */
// oxlint-disable-next-line typescript/no-explicit-any -- cases read answers of any shape
export type Loose = any

/** How to send. */
export interface SendOptions {
  readonly body?: unknown
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One event of a watch. */
export interface SeenEvent {
  readonly type: string
  readonly object: Loose
}

/** The API as a case sees it. */
export interface Api {
  /** A fresh namespace, this case's own. */
  readonly namespace: string
  send(method: string, path: string, options?: SendOptions): Promise<Reply>
  /** Sends and asserts the code of the answer; returns its body. */
  ok(method: string, path: string, body?: unknown, status?: number): Promise<Loose>
  /** Server-side apply. */
  apply(path: string, config: unknown, manager: string, force?: boolean): Promise<Reply>
  /** The events of a watch until `until` says so. */
  watch(path: string, until: (events: readonly SeenEvent[]) => boolean, accept?: string): Promise<SeenEvent[]>
  /** `/api/v1/namespaces/NS/configmaps[/name]` and the like, in this case's namespace. */
  path(kind: Kind, name?: string, subresource?: string): string
}

const LIMIT = 64 * 1024 * 1024
const WATCH_MS = 20_000

/** The API over a transport. */
export function createApi(transport: Transport, namespace: string): Api {
  async function send(method: string, path: string, options: SendOptions = {}): Promise<Reply> {
    const { body, contentType = 'application/json', accept = 'application/json' } = options
    const bytes = body === undefined ? undefined : bytesOf(body)
    const response = await transport(
      {
        method,
        path,
        headers: {
          accept,
          'user-agent': 'contract/1.0',
          ...(bytes ? { 'content-type': contentType } : {}),
          ...options.headers,
        },
        ...(bytes ? { body: bytes } : {}),
      },
      AbortSignal.timeout(WATCH_MS),
    )
    const text = fromUtf8(await readBody(response.body, LIMIT))
    return { status: response.status, headers: response.headers, text, body: jsonOrText(text) }
  }

  async function watch(
    path: string,
    until: (events: readonly SeenEvent[]) => boolean,
    accept = 'application/json',
  ): Promise<SeenEvent[]> {
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(WATCH_MS)])
    const headers = { accept, 'user-agent': 'contract/1.0' }
    const response = await transport({ method: 'GET', path, headers }, signal)
    const events: SeenEvent[] = []
    let rest = ''
    const decoder = new TextDecoder()
    try {
      for await (const chunk of response.body) {
        rest += decoder.decode(chunk, { stream: true })
        const lines = rest.split('\n')
        rest = lines.pop()!
        for (const line of lines) if (line !== '') events.push(JSON.parse(line) as SeenEvent)
        if (until(events)) break
      }
    } catch (error) {
      assert.ok(!signal.aborted, `watch ${path} saw only ${JSON.stringify(events.map(({ type }) => type))}`)
      throw error
    } finally {
      abort.abort()
    }
    assert.equal(response.status, 200, `watch ${path}`)
    return events
  }

  return {
    namespace,
    send,
    watch,
    async ok(method, path, body, status = method === 'POST' ? 201 : 200) {
      const reply = await send(method, path, body === undefined ? {} : { body })
      assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
      return reply.body
    },
    apply: (path, config, manager, force = false) =>
      send('PATCH', `${path}?fieldManager=${encodeURIComponent(manager)}${force ? '&force=true' : ''}`, {
        body: config,
        contentType: 'application/apply-patch+yaml',
      }),
    path(kind, name, subresource) {
      const group = kind.group === '' ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`
      const scoped = kind.scope === 'Namespaced' ? `${group}/namespaces/${namespace}` : group
      return [`${scoped}/${kind.plural}`, name, subresource].filter((part) => part !== undefined).join('/')
    },
  }
}

function bytesOf(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body
  return utf8(typeof body === 'string' ? body : JSON.stringify(body))
}

function jsonOrText(text: string): Loose {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** One case of the contract. */
export interface ApiCase {
  readonly title: string
  run(api: Api): Promise<void>
}

/** A ConfigMap with data. */
export function configMap(name: string, data: Record<string, string> = { a: '1' }): UnknownObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
}

/** A Gadget with a spec. */
export function gadget(name: string, spec: object = { size: 1 }, metadata: object = {}): UnknownObject {
  return { apiVersion: 'contract.flotilla.dev/v1', kind: 'Gadget', metadata: { name, ...metadata }, spec }
}

/** Who owns what, without times. */
export function ownersOf(object: Loose): Omit<ManagedFieldsEntry, 'time'>[] {
  const entries = (object.metadata.managedFields ?? []) as ManagedFieldsEntry[]
  return entries.map(({ time: _time, ...entry }) => entry)
}

/** The fields one manager owns. */
export function fieldsOf(object: Loose, manager: string): unknown {
  return ownersOf(object).find((entry) => entry.manager === manager)?.fieldsV1
}
