/**
 * What bundles have in the cluster, followed by watches: one per kind and executor, of labelled objects only. Of each object only what is asked for
 * later is kept (its shares and its health), so memory follows what is managed, not what the cluster holds.
 *
 * An executor that may not list a kind everywhere is asked namespace by namespace; where it may not list at all, objects are read one by one.
 */
import type { Reader } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
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

/** On every object that bundles have, so that exactly these can be watched. */
export const MANAGED_LABEL = 'flotilla.dev/managed'

/** What is kept of an object. */
export interface ObservedObject extends KubeObject {
  /** By field manager of a bundle. */
  readonly shares: Readonly<Record<string, string>>
  readonly health: Health
}

/** What is known of an object without asking: it is not watched, or it is, and then whether it is there. */
export type WatchedObject =
  | { readonly watched: false }
  | { readonly watched: true; readonly seen: ObservedObject | undefined }

/** What watches are made of. */
export interface WatchPorts {
  readonly client: Reader
  readonly discovery: Discovery
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly isManager: (manager: string) => boolean
  /** An object changed; whether its health, its identity or a bundle's share of it did. */
  readonly onChange: (key: string, isNews: boolean) => void
}

interface Watch {
  readonly informer: Informer<ObservedObject>
  readonly stop: () => void
  used: boolean
}

const SELECT = { labelSelector: `${MANAGED_LABEL}=true` }
// Renewing costs a request; the server sends a bookmark now and then, so that it stays cheap.
const WATCH_SECONDS = 1500
const DENIED_AGAIN_MS = 10 * 60_000

/** Makes the watches of one executor. */
export function createObjectWatches(ports: WatchPorts) {
  const { client, discovery, clock, ids, log } = ports
  const watches = new Map<string, Watch>()
  const denied = new Map<string, number>()

  async function mayList(type: ResourceType, namespace: string | undefined, signal: AbortSignal): Promise<boolean> {
    const scope = scopeOf(type, namespace)
    const until = denied.get(scope)
    if (until !== undefined && clock.monotonicMs() < until) return false
    try {
      await client.list(type, { ...SELECT, limit: 1, ...(namespace === undefined ? {} : { namespace }) }, signal)
      denied.delete(scope)
      return true
    } catch (caught) {
      if (!isApiError(caught, 'Forbidden')) throw caught
      denied.set(scope, clock.monotonicMs() + DENIED_AGAIN_MS)
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
      select: { ...SELECT, ...(namespace === undefined ? {} : { namespace }) },
      watchSeconds: WATCH_SECONDS,
      keep: (object) => shrink(object),
    })
    informer.onChange(({ before, after }) => {
      ports.onChange(objectKey(idOf(type, (after ?? before)!)), !before || !after || isNews(before, after))
    })
    void informer.run(AbortSignal.any([signal, stopping.signal]))
    return { informer, stop: () => stopping.abort(), used: true }
  }

  async function watchOf(id: ObjectId, signal: AbortSignal): Promise<Watch | undefined> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    if (!type) return undefined
    const namespace = type.scope === 'Namespaced' ? (id.namespace ?? 'default') : undefined
    const known = watches.get(scopeOf(type, undefined)) ?? watches.get(scopeOf(type, namespace))
    if (known) return known
    for (const scope of namespace === undefined ? [undefined] : [undefined, namespace]) {
      if (!(await mayList(type, scope, signal))) continue
      const again = watches.get(scopeOf(type, scope))
      const watch = again ?? start(type, scope, signal)
      watches.set(scopeOf(type, scope), watch)
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
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      shares: Object.fromEntries([...managers].map((manager) => [manager, ownedFieldsFingerprint(object, manager)])),
      health: healthOf(object as UnknownObject),
    }
  }

  return {
    /** What is known of an object; waits for the first list of its kind. */
    async sight(id: ObjectId, signal: AbortSignal): Promise<WatchedObject> {
      const watch = await watchOf(id, signal)
      if (!watch) return { watched: false }
      watch.used = true
      if (!watch.informer.synced()) await watch.informer.whenSynced(signal)
      const { type, lister } = watch.informer
      const address =
        type.scope === 'Namespaced' ? { namespace: id.namespace ?? 'default', name: id.name } : { name: id.name }
      return { watched: true, seen: lister.get(keyOf({ apiVersion: '', kind: '', metadata: address })) }
    },
    /** What a write answered is known at once. */
    async note(object: UnknownObject, signal: AbortSignal): Promise<void> {
      const { apiVersion, kind, metadata } = object
      const watch = await watchOf({ apiVersion, kind, ...metadata }, signal)
      if (metadata.labels?.[MANAGED_LABEL] === 'true') watch?.informer.noteWrite(object as unknown as ObservedObject)
    },
    /** Ends all of them. */
    stop(): void {
      for (const watch of watches.values()) watch.stop()
      watches.clear()
    },
    /** Ends watches that nobody asked since the last sweep. */
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

/** The watches of one executor. */
export type ObjectWatches = ReturnType<typeof createObjectWatches>

function scopeOf(type: ResourceType, namespace: string | undefined): string {
  return `${type.group}/${type.version}/${type.plural}/${namespace ?? '*'}`
}

function idOf(type: ResourceType, { metadata: { name, namespace } }: KubeObject): ObjectId {
  const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`
  return { apiVersion, kind: type.kind, name, ...(namespace === undefined ? {} : { namespace }) }
}

function isNews(before: ObservedObject, after: ObservedObject): boolean {
  return (
    before.metadata.uid !== after.metadata.uid ||
    before.health.state !== after.health.state ||
    before.health.message !== after.health.message ||
    JSON.stringify(before.shares) !== JSON.stringify(after.shares)
  )
}
