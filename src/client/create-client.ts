import { compact } from '../core/compact.ts'
import { isObject } from '../core/json.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../kinds/meta.ts'
import type { Client, DeleteOptions, ListOptions, ListPage, PatchBody, WatchOptions, WriteOptions } from './client.ts'
import { collectionPath, creationPath, objectPath, withQuery } from './resource-paths.ts'
import type { Query } from './resource-paths.ts'
import { createRest } from './rest.ts'
import type { ClientOptions, Rest } from './rest.ts'
import { linesOf, parseWatchLine } from './watch-stream.ts'

/** Makes a typed client over any transport: sockets, an in-process handler, or a simulated network. */
export function createClient(options: ClientOptions): Client {
  return clientOver(createRest(options))
}

/** Makes a typed client over an untyped client, for callers that need both. */
export function clientOver(rest: Rest): Client {
  async function write<T extends KubeObject>(request: Parameters<Rest['json']>[0]): Promise<T> {
    return (await rest.json(request)) as T
  }

  return {
    get: async <T extends KubeObject>(type: ResourceType<T>, key: ObjectKey, signal?: AbortSignal) =>
      (await rest.json({ method: 'GET', path: objectPath(type, key), ...withSignal(signal) })) as T,

    list: async <T extends KubeObject>(type: ResourceType<T>, listOptions: ListOptions = {}, signal?: AbortSignal) => {
      const path = withQuery(collectionPath(type, listOptions.namespace), listQuery(listOptions))
      return toPage(type, await rest.json({ method: 'GET', path, ...withSignal(signal) }))
    },

    async *watch<T extends KubeObject>(type: ResourceType<T>, watchOptions: WatchOptions, signal: AbortSignal) {
      const path = withQuery(collectionPath(type, watchOptions.namespace), {
        ...listQuery(watchOptions),
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds: watchOptions.timeoutSeconds,
      })
      const response = await rest.stream({ method: 'GET', path }, signal)
      for await (const line of linesOf(response.body)) yield parseWatchLine<T>(line)
    },

    create: (type, object, writeOptions = {}) =>
      write({
        method: 'POST',
        path: withQuery(creationPath(type, object.metadata), writeQuery(writeOptions)),
        body: object,
        ...withSignal(writeOptions.signal),
      }),

    update: (type, object, writeOptions = {}) =>
      write({
        method: 'PUT',
        path: withQuery(objectPath(type, object.metadata, writeOptions.subresource), writeQuery(writeOptions)),
        body: object,
        ...withSignal(writeOptions.signal),
      }),

    patch: (type, key, patch, writeOptions = {}) =>
      write({
        method: 'PATCH',
        path: withQuery(objectPath(type, key, writeOptions.subresource), writeQuery(writeOptions)),
        contentType: PATCH_TYPES[patch.type],
        body: patch.type === 'json' ? patch.operations : patch.body,
        ...withSignal(writeOptions.signal),
      }),

    apply: (type, object, applyOptions) =>
      write({
        method: 'PATCH',
        path: withQuery(objectPath(type, object.metadata, applyOptions.subresource), {
          ...writeQuery(applyOptions),
          force: applyOptions.force,
        }),
        // JSON is YAML; the name is the API's, not a wish for YAML.
        contentType: 'application/apply-patch+yaml',
        body: object,
        ...withSignal(applyOptions.signal),
      }),

    delete: async (type, key, deleteOptions = {}) => {
      await rest.json({
        method: 'DELETE',
        path: objectPath(type, key),
        body: deleteBody(deleteOptions),
        ...withSignal(deleteOptions.signal),
      })
    },
  }
}

const PATCH_TYPES: Readonly<Record<PatchBody['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

function listQuery(options: ListOptions): Query {
  return {
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    limit: options.limit,
    continue: options.continue,
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
  }
}

function writeQuery(options: WriteOptions): Query {
  return { fieldManager: options.fieldManager, dryRun: options.dryRun ? 'All' : undefined }
}

function deleteBody(options: DeleteOptions): object {
  const { uid, resourceVersion, propagationPolicy, gracePeriodSeconds, dryRun } = options
  return compact({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: uid !== undefined || resourceVersion !== undefined ? { uid, resourceVersion } : undefined,
    propagationPolicy,
    gracePeriodSeconds,
    dryRun: dryRun ? ['All'] : undefined,
  })
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {}
}

// kube-apiserver leaves apiVersion and kind out of the items of built-in kinds; everyone downstream wants them.
function toPage<T extends KubeObject>(type: ResourceType<T>, answer: unknown): ListPage<T> {
  if (!isObject(answer) || !isObject(answer['metadata'])) throw new Error(`the list of ${type.plural} is not a list`)
  const { resourceVersion, continue: next } = answer['metadata']
  const items = Array.isArray(answer['items']) ? (answer['items'] as T[]) : []
  return compact({
    items: items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind })),
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    continue: typeof next === 'string' && next !== '' ? next : undefined,
  })
}
