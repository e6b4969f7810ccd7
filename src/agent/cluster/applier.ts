/**
 * Every read and write of bundles in the managed cluster: as the bundle's executor, under the cluster's ceiling, one field manager per bundle.
 * What to do about objects and fields of others is decided in plan/apply/ownership.ts; here it is done.
 */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { hex, sha256 } from '../../core/bytes.ts'
import { ApiError, isApiError, Waiting } from '../../core/errors.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { redactSecretValues, isSecret } from '../../kinds/redact-secret.ts'
import { writeRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { describeDifference, differences } from '../../plan/objects/differences.ts'
import { withLiveIgnored, withoutIgnored } from '../../plan/objects/ignored-fields.ts'
import { withOwnershipTransferred } from '../../plan/objects/managed-fields.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { ObjectOptions } from '../../plan/objects/object-options.ts'
import { conflictsOf, decideConflict } from '../../plan/apply/ownership.ts'
import type { ContendingBundle, OwnershipDecision } from '../../plan/apply/ownership.ts'
import { AGENT_NAMESPACE } from './cluster-state.ts'
import { MANAGED_LABEL } from './object-watches.ts'
import type { ObjectWatches } from './object-watches.ts'

/** An object that could not be written, with the cluster's own words. */
export class ObjectFailure extends Error {
  override readonly name = 'ObjectFailure'
  readonly object: ObjectId

  constructor(object: ObjectId, message: string, options?: ErrorOptions) {
    super(message, options)
    this.object = object
  }
}

const MANAGER_PREFIX = 'flotilla:'
// What Kubernetes allows for a field manager's name.
const MANAGER_MAX = 128

/** The field manager of a bundle: its name, or a digest where that would be too long. */
export function fieldManager(bundle: string): string {
  const plain = `${MANAGER_PREFIX}${bundle}`
  return plain.length <= MANAGER_MAX ? plain : `${MANAGER_PREFIX}${hex(sha256(bundle))}`
}

/** Whether a field manager is a bundle's. */
export function isBundleManager(manager: string): boolean {
  return manager.startsWith(MANAGER_PREFIX)
}

/** Which bundles there are on the cluster, for conflicts between them. */
export interface ObjectHolders {
  /** The bundles of the document that may want an object, by its key. */
  holdersOf(key: string): Iterable<ContendingBundle>
}

/** How to write one object. */
export interface WriteRequest {
  readonly bundle: string
  readonly object: UnknownObject
  readonly options: ObjectOptions
  readonly meeting: OwnershipDecision
  /** What is there, where the way of writing needs it; it is read when absent. */
  readonly live?: UnknownObject | undefined
  readonly dryRun?: boolean
}

/** What the writer of a cluster is made of. */
export interface ApplierPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly ceiling: LocalLimits
  readonly neighbours: ObjectHolders
  readonly watches: ObjectWatches
}

const RECREATE_MS = 1000
const CONTESTED_MS = 2000

/** Makes the writer of a cluster with one identity. */
export function createApplier({ client, discovery, ceiling, neighbours, watches }: ApplierPorts) {
  async function typeOf(id: ObjectId, signal: AbortSignal): Promise<ResourceType> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    if (type) return type
    throw new ObjectFailure(
      id,
      `the cluster has no kind ${id.kind} in ${id.apiVersion}; install its CustomResourceDefinition first`,
    )
  }

  async function isServed(id: ObjectId, signal: AbortSignal): Promise<boolean> {
    return (await discovery.typeOf(id.apiVersion, id.kind, signal)) !== undefined
  }

  async function get(id: ObjectId, signal: AbortSignal): Promise<UnknownObject | undefined> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // Its kind may come with the same set: as long as there is none, there is no object either.
    if (!type) return undefined
    return client.get(type, addressOf(type, id), signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw toObjectFailure(id, caught)
    })
  }

  /** Writes an object, or tries to; what is there afterwards. */
  async function write(request: WriteRequest, signal: AbortSignal): Promise<UnknownObject> {
    const live = await writeBy(request, signal)
    if (request.dryRun !== true) await watches.note(live, signal)
    return live
  }

  async function writeBy(request: WriteRequest, signal: AbortSignal): Promise<UnknownObject> {
    const id = idOf(request.object)
    const { meeting, options } = request
    if (meeting.kind === 'Refuse') throw new ObjectFailure(id, `${describeObject(id)}: ${meeting.why}`)
    const type = await typeOf(id, signal)
    const address = addressOf(type, id)
    refuseOutside({ ...id, ...address })
    const object = prepared(request.object, address)
    const live = async () => request.live ?? (await get(id, signal))
    try {
      if (meeting.kind === 'Adopt' && meeting.onlyIfSame) await refuseDifferent(type, object, request, await live())
      if (options.method === 'CreateOnly') return (await live()) ?? (await create(type, object, request))
      if (options.method === 'Replace') return await replace(type, object, request, await live())
      const there = options.ignore.length > 0 ? await live() : undefined
      return await apply(type, there ? sendable(object, there, request) : object, request)
    } catch (caught) {
      if (options.immutable !== 'Recreate' || !isImmutable(caught)) throw toObjectFailure(id, hushed(caught, object))
      const there = await get(id, signal)
      if (request.dryRun === true) return there ?? object
      return recreate(id, there, request, signal)
    }
  }

  async function apply(type: ResourceType, object: UnknownObject, request: WriteRequest): Promise<UnknownObject> {
    const how = { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true }
    try {
      return await alone(type, object, request, await client.apply(type, object, how))
    } catch (caught) {
      if (!isApiError(caught, 'Conflict')) throw caught
      const conflicts = conflictsOf(caught)
      if (conflicts.length === 0) throw caught
      const decision = decideConflict({
        bundle: request.bundle,
        object: idOf(object),
        conflicts,
        holderOf: (manager) => holderOf(manager, request),
        isFormerBundle: (manager) => manager.startsWith(MANAGER_PREFIX) && holderOf(manager, request) === undefined,
        mayTake: request.options.force || request.meeting.kind === 'Ours',
      })
      if (decision.kind === 'Refuse') throw new ObjectFailure(idOf(object), decision.message, { cause: caught })
      if (decision.kind === 'Wait') throw new Waiting('Contested', decision.message, CONTESTED_MS)
    }
    return alone(type, object, request, await client.apply(type, object, { ...how, force: true }))
  }

  /** What the bundle has just applied is no former bundle's any more and, where it takes fields, nobody's else; so that it can be left out later. */
  async function alone(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject,
  ): Promise<UnknownObject> {
    const { bundle, meeting, options, dryRun = false } = request
    const isFirst = meeting.kind === 'Adopt' || (meeting.kind === 'Ours' && meeting.adopted)
    const how = { fieldManager: fieldManager(bundle) }
    const taken = withOwnershipTransferred(live, how.fieldManager, (manager) =>
      isBundleManager(manager) ? holderOf(manager, request) === undefined : isFirst && options.force,
    )
    if (dryRun || !taken) return live
    const operations = [
      { op: 'replace', path: '/metadata/managedFields', value: taken.managedFields },
      { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    ]
    const address = addressOf(type, idOf(object))
    const changed = await client.patch(type, address, { type: 'json', operations }, how).catch((caught: unknown) => {
      if (!isApiError(caught, 'Conflict')) throw caught
      const name = describeObject(idOf(object))
      throw new Waiting('Contested', `${name}: somebody changes it at the same time`, CONTESTED_MS)
    })
    return taken.isOwnMerged ? client.apply(type, object, { ...how, force: true }) : changed
  }

  async function create(type: ResourceType, object: UnknownObject, request: WriteRequest): Promise<UnknownObject> {
    return client.create(type, object, { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true })
  }

  // The whole object becomes what the bundle says; who holds it back or owns it is not the bundle's business.
  async function replace(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject | undefined,
  ): Promise<UnknownObject> {
    if (!live) return create(type, object, request)
    const other = live.metadata.managedFields
      ?.map((entry) => holderOf(entry.manager, request))
      .find((holder) => holder !== undefined)
    if (other) {
      const message = `${describeObject(idOf(object))}: bundle ${other.bundle} has fields of it, which Replace by bundle ${request.bundle} would overwrite; use ServerSideApply in one of them`
      throw new ObjectFailure(idOf(object), message)
    }
    const { resourceVersion, finalizers, ownerReferences } = live.metadata
    const kept = marked(withLiveIgnored(object, live, request.options.ignore))
    const metadata = {
      ...kept.metadata,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(finalizers ? { finalizers } : {}),
      ...(ownerReferences ? { ownerReferences } : {}),
    }
    const how = { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true }
    return client.update(type, { ...kept, metadata }, how)
  }

  async function refuseDifferent(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject | undefined,
  ): Promise<void> {
    if (!live) return
    const manager = fieldManager(request.bundle)
    const wanted = await client.apply(type, sendable(object, live, request), {
      fieldManager: manager,
      dryRun: true,
      force: true,
    })
    const [first, ...more] = differences(live, wanted)
    if (!first) return
    const also = more.length > 0 ? ` and ${more.length} more` : ''
    throw new ObjectFailure(
      idOf(object),
      `${describeObject(idOf(object))}: it was there before the bundle and differs in ${describeDifference(live, first, manager)}${also}; takeover is IfNoDiff`,
    )
  }

  // Deleted first, made when it is gone: until then the bundle waits, and a restart finds it as it is.
  async function recreate(
    id: ObjectId,
    live: UnknownObject | undefined,
    request: WriteRequest,
    signal: AbortSignal,
  ): Promise<UnknownObject> {
    const name = describeObject(id)
    const ours = request.meeting.kind === 'Ours' && !request.meeting.adopted
    if (!ours) {
      throw new ObjectFailure(
        id,
        `${name}: a field cannot be changed, and what the bundle did not make it does not delete`,
      )
    }
    if (live?.metadata.uid !== undefined && live.metadata.deletionTimestamp === undefined) {
      await remove(id, { uid: live.metadata.uid }, signal)
    }
    throw new Waiting(
      'Recreating',
      `${name}: a field cannot be changed; deleted, waiting to make it again`,
      RECREATE_MS,
    )
  }

  /** Deletes the very object that was recorded; one recreated under its name has another UID and stays. */
  async function remove(
    id: ObjectId,
    { uid, propagation = 'Background' }: { readonly uid: string; readonly propagation?: 'Background' | 'Foreground' },
    signal: AbortSignal,
  ): Promise<void> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // The kind is gone, and its objects with it.
    if (!type) return
    const address = addressOf(type, id)
    refuseOutside({ ...id, ...address })
    await client.delete(type, address, { uid, propagationPolicy: propagation }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound', 'Conflict')) throw toObjectFailure(id, caught)
    })
  }

  /** Takes what only this bundle said out of an object that another one has as well; what that needs to be whole stays. */
  async function letGo(
    record: ObjectId & { readonly uid?: string },
    bundle: string,
    signal: AbortSignal,
  ): Promise<void> {
    const live = await get(record, signal)
    const manager = fieldManager(bundle)
    const isApplied = live?.metadata.managedFields?.some((one) => one.manager === manager && one.operation === 'Apply')
    if (!live || !isApplied || live.metadata.uid !== record.uid) return
    const type = await typeOf(record, signal)
    const address = addressOf(type, record)
    refuseOutside({ ...record, ...address })
    const { apiVersion, kind } = live
    const nothing = { apiVersion, kind, metadata: { ...address, uid: live.metadata.uid } } as UnknownObject
    await client.apply(type, nothing, { fieldManager: manager }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound', 'Conflict', 'Invalid')) throw toObjectFailure(record, caught)
    })
  }

  function refuseOutside(id: ObjectId): void {
    const own = id.namespace === AGENT_NAMESPACE || (id.kind === 'Namespace' && id.name === AGENT_NAMESPACE)
    if (own) throw new ObjectFailure(id, `namespace ${AGENT_NAMESPACE} belongs to the agent; no bundle may write there`)
    const refusal = writeRefusal(ceiling, id)
    if (refusal !== undefined) throw new ObjectFailure(id, refusal)
  }

  function holderOf(manager: string, { bundle, object }: WriteRequest): ContendingBundle | undefined {
    if (!manager.startsWith(MANAGER_PREFIX)) return undefined
    for (const holder of neighbours.holdersOf(objectKey(idOf(object)))) {
      if (holder.bundle !== bundle && fieldManager(holder.bundle) === manager) return holder
    }
    return undefined
  }

  return { get, write, remove, letGo, isServed, sight: watches.sight }
}

/** The writer of a cluster. */
export type Applier = ReturnType<typeof createApplier>

/** Whether a bundle has ever applied this live object. */
export function isAppliedBy(live: UnknownObject, bundle: string): boolean {
  const manager = fieldManager(bundle)
  return live.metadata.managedFields?.some((entry) => entry.manager === manager) ?? false
}

/** The id of an object. */
export function idOf({ apiVersion, kind, metadata }: UnknownObject): ObjectId {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}

/** How an object is addressed; what has a namespace and names none is in `default`. */
export function addressOf(type: ResourceType, { namespace = 'default', name }: ObjectId) {
  return type.scope === 'Namespaced' ? { namespace, name } : { name }
}

function prepared(
  object: UnknownObject,
  address: { readonly name: string; readonly namespace?: string },
): UnknownObject {
  return marked({ ...object, metadata: { ...object.metadata, ...address } })
}

// What is not labelled is not watched.
function marked(object: UnknownObject): UnknownObject {
  const labels = { ...object.metadata.labels, [MANAGED_LABEL]: 'true' }
  return { ...object, metadata: { ...object.metadata, labels } }
}

/** What is applied over what is there. */
function sendable(object: UnknownObject, live: UnknownObject, { bundle, options }: WriteRequest): UnknownObject {
  return marked(withoutIgnored(object, live, { rules: options.ignore, manager: fieldManager(bundle) }))
}

const IMMUTABLE_WORDS =
  /immutable|may not be changed|cannot be changed|updates to .* are forbidden|Forbidden: updates to/i

function isImmutable(caught: unknown): boolean {
  if (!isApiError(caught, 'Invalid')) return false
  return [caught.message, ...(caught.details.causes ?? []).map((cause) => cause.message)].some((text) =>
    IMMUTABLE_WORDS.test(text),
  )
}

// The API's sentence: User "x" cannot patch resource "configmaps" in API group "" in the namespace "shop"
const DENIED =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)" in API group "(?<group>[^"]*)"(?: in the namespace "(?<namespace>[^"]*)")?/

/** A denied call as one sentence with verb, resource and subject; undefined for other refusals. */
export function describeDenied(message: string): string | undefined {
  const found = DENIED.exec(message)?.groups
  if (!found) return undefined
  const resource = found['group'] ? `${found['resource']}.${found['group']}` : found['resource']
  const where = found['namespace'] ? ` in namespace ${found['namespace']}` : ''
  return `denied: ${found['user']} may not ${found['verb']} ${resource}${where}`
}

// What the cluster says about a Secret goes into rows, reports and logs.
function hushed(caught: unknown, object: UnknownObject): unknown {
  if (!(caught instanceof ApiError) || !isSecret(object)) return caught
  const { causes: _causes, ...details } = caught.details
  return new ApiError(caught.reason, redactSecretValues(caught.message, object), details)
}

/** What the cluster refused, as the object's failure; other errors stay what they are. */
export function toObjectFailure(id: ObjectId, caught: unknown): unknown {
  if (!(caught instanceof ApiError)) return caught
  // The cluster is overloaded or away: the object is not at fault.
  if (['ServiceUnavailable', 'TooManyRequests', 'Timeout', 'InternalError'].includes(caught.reason)) return caught
  const words = caught.reason === 'Forbidden' ? (describeDenied(caught.message) ?? caught.message) : caught.message
  return new ObjectFailure(id, `${describeObject(id)}: ${words}`, { cause: caught })
}
