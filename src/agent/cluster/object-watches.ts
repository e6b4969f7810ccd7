// Tested by src/agent/bundles/operation.contract.test.ts
/**
 * Watches of the objects that bundles have in the cluster: one for each kind and executor, of labelled objects only.
 * The agent keeps only the shares and the health of an object, so that its memory grows with the managed objects and
 * not with the cluster.
 *
 * Where an executor may not list a kind in all namespaces, each namespace has its own watch. Where it may not list at
 * all, objects are read in turn.
 */
import type { Reader } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import type { Health } from '../../plan/health/object-health.ts'
import { ownedFieldsFingerprint } from '../../plan/objects/managed-fields.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { WATCH_TIMING } from '../timing.ts'

/** Label of every object that a bundle applied, so that exactly these objects are watched. */
export const MANAGED_LABEL = 'flotilla.dev/managed'

/** What the agent keeps of a watched object. */
export interface ObservedObject extends KubeObject {
  /** Fingerprints of owned fields, by field manager of a bundle. */
  readonly shares: Readonly<Record<string, string>>
  readonly health: Health
}

/** What a watch tells about an object without a request; `seen` is undefined when the object does not exist. */
export type WatchedObject =
  | { readonly watched: false }
  | { readonly watched: true; readonly seen: ObservedObject | undefined }

/** Ports of watches. */
export interface WatchPorts {
  readonly client: Reader
  readonly discovery: Discovery
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly isManager: (manager: string) => boolean
  /** An object changed; `isNews` when its health, its UID or a bundle's share changed. */
  readonly onChange: (key: string, isNews: boolean) => void
}

interface Watch {
  readonly informer: Informer<ObservedObject>
  readonly stop: () => void
  used: boolean
}

const SELECT = { labelSelector: `${MANAGED_LABEL}=true` }

/** Creates the watches of an executor. */
export function createObjectWatches(ports: WatchPorts) {
  const { client, discovery, clock, ids, log } = ports
  const watches = new Map<string, Watch>()
  const denied = new Map<string, number>()

  async function mayList(type: ResourceType, namespace: string | undefined, signal: AbortSignal): Promise<boolean> {
    const scope = scopeKey(type, namespace)
    const until = denied.get(scope)
    if (until !== undefined && clock.monotonicMs() < until) return false
    try {
      await client.list(type, { ...SELECT, limit: 1, ...compact({ namespace }) }, signal)
      denied.delete(scope)
      return true
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden')) throw caught
      denied.set(scope, clock.monotonicMs() + WATCH_TIMING.deniedAgainMs)
      return false
    }
  }

  function start(type: ResourceType, namespace: string | undefined, signal: AbortSignal): Watch {
    const stopping = new AbortController()
    const informer = createInformer<ObservedObject>({
      client,
      type: type as unknown as ResourceType<ObservedObject>,
      clock,
      ids,
      log,
      select: { ...SELECT, ...compact({ namespace }) },
      watchSeconds: WATCH_TIMING.watchSeconds,
      keep: (object) => shrink(object),
    })
    informer.onChange(({ before, after }) => {
      ports.onChange(objectKey(objectIdIn(type, (after ?? before)!)), !before || !after || isNews(before, after))
    })
    void informer.run(AbortSignal.any([signal, stopping.signal]))
    return { informer, stop: () => stopping.abort(), used: true }
  }

  async function findWatch(id: ObjectId, signal: AbortSignal): Promise<Watch | undefined> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    if (!type) return undefined
    const namespace = type.scope === 'Namespaced' ? (id.namespace ?? 'default') : undefined
    const known = watches.get(scopeKey(type, undefined)) ?? watches.get(scopeKey(type, namespace))
    if (known) return known
    for (const scope of namespace === undefined ? [undefined] : [undefined, namespace]) {
      if (!(await mayList(type, scope, signal))) continue
      const again = watches.get(scopeKey(type, scope))
      const watch = again ?? start(type, scope, signal)
      watches.set(scopeKey(type, scope), watch)
      return watch
    }
    return undefined
  }

  function shrink(object: KubeObject): ObservedObject {
    const { name, namespace, uid, resourceVersion } = object.metadata
    const managers = new Set(
      (object.metadata.managedFields ?? []).map((entry) => entry.manager).filter(ports.isManager),
    )
    return {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        name,
        ...compact({ namespace, uid, resourceVersion }),
      },
      shares: Object.fromEntries([...managers].map((manager) => [manager, ownedFieldsFingerprint(object, manager)])),
      health: healthOf(object as UnknownObject),
    }
  }

  return {
    /** What the watch of its kind tells about an object; waits for the first list. */
    async find(id: ObjectId, signal: AbortSignal): Promise<WatchedObject> {
      const watch = await findWatch(id, signal)
      if (!watch) return { watched: false }
      watch.used = true
      if (!watch.informer.synced()) await watch.informer.whenSynced(signal)
      const { type, lister } = watch.informer
      const address =
        type.scope === 'Namespaced' ? { namespace: id.namespace ?? 'default', name: id.name } : { name: id.name }
      return { watched: true, seen: lister.get(keyOf({ apiVersion: '', kind: '', metadata: address })) }
    },
    /** Adds the response of a write, before the watch reports it. */
    async note(object: UnknownObject, signal: AbortSignal): Promise<void> {
      const { apiVersion, kind, metadata } = object
      const watch = await findWatch({ apiVersion, kind, ...metadata }, signal)
      if (metadata.labels?.[MANAGED_LABEL] === 'true') watch?.informer.noteWrite(object as unknown as ObservedObject)
    },
    stop(): void {
      for (const watch of watches.values()) watch.stop()
      watches.clear()
    },
    /** Stops watches that no bundle used since the last sweep. */
    sweep(): void {
      for (const [scope, watch] of watches) {
        if (!watch.used) {
          watch.stop()
          watches.delete(scope)
        }
        watch.used = false
      }
    },
  }
}

/** The watches of an executor. */
export type ObjectWatches = ReturnType<typeof createObjectWatches>

function scopeKey(type: ResourceType, namespace: string | undefined): string {
  return `${type.group}/${type.version}/${type.plural}/${namespace ?? '*'}`
}

function objectIdIn(type: ResourceType, { metadata: { name, namespace } }: KubeObject): ObjectId {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  return { apiVersion, kind: type.kind, name, ...compact({ namespace }) }
}

function isNews(before: ObservedObject, after: ObservedObject): boolean {
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.health.state !== after.health.state ||
    before.health.message !== after.health.message ||
    JSON.stringify(before.shares) !== JSON.stringify(after.shares)
  )
}
