/**
 * What rendering reads in the cluster, as the bundle's executor and below the cluster's ceiling, and the watches that tell when it changed: one per
 * thing that was read, of which only names and versions are kept. What the executor may read but not watch is looked at now and then.
 */
import type { Reader } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { KubeObject, ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { readRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { addressOf, toObjectFailure, ObjectFailure } from './applier.ts'
import { AGENT_NAMESPACE } from './cluster-state.ts'

/** What reads are made of. */
export interface ReadPorts {
  readonly client: Reader
  readonly discovery: Discovery
  readonly ceiling: LocalLimits
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Something that was read for this bundle is not what it was. */
  readonly onChange: (bundle: string) => void
}

/** An object that was looked for, or all of a kind; what was found, by version. */
export interface Read {
  readonly query: ObjectId
  readonly version: string
}

/** An answer, and how to know later whether it is still the same. */
export interface ReadAnswer<T> extends Read {
  readonly found: T
}

interface Watch {
  readonly informer: Informer<KubeObject>
  readonly stop: () => void
  /** What each bundle found. */
  readonly versions: Map<string, string>
}

const WATCH_SECONDS = 1500
const MOST_LISTED = 500

/** Makes the reads of one executor. */
export function createReads(ports: ReadPorts) {
  const { client, discovery, ceiling, clock, ids, log } = ports
  const watches = new Map<string, Watch>()

  function refuse(query: ObjectId, type: ResourceType): void {
    const { kind, name } = query
    const namespace = type.scope === 'Namespaced' ? query.namespace : undefined
    if (namespace === AGENT_NAMESPACE) {
      throw new ObjectFailure(query, `namespace ${AGENT_NAMESPACE} belongs to the agent; no bundle may read there`)
    }
    const refusal = readRefusal(ceiling, { kind, name, ...(namespace === undefined ? {} : { namespace }) })
    if (refusal !== undefined) throw new ObjectFailure(query, refusal)
  }

  /** One object; undefined when it, or its kind, is not there. */
  async function find(query: ObjectId, signal: AbortSignal): Promise<ReadAnswer<UnknownObject | undefined>> {
    const type = await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (!type) return { query, found: undefined, version: '' }
    refuse(query, type)
    try {
      const found = await client.get<UnknownObject>(type, addressOf(type, query), signal)
      return { query, found, version: versionOf([found]) }
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return { query, found: undefined, version: '' }
      throw toObjectFailure(query, caught)
    }
  }

  /** All of a kind, in one namespace or everywhere. */
  async function list(query: ObjectId, signal: AbortSignal): Promise<ReadAnswer<readonly UnknownObject[]>> {
    const type = await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (!type) return { query, found: [], version: '' }
    // Everywhere is more than any list of namespaces.
    if (type.scope === 'Namespaced' && query.namespace === undefined && ceiling.namespaces) {
      throw new ObjectFailure(query, `${query.kind} of all namespaces: this cluster's ceiling allows only some`)
    }
    refuse(query, type)
    try {
      const select = { limit: MOST_LISTED, ...whereOf(query, type) }
      const page = await client.list<UnknownObject>(type, select, signal)
      if (page.continue) {
        throw new ObjectFailure(query, `${query.kind}: there are more than the ${MOST_LISTED} that a lookup may list`)
      }
      return { query, found: page.items, version: versionOf(page.items) }
    } catch (caught) {
      throw toObjectFailure(query, caught)
    }
  }

  async function watchOf(query: ObjectId, signal: AbortSignal): Promise<Watch | undefined> {
    const key = keyOf(query)
    const known = watches.get(key)
    const type = known ? undefined : await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (known || !type) return known
    const select = {
      ...whereOf(query, type),
      ...(query.name === '' ? {} : { fieldSelector: `metadata.name=${query.name}` }),
    }
    try {
      await client.list(type, { ...select, limit: 1 }, signal)
    } catch (caught) {
      if (isApiError(caught, 'Forbidden')) return undefined
      throw caught
    }
    const stopping = new AbortController()
    const informer = createInformer<KubeObject>({
      client,
      type,
      clock,
      ids,
      log,
      select,
      watchSeconds: WATCH_SECONDS,
      keep: ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }) => ({
        apiVersion,
        kind,
        metadata: {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        },
      }),
    })
    const watch: Watch = { informer, stop: () => stopping.abort(), versions: new Map() }
    const compare = (): void => {
      if (!informer.synced()) return
      const now = versionOf(informer.lister.list())
      for (const [bundle, version] of watch.versions) if (version !== now) ports.onChange(bundle)
    }
    informer.onChange(compare)
    const life = AbortSignal.any([signal, stopping.signal])
    void informer.run(life)
    void informer.whenSynced(life).then(compare, () => {}) // stopped before the first list
    watches.set(key, watch)
    return watch
  }

  /** Follows nothing for a bundle, but for these. */
  function drop(bundle: string, but: ReadonlySet<string> = new Set()): void {
    for (const [key, watch] of watches) {
      if (but.has(key) || !watch.versions.delete(bundle) || watch.versions.size > 0) continue
      watch.stop()
      watches.delete(key)
    }
  }

  /** Follows exactly this for a bundle; false when something of it cannot be watched. */
  async function follow(bundle: string, reads: readonly Read[], signal: AbortSignal): Promise<boolean> {
    drop(bundle, new Set(reads.map(({ query }) => keyOf(query))))
    let all = true
    for (const { query, version } of reads) {
      const watch = await watchOf(query, signal)
      if (!watch) all = false
      watch?.versions.set(bundle, version)
      if (watch?.informer.synced() && versionOf(watch.informer.lister.list()) !== version) ports.onChange(bundle)
    }
    return all
  }

  return {
    find,
    list,
    follow,
    drop,
    stop(): void {
      for (const watch of watches.values()) watch.stop()
      watches.clear()
    },
  }
}

/** The reads of one executor. */
export type Reads = ReturnType<typeof createReads>

function whereOf(query: ObjectId, type: ResourceType): { readonly namespace?: string } {
  if (type.scope !== 'Namespaced') return {}
  if (query.name !== '') return { namespace: query.namespace ?? 'default' }
  return query.namespace === undefined ? {} : { namespace: query.namespace }
}

function keyOf({ apiVersion, kind, namespace = '', name }: ObjectId): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}

function versionOf(objects: readonly KubeObject[]): string {
  return objects
    .map(
      ({ metadata }) =>
        `${metadata.namespace ?? ''}/${metadata.name}@${metadata.uid ?? ''}@${metadata.resourceVersion ?? ''}`,
    )
    .sort()
    .join(' ')
}
