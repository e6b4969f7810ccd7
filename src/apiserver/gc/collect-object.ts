import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import { jsonClone } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ObjectKey, OwnerReference, UnknownObject } from '../../kinds/meta.ts'
import { trackUpdate } from '../apply/field-manager.ts'
import { isFullyDeleted } from '../verbs/commit-change.ts'
import { auditLine } from '../server/context.ts'
import type { RequestContext, ServerParts } from '../server/context.ts'
import { readObject, parseStoreEntry, storeKey, serializeObject } from '../storage/stored-object.ts'
import { deleteObject } from '../verbs/delete.ts'
import { FOREGROUND, ORPHAN, isWaitingForDependents } from './finalizers.ts'
import type { OwnerGraph } from './owner-graph.ts'
import { versionConverter } from '../storage/converting-store.ts'

/** Garbage collection of an object: it is deleted with its last owner, or released when its dependents are gone. */

const SELF: Caller = { user: 'system:serviceaccount:kube-system:generic-garbage-collector', groups: ['system:masters'] }
const MANAGER = 'kube-controller-manager'

/** What the collector works with. */
export interface CollectorContext {
  readonly parts: ServerParts
  readonly graph: OwnerGraph
  readonly signal: AbortSignal
  /** Resolves when the graph contains all changes up to a revision. */
  seen(revision: number): Promise<void>
}

/** Reads the object under a key and takes the next step of its collection. */
export async function collectObject(collecting: CollectorContext, key: string): Promise<void> {
  const { parts, graph } = collecting
  const entry = await parts.store.get(key)
  if (!entry) return
  const { object } = parseStoreEntry(entry)
  const kind = kindOfObject(parts, object)
  if (!kind) return
  if (isWaitingForDependents(object, ORPHAN)) {
    await collecting.seen(parts.store.revision())
    await orphanDependents(collecting, key, object)
  } else if (isWaitingForDependents(object, FOREGROUND)) {
    await collecting.seen(parts.store.revision())
    // Each dependent is looked at by itself; the last blocker that goes brings us here again.
    if (graph.blockersOf(object.metadata.uid!).length === 0) await change(collecting, key, without(FOREGROUND))
  } else if (!object.metadata.deletionTimestamp && object.metadata.ownerReferences?.length) {
    await followOwners(collecting, key, { object, kind })
  }
}

async function followOwners(
  collecting: CollectorContext,
  key: string,
  { object, kind }: { readonly object: UnknownObject; readonly kind: Kind },
): Promise<void> {
  const lost: OwnerReference[] = []
  const leaving: OwnerReference[] = []
  for (const owner of object.metadata.ownerReferences!) {
    const state = await stateOf(collecting.parts, object, owner)
    if (state === 'present') continue
    ;(state === 'absent' ? lost : leaving).push(owner)
  }
  const gone = new Set([...lost, ...leaving].map(({ uid }) => uid))
  if (gone.size === 0) return
  if (object.metadata.ownerReferences!.some(({ uid }) => !gone.has(uid))) {
    await change(collecting, key, ({ metadata }) => {
      metadata.ownerReferences = metadata.ownerReferences?.filter(({ uid }) => !gone.has(uid)) ?? []
    })
    return
  }
  const dependents = collecting.graph.dependentsOf(object.metadata.uid!)
  const isForeground = leaving.length > 0 && dependents.length > 0
  // In a cycle of owners, all objects would wait for each other: the dependents in it stop blocking.
  if (isForeground && (await someWaiting(collecting, dependents))) {
    await change(collecting, key, ({ metadata }) => {
      for (const owner of metadata.ownerReferences ?? []) owner.blockOwnerDeletion = false
    })
  }
  const { uid, finalizers } = object.metadata
  const policy = finalizers?.includes(ORPHAN)
    ? 'Orphan'
    : isForeground || finalizers?.includes(FOREGROUND)
      ? 'Foreground'
      : 'Background'
  try {
    await deleteObject(
      contextFor(collecting, kind, object),
      object.metadata,
      compact({
        dryRun: false,
        propagationPolicy: policy,
        uid,
      }),
    )
  } catch (error) {
    if (!isApiError(error, 'NotFound', 'Conflict')) throw error
  }
}

/** Store keys of an object's owners, as far as their kinds are served. */
export function ownerKeysOf(parts: ServerParts, object: UnknownObject): string[] {
  return (object.metadata.ownerReferences ?? []).flatMap((owner) => {
    const kind = kindOfObject(parts, owner)
    return kind ? [storeKey(kind, placeOf(kind, object, owner))] : []
  })
}

/** Where an owner is looked for: in the namespace of its dependent, or nowhere else. */
function placeOf(kind: Kind, { metadata }: UnknownObject, { name }: OwnerReference): ObjectKey {
  return kind.scope === 'Namespaced' && metadata.namespace ? { name, namespace: metadata.namespace } : { name }
}

type OwnerState = 'present' | 'absent' | 'leaving'

async function stateOf(parts: ServerParts, object: UnknownObject, owner: OwnerReference): Promise<OwnerState> {
  const kind = kindOfObject(parts, owner)
  // What cannot be looked up is not known to be gone: absence is never guessed.
  if (!kind || (kind.scope === 'Namespaced' && !object.metadata.namespace)) return 'present'
  const found = await readObject(parts.store, kind, placeOf(kind, object, owner))
  if (found?.object.metadata.uid !== owner.uid) return 'absent'
  return isWaitingForDependents(found.object, FOREGROUND) ? 'leaving' : 'present'
}

async function someWaiting({ parts }: CollectorContext, keys: readonly string[]): Promise<boolean> {
  for (const key of keys) {
    const entry = await parts.store.get(key)
    if (entry && isWaitingForDependents(parseStoreEntry(entry).object, FOREGROUND)) return true
  }
  return false
}

async function orphanDependents(collecting: CollectorContext, key: string, owner: UnknownObject): Promise<void> {
  const { uid } = owner.metadata
  for (const dependent of collecting.graph.dependentsOf(uid!)) {
    await change(collecting, dependent, ({ metadata }) => {
      metadata.ownerReferences = metadata.ownerReferences?.filter((reference) => reference.uid !== uid) ?? []
    })
  }
  await change(collecting, key, without(ORPHAN))
}

function without(finalizer: string): (object: UnknownObject) => void {
  return ({ metadata }) => {
    metadata.finalizers = metadata.finalizers?.filter((present) => present !== finalizer) ?? []
  }
}

/** Changes metadata of an object without validating the rest. An object that lost its last finalizer is deleted. */
async function change(collecting: CollectorContext, key: string, edit: (object: UnknownObject) => void): Promise<void> {
  const { parts } = collecting
  for (;;) {
    const entry = await parts.store.get(key)
    if (!entry) return
    const { object } = parseStoreEntry(entry)
    const kind = kindOfObject(parts, object)
    if (!kind) return
    const next = jsonClone(object)
    edit(next)
    const { metadata } = next
    if (metadata.finalizers?.length === 0) delete metadata.finalizers
    if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences
    const versions = versionConverter(parts.registry, kind)
    trackUpdate({ kind, versions, live: object, next, manager: MANAGER, now: parts.clock.now() })
    const result = await parts.store.commit({
      key,
      expect: entry.modRevision,
      value: isFullyDeleted({ kind }, next) ? undefined : serializeObject(next),
      audit: auditLine(contextFor(collecting, kind, next), next, 'patch'),
    })
    if (result.ok) return
  }
}

/** The served kind of a reference with apiVersion and kind, in any served version. */
function kindOfObject({ registry }: ServerParts, what: { readonly apiVersion: string; readonly kind: string }) {
  const slash = what.apiVersion.indexOf('/')
  const group = slash < 0 ? '' : what.apiVersion.slice(0, slash)
  return registry.all().find((kind) => kind.group === group && kind.kind === what.kind)
}

function contextFor({ parts, signal }: CollectorContext, kind: Kind, { metadata }: UnknownObject): RequestContext {
  const { group, version, plural } = kind
  const { name, namespace } = metadata
  return {
    parts,
    kind,
    signal,
    endsWith: [],
    caller: SELF,
    http: { method: 'DELETE', path: '', headers: {} },
    query: new URLSearchParams(),
    request: compact({ verb: 'delete', group, version, plural, name, namespace: namespace || undefined }),
    accept: { mediaType: 'application/json', pretty: false },
  }
}
