/** A kubeconfig with one more context in it; everything else in it stays as it is. Pure. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'

/** A context, and the cluster and user of the same name that it is made of. */
export interface NamedContext {
  readonly name: string
  readonly cluster: JsonObject
  readonly user: JsonObject
  /** Also the one that kubectl uses when nobody names any. */
  readonly isCurrent: boolean
}

const EMPTY: JsonObject = { apiVersion: 'v1', kind: 'Config', 'current-context': '' }

/** The server that a context points to; undefined where there is no such context. */
export function serverOfContext(config: JsonObject, name: string): string | undefined {
  const context = entryOf(config, 'contexts', name)?.['context']
  if (!isObject(context)) return undefined
  const cluster = entryOf(config, 'clusters', String(context['cluster']))?.['cluster']
  return isObject(cluster) ? String(cluster['server']) : ''
}

/** Puts a context in; what has its names is replaced in its place. */
export function withContext(config: JsonObject, { name, cluster, user, isCurrent }: NamedContext): JsonObject {
  const put = (list: string, entry: JsonObject): JsonObject[] => {
    const entries = entriesOf(config, list)
    const at = entries.findIndex((known) => known['name'] === name)
    return at < 0 ? [...entries, entry] : entries.with(at, entry)
  }
  const known = entryOf(config, 'contexts', name)?.['context']
  // A namespace that somebody chose is theirs.
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
