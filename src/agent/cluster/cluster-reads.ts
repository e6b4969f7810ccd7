// Tested by src/agent/render/cluster-render.contract.test.ts
/**
 * What rendering reads in the cluster, as the bundle's executor and within the local limits. read-watches.ts tells when
 * a result changes; reads that the executor may not watch are repeated at an interval.
 */
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { readRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { Lookup } from '../../plan/projects/limits.ts'
import { AGENT_NAMESPACE } from './agent-objects.ts'
import { objectAddress } from './object-address.ts'
import { ObjectFailure, ProjectRefused, toObjectFailure } from './object-failure.ts'
import { createReadWatches, listVersion, readScope, withoutAgent } from './read-watches.ts'
import type { Read, ReadWatchPorts } from './read-watches.ts'

/** Ports of reads. */
export interface ReadPorts extends ReadWatchPorts {
  readonly localLimits: LocalLimits
}

/** The result of a read. */
export interface ReadAnswer<T> extends Read {
  readonly found: T
}

/** Why the bundle's Project refuses a lookup; undefined when it allows the lookup. */
export type LookupLimit = (lookup: Lookup) => string | undefined

/** The lookups of a bundle, within the limits of its Project. */
export interface Lookups {
  /** An object; undefined when the object or its kind does not exist. */
  find(query: ObjectId, signal: AbortSignal): Promise<ReadAnswer<UnknownObject | undefined>>
  /** All objects of a kind, in a namespace or in all namespaces. */
  list(query: ObjectId, signal: AbortSignal): Promise<ReadAnswer<readonly UnknownObject[]>>
}

const MOST_LISTED = 500

/** Creates the reads of an executor. */
export function createReads(ports: ReadPorts) {
  const { client, discovery, localLimits } = ports

  function refuse(query: ObjectId, type: ResourceType, limit: LookupLimit): void {
    const { apiVersion, kind, name } = query
    const namespace = type.scope === 'Namespaced' ? query.namespace : undefined
    if (namespace === AGENT_NAMESPACE) {
      throw new ObjectFailure(query, `namespace ${AGENT_NAMESPACE} belongs to the agent; no bundle may read there`)
    }
    const refusal = readRefusal(localLimits, { kind, name, ...compact({ namespace }) })
    if (refusal !== undefined) throw new ObjectFailure(query, refusal)
    const isNamespaced = type.scope === 'Namespaced'
    const refused = limit({ apiVersion, kind, namespace, name, isNamespaced })
    if (refused !== undefined) throw new ProjectRefused(query, refused)
  }

  /** An object; undefined when the object or its kind does not exist. */
  async function find(
    query: ObjectId,
    signal: AbortSignal,
    limit: LookupLimit,
  ): Promise<ReadAnswer<UnknownObject | undefined>> {
    const type = await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (!type) return { query, found: undefined, version: '' }
    refuse(query, type, limit)
    try {
      const found = await client.get<UnknownObject>(type, objectAddress(type, query), signal)
      return { query, found, version: listVersion([found]) }
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return { query, found: undefined, version: '' }
      throw toObjectFailure(query, caught)
    }
  }

  /** All objects of a kind, in a namespace or in all namespaces. */
  async function list(
    query: ObjectId,
    signal: AbortSignal,
    limit: LookupLimit,
  ): Promise<ReadAnswer<readonly UnknownObject[]>> {
    const type = await discovery.typeOf(query.apiVersion, query.kind, signal)
    if (!type) return { query, found: [], version: '' }
    // All namespaces are more than any list of allowed namespaces.
    if (type.scope === 'Namespaced' && query.namespace === undefined && localLimits.namespaces) {
      throw new ObjectFailure(
        query,
        `${query.kind} of all namespaces: the local limits of this cluster allow only some namespaces`,
      )
    }
    if (query.kind === 'Secret' && query.apiVersion === 'v1' && query.namespace === undefined) {
      throw new ObjectFailure(query, 'Secrets of all namespaces cannot be looked up; name a namespace')
    }
    refuse(query, type, limit)
    try {
      const select = { limit: MOST_LISTED, ...readScope(query, type) }
      const page = await client.list<UnknownObject>(type, select, signal)
      if (page.continue) {
        throw new ObjectFailure(
          query,
          `${query.kind}: the cluster has more than ${MOST_LISTED} objects, the maximum for a lookup`,
        )
      }
      const found = withoutAgent(page.items)
      return { query, found, version: listVersion(found) }
    } catch (caught) {
      throw toObjectFailure(query, caught)
    }
  }

  return { find, list, ...createReadWatches(ports) }
}

/** The reads of an executor. */
export type Reads = ReturnType<typeof createReads>
