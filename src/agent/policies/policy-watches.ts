// Tested by src/agent/policies/policies.contract.test.ts
/**
 * Watches of the objects that policies read: one for each kind and namespace, with only names and versions in memory.
 * A kind that is read in many namespaces has one watch for all of them.
 */
import type { Reader } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { WATCH_TIMING } from '../timing.ts'

/** A read of an evaluation: an object, or all objects of a kind if `name` is empty. */
export interface PolicyRead {
  readonly apiVersion: string
  readonly kind: string
  /** Empty for cluster-scoped kinds, and for lists over all namespaces. */
  readonly namespace: string
  readonly name: string
}

/** An object that changed. */
export type ChangedObject = PolicyRead

/** Ports of the watches. */
export interface PolicyWatchPorts {
  readonly client: Reader
  readonly discovery: Discovery
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly onChange: (changed: ChangedObject) => void
}

// From this number of namespaces on, one watch of all namespaces costs the API server less.
const MOST_NAMESPACES = 4

/** Creates the watches of an executor. */
export function createPolicyWatches(ports: PolicyWatchPorts) {
  const { client, discovery, clock, ids, log } = ports
  const watches = new Map<string, () => void>()
  const denied = new Map<string, number>()

  async function mayList(type: ResourceType, namespace: string, key: string, signal: AbortSignal): Promise<boolean> {
    if (clock.monotonicMs() < (denied.get(key) ?? 0)) return false
    try {
      await client.list(type, { limit: 1, ...(namespace !== '' && { namespace }) }, signal)
      return true
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden')) throw caught
      denied.set(key, clock.monotonicMs() + WATCH_TIMING.deniedAgainMs)
      return false
    }
  }

  function start(type: ResourceType, { apiVersion, kind, namespace }: PolicyRead, signal: AbortSignal): () => void {
    const stopping = new AbortController()
    const informer = createInformer<KubeObject>({
      client,
      type,
      clock,
      ids,
      log,
      select: namespace === '' ? {} : { namespace },
      watchSeconds: WATCH_TIMING.watchSeconds,
      keep: ({ metadata: { name, namespace: where, resourceVersion } }) => ({
        apiVersion,
        kind,
        metadata: { name, ...compact({ namespace: where, resourceVersion }) },
      }),
    })
    informer.onChange(({ before, after }) => {
      const { metadata } = (after ?? before)!
      ports.onChange({ apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name })
    })
    void informer.run(AbortSignal.any([signal, stopping.signal]))
    return () => stopping.abort()
  }

  return {
    /** Follows what these reads are about, and nothing else; false if the executor may not watch a part of it. */
    async follow(reads: Iterable<PolicyRead>, signal: AbortSignal): Promise<boolean> {
      const scopes = scopesOf(reads)
      for (const [key, stop] of watches) {
        if (scopes.has(key)) continue
        stop()
        watches.delete(key)
      }
      let isComplete = true
      for (const [key, scope] of scopes) {
        if (watches.has(key)) continue
        const type = await discovery.typeOf(scope.apiVersion, scope.kind, signal)
        // A kind that comes later is found by the interval of policies that cannot be watched.
        if (!type || !(await mayList(type, scope.namespace, key, signal))) isComplete = false
        else watches.set(key, start(type, scope, signal))
      }
      return isComplete
    },
    stop(): void {
      for (const stop of watches.values()) stop()
      watches.clear()
    },
  }
}

/** The watches of an executor. */
export type PolicyWatches = ReturnType<typeof createPolicyWatches>

function scopesOf(reads: Iterable<PolicyRead>): Map<string, PolicyRead> {
  const namespaces = new Map<string, Set<string>>()
  const kinds = new Map<string, PolicyRead>()
  for (const read of reads) {
    const kind = `${read.apiVersion} ${read.kind}`
    kinds.set(kind, read)
    namespaces.set(kind, (namespaces.get(kind) ?? new Set()).add(read.namespace))
  }
  const scopes = new Map<string, PolicyRead>()
  for (const [kind, { apiVersion, kind: name }] of kinds) {
    const all = namespaces.get(kind)!
    const wanted = all.has('') || all.size > MOST_NAMESPACES ? [''] : [...all]
    for (const namespace of wanted) scopes.set(`${kind} ${namespace}`, { apiVersion, kind: name, namespace, name: '' })
  }
  return scopes
}
