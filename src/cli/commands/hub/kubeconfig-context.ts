/** Adds a context to a kubeconfig and keeps all other parts. Pure. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'

/** A context with its cluster and user, which have the same name. */
export interface NamedContext {
  readonly name: string
  readonly cluster: JsonObject
  readonly user: JsonObject
  /** Whether the context becomes the current context of kubectl. */
  readonly isCurrent: boolean
}

const EMPTY: JsonObject = { apiVersion: 'v1', kind: 'Config', 'current-context': '' }

/** The server of a context. Undefined if the context does not exist. */
export function serverOfContext(config: JsonObject, name: string): string | undefined {
  const context = entryOf(config, 'contexts', name)?.['context']
  if (!isObject(context)) return undefined
  const cluster = entryOf(config, 'clusters', String(context['cluster']))?.['cluster']
  return isObject(cluster) ? String(cluster['server']) : ''
}

/** Adds a context. Entries of the same name are replaced. */
export function withContext(config: JsonObject, { name, cluster, user, isCurrent }: NamedContext): JsonObject {
  const put = (list: string, entry: JsonObject): JsonObject[] => {
    const entries = entriesOf(config, list)
    const at = entries.findIndex((known) => known['name'] === name)
    return at < 0 ? [...entries, entry] : entries.with(at, entry)
  }
  const known = entryOf(config, 'contexts', name)?.['context']
  // A namespace that the user chose is kept.
  const kept = isObject(known) && known['namespace'] !== undefined ? { namespace: known['namespace'] } : {}
  return {
    ...EMPTY,
    ...config,
    clusters: put('clusters', { name, cluster }),
    users: put('users', { name, user }),
    contexts: put('contexts', { name, context: { cluster: name, user: name, ...kept } }),
    ...(isCurrent && { 'current-context': name }),
  }
}

function entriesOf(config: JsonObject, list: string): JsonObject[] {
  const entries = config[list]
  return Array.isArray(entries) ? entries.filter(isObject) : []
}

function entryOf(config: JsonObject, list: string, name: string): JsonObject | undefined {
  return entriesOf(config, list).find((entry) => entry['name'] === name)
}
