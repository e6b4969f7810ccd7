/** Writes to the managed cluster: server-side apply as one manager per bundle, deletes with the recorded UID, and the agent's own ceiling before both. */
import type { Client } from '../client/client.ts'
import type { Discovery } from '../client/discovery.ts'
import { hex, sha256 } from '../core/bytes.ts'
import { ApiError, isApiError } from '../core/errors.ts'
import type { ResourceType, UnknownObject } from '../kinds/meta.ts'
import { AGENT_NAMESPACE } from './cluster-state.ts'
import { describeObject } from './object-id.ts'
import type { ObjectId } from './object-id.ts'

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

/** How to write one object. */
export interface ApplyRequest {
  readonly bundle: string
  readonly object: UnknownObject
  /** Take fields over from people and controllers; never from another bundle. */
  readonly takeOver: boolean
}

/** Makes the writer of a cluster. */
export function createApplier(client: Client, discovery: Discovery) {
  async function typeOf(id: ObjectId, signal: AbortSignal): Promise<ResourceType> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    if (!type) {
      throw new ObjectFailure(
        id,
        `the cluster has no kind ${id.kind} in ${id.apiVersion}; install its CustomResourceDefinition first`,
      )
    }
    return type
  }

  function keyOf(type: ResourceType, { namespace = 'default', name }: ObjectId) {
    return type.scope === 'Namespaced' ? { namespace, name } : { name }
  }

  async function get(id: ObjectId, signal: AbortSignal): Promise<UnknownObject | undefined> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // Its kind may come with the same set: as long as there is none, there is no object either.
    if (!type) return undefined
    return client.get(type, keyOf(type, id), signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw failure(id, caught)
    })
  }

  async function apply(request: ApplyRequest, signal: AbortSignal): Promise<UnknownObject> {
    const id = idOf(request.object)
    refuseOwn(id)
    const type = await typeOf(id, signal)
    const object = { ...request.object, metadata: { ...request.object.metadata, ...keyOf(type, id) } }
    const options = { fieldManager: fieldManager(request.bundle) }
    try {
      return await client.apply(type, object, options)
    } catch (caught) {
      const conflict = isApiError(caught, 'Conflict')
      // Two bundles that claim one field are a mistake to be shown, not a race to be won.
      if (!conflict || !request.takeOver || namesBundle(caught)) throw failure(id, caught)
    }
    return client.apply(type, object, { ...options, force: true }).catch((caught: unknown) => {
      throw failure(id, caught)
    })
  }

  /** Deletes the very object that was recorded; one recreated under its name has another UID and stays. */
  async function remove(id: ObjectId, uid: string, signal: AbortSignal): Promise<void> {
    refuseOwn(id)
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // The kind is gone, and its objects with it.
    if (!type) return
    await client.delete(type, keyOf(type, id), { uid, propagationPolicy: 'Background' }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound', 'Conflict')) throw failure(id, caught)
    })
  }

  return { get, apply, remove }
}

/** The writer of a cluster. */
export type Applier = ReturnType<typeof createApplier>

/** Whether a bundle has ever applied this live object. */
export function isAppliedBy(live: UnknownObject, bundle: string): boolean {
  const manager = fieldManager(bundle)
  return live.metadata.managedFields?.some((entry) => entry.manager === manager && entry.operation === 'Apply') ?? false
}

/** The id of an object. */
export function idOf({ apiVersion, kind, metadata }: UnknownObject): ObjectId {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
}

function refuseOwn(id: ObjectId): void {
  const own = id.namespace === AGENT_NAMESPACE || (id.kind === 'Namespace' && id.name === AGENT_NAMESPACE)
  if (own) throw new ObjectFailure(id, `namespace ${AGENT_NAMESPACE} belongs to the agent; no bundle may write there`)
}

function namesBundle(error: ApiError): boolean {
  const words = [error.message, ...(error.details.causes ?? []).map((cause) => cause.message)]
  return words.some((text) => text.includes(`"${MANAGER_PREFIX}`))
}

function failure(id: ObjectId, caught: unknown): unknown {
  if (!(caught instanceof ApiError)) return caught
  // The cluster is overloaded or away: the object is not at fault.
  if (['ServiceUnavailable', 'TooManyRequests', 'Timeout', 'InternalError'].includes(caught.reason)) return caught
  return new ObjectFailure(id, `${describeObject(id)}: ${caught.message}`, { cause: caught })
}
