// Tested by src/agent/render/cluster-render.contract.test.ts
/** Watches of the objects that renderings read: one for each read, with only names and versions in memory. */
import type { Reader } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { WATCH_TIMING } from '../timing.ts'
import { AGENT_NAMESPACE } from './agent-objects.ts'

/** A read: one object, or all objects of a kind, and the version of the result. */
export interface Read {
  readonly query: ObjectId
  readonly version: string
}

/** Ports of the watches. */
export interface ReadWatchPorts {
  readonly client: Reader
  readonly discovery: Discovery
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** The result of a read for this bundle is no longer the same. */
  readonly onChange: (bundle: string) => void
}

interface ReadWatch {
  readonly informer: Informer<KubeObject>
  readonly stop: () => void
  /** The version that each bundle read. */
  readonly versions: Map<string, string>
}

/** Creates the watches of an executor. */
export function createReadWatches({ client, discovery, clock, ids, log, onChange }: ReadWatchPorts) {
  const watches = new Map<string, ReadWatch>()

  /** The watch of a read; undefined where the executor may not list. */
  async function watch(query: ObjectId, signal: AbortSignal): Promise<ReadWatch | undefined> {
    const key = readKey(query)
    const known = watches.get(key)
    const type = known ? undefined : await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (known || !type) return known
    const named = query.name === '' ? {} : { fieldSelector: `metadata.name=${query.name}` }
    const select = { ...readScope(query, type), ...named }
    try {
      await client.list(type, { ...select, limit: 1 }, signal)
    } catch (caught) {
      if (isApiError(caught, 'Forbidden')) return undefined
      throw caught
    }
    const stopping = new AbortController()
    const { watchSeconds } = WATCH_TIMING
    const keep = keepVersion
    const informer = createInformer<KubeObject>({ client, type, clock, ids, log, select, watchSeconds, keep })
    const started: ReadWatch = { informer, stop: () => stopping.abort(), versions: new Map() }
    const compare = (): void => {
      if (!informer.synced()) return
      const now = listVersion(withoutAgent(informer.lister.list()))
      for (const [bundle, version] of started.versions) if (version !== now) onChange(bundle)
    }
    informer.onChange(compare)
    const life = AbortSignal.any([signal, stopping.signal])
    void informer.run(life)
    void informer.whenSynced(life).then(compare, () => {}) // stopped before the first list
    watches.set(key, started)
    return started
  }

  /** Stops following all reads of a bundle, except these. */
  function drop(bundle: string, except: ReadonlySet<string> = new Set()): void {
    for (const [key, { versions, stop }] of watches) {
      if (except.has(key) || !versions.delete(bundle) || versions.size > 0) continue
      stop()
      watches.delete(key)
    }
  }

  /** Follows exactly these reads for a bundle; false when a read cannot be watched. */
  async function follow(bundle: string, reads: readonly Read[], signal: AbortSignal): Promise<boolean> {
    drop(bundle, new Set(reads.map(({ query }) => readKey(query))))
    let isComplete = true
    for (const { query, version } of reads) {
      const followed = await watch(query, signal)
      if (!followed) isComplete = false
      followed?.versions.set(bundle, version)
      if (followed?.informer.synced() && listVersion(withoutAgent(followed.informer.lister.list())) !== version)
        onChange(bundle)
    }
    return isComplete
  }

  return {
    follow,
    drop,
    stop(): void {
      for (const { stop } of watches.values()) stop()
      watches.clear()
    },
  }
}

/** The namespace of a read; absent for cluster-scoped kinds and for lists over all namespaces. */
export function readScope(query: ObjectId, type: ResourceType): { readonly namespace?: string } {
  if (type.scope !== 'Namespaced') return {}
  if (query.name !== '') return { namespace: query.namespace ?? 'default' }
  return compact({ namespace: query.namespace })
}

/** The objects of a list over all namespaces that bundles may read: the objects outside the namespace of the agent. */
export function withoutAgent<T extends KubeObject>(objects: readonly T[]): readonly T[] {
  return objects.filter(({ metadata }) => metadata.namespace !== AGENT_NAMESPACE)
}

/** A version for the result of a read: it changes with every object in the result. */
export function listVersion(objects: readonly KubeObject[]): string {
  return objects
    .map(
      ({ metadata }) =>
        `${metadata.namespace ?? ''}/${metadata.name}@${metadata.uid ?? ''}@${metadata.resourceVersion ?? ''}`,
    )
    .sort()
    .join(' ')
}

function keepVersion({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { name, ...compact({ namespace, uid, resourceVersion }) } }
}

function readKey({ apiVersion, kind, namespace = '', name }: ObjectId): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}
