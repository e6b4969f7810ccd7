// Tested by src/agent/bundles/operation.contract.test.ts
/**
 * Every read and write of bundles in the cluster: as the bundle's executor, within the local limits and the limits of
 * the bundle's Project, with one field manager for each bundle. plan/apply/ownership.ts decides about objects and
 * fields of other managers.
 */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { isApiError, Waiting } from '../../core/errors.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { writeRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import { STEP_TIMING } from '../timing.ts'
import { AGENT_NAMESPACE } from './agent-objects.ts'
import { fieldManager } from './field-manager.ts'
import { objectAddress, objectIdOf } from './object-address.ts'
import { isImmutable, ObjectFailure, ProjectRefused, redactFailure, toObjectFailure } from './object-failure.ts'
import type { ObjectWatches } from './object-watches.ts'
import { createWriteMethods, withManagedLabel, withoutIgnoredFields } from './write-methods.ts'
import type { ObjectHolders, WriteRequest } from './write-methods.ts'

/** Ports of an applier. */
export interface ApplierPorts {
  readonly client: Client
  readonly discovery: Discovery
  readonly localLimits: LocalLimits
  /** Why the bundle's Project refuses a write as this executor; undefined when it allows the write. */
  readonly projectRefusal: (bundle: string, id: ObjectId) => string | undefined
  readonly neighbours: ObjectHolders
  readonly watches: ObjectWatches
}

/** Creates the applier of an executor. */
export function createApplier(ports: ApplierPorts) {
  const { client, discovery, localLimits, neighbours, watches } = ports
  const methods = createWriteMethods(client, neighbours)

  async function isServed(id: ObjectId, signal: AbortSignal): Promise<boolean> {
    return (await discovery.typeOf(id.apiVersion, id.kind, signal)) !== undefined
  }

  async function get(id: ObjectId, signal: AbortSignal): Promise<UnknownObject | undefined> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // The kind may come with the same set: without the kind there is no object either.
    if (!type) return undefined
    return client.get(type, objectAddress(type, id), signal).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw toObjectFailure(id, caught)
    })
  }

  /** Throws when the bundle's Project refuses the object, also an object that the bundle only observes. */
  async function check(bundle: string, id: ObjectId, signal: AbortSignal): Promise<void> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // The scope of a kind that the set brings is not known yet; the write checks it again.
    refuseByProject(ports, bundle, id, type ? objectAddress(type, id) : id)
  }

  /** Writes an object, or tries to with `dryRun`; resolves to the object that is in the cluster afterwards. */
  async function write(request: WriteRequest, signal: AbortSignal): Promise<UnknownObject> {
    const live = await writeByMethod(request, signal)
    if (request.dryRun !== true) await watches.note(live, signal)
    return live
  }

  async function writeByMethod(request: WriteRequest, signal: AbortSignal): Promise<UnknownObject> {
    const id = objectIdOf(request.object)
    const { ownership, options } = request
    if (ownership.kind === 'Refuse') throw new ObjectFailure(id, `${describeObject(id)}: ${ownership.why}`)
    const type = await servedType(discovery, id, signal)
    const address = writableAddress(localLimits, type, id)
    if (request.isRepair !== true) refuseByProject(ports, request.bundle, id, address)
    const object = withManagedLabel({ ...request.object, metadata: { ...request.object.metadata, ...address } })
    const live = async () => request.live ?? (await get(id, signal))
    try {
      if (ownership.kind === 'Adopt' && ownership.onlyIfSame)
        await methods.refuseDifferent(type, object, request, await live())
      if (options.method === 'CreateOnly') return (await live()) ?? (await methods.create(type, object, request))
      if (options.method === 'Replace') return await methods.replace(type, object, request, await live())
      const there = options.ignore.length > 0 ? await live() : undefined
      return await methods.apply(type, there ? withoutIgnoredFields(object, there, request) : object, request)
    } catch (caught) {
      if (options.immutable !== 'Recreate' || !isImmutable(caught))
        throw toObjectFailure(id, redactFailure(caught, object))
      const there = await get(id, signal)
      if (request.dryRun === true) return there ?? object
      return recreate(id, there, request, signal)
    }
  }

  /** Deletes the object; a later step creates it when it is gone. A restart in between changes nothing. */
  async function recreate(
    id: ObjectId,
    live: UnknownObject | undefined,
    { ownership }: WriteRequest,
    signal: AbortSignal,
  ): Promise<UnknownObject> {
    const name = describeObject(id)
    const isMadeByUs = ownership.kind === 'Ours' && !ownership.adopted
    if (!isMadeByUs) {
      throw new ObjectFailure(
        id,
        `${name}: an immutable field would change, and the bundle does not delete an object that it did not create`,
      )
    }
    if (live?.metadata.uid !== undefined && live.metadata.deletionTimestamp === undefined) {
      await remove(id, { uid: live.metadata.uid }, signal)
    }
    const message = `${name}: an immutable field changed; the object was deleted and is created again when it is gone`
    throw new Waiting('Recreating', message, STEP_TIMING.recreateMs)
  }

  /** Deletes the recorded object; an object that was created again under its name has another UID and stays. */
  async function remove(
    id: ObjectId,
    { uid, propagation = 'Background' }: { readonly uid: string; readonly propagation?: 'Background' | 'Foreground' },
    signal: AbortSignal,
  ): Promise<void> {
    const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
    // Without the kind there are no objects of it.
    if (!type) return
    await client
      .delete(type, writableAddress(localLimits, type, id), { uid, propagationPolicy: propagation })
      .catch((caught: unknown) => {
        if (!isApiError(caught, 'NotFound', 'Conflict')) throw toObjectFailure(id, caught)
      })
  }

  /** Removes the fields that only this bundle applied from an object that another bundle has as well. */
  async function letGo(
    record: ObjectId & { readonly uid?: string },
    bundle: string,
    signal: AbortSignal,
  ): Promise<void> {
    const live = await get(record, signal)
    const manager = fieldManager(bundle)
    const isApplied = live?.metadata.managedFields?.some(
      (entry) => entry.manager === manager && entry.operation === 'Apply',
    )
    if (!live || !isApplied || live.metadata.uid !== record.uid) return
    const type = await servedType(discovery, record, signal)
    const address = writableAddress(localLimits, type, record)
    const { apiVersion, kind } = live
    // Applying nothing but the identity gives up every field; the cluster keeps what another manager owns.
    const nothing = { apiVersion, kind, metadata: { ...address, uid: live.metadata.uid } } as UnknownObject
    await client.apply(type, nothing, { fieldManager: manager }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound', 'Conflict', 'Invalid')) throw toObjectFailure(record, caught)
    })
  }

  return { get, check, write, remove, letGo, isServed, watched: watches.find }
}

/** The applier of an executor. */
export type Applier = ReturnType<typeof createApplier>

async function servedType(discovery: Discovery, id: ObjectId, signal: AbortSignal): Promise<ResourceType> {
  const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
  if (type) return type
  throw new ObjectFailure(
    id,
    `the cluster has no kind ${id.kind} in ${id.apiVersion}; install its CustomResourceDefinition first`,
  )
}

/** Throws where no bundle may write, or the local limits forbid it. */
export function writableAddress(localLimits: LocalLimits, type: ResourceType, id: ObjectId) {
  const address = objectAddress(type, id)
  refuseOutside({ ...withoutNamespace(id), ...address }, localLimits)
  return address
}

/** Throws when the bundle's Project refuses a write of the object. */
export function refuseByProject(
  { projectRefusal }: Pick<ApplierPorts, 'projectRefusal'>,
  bundle: string,
  id: ObjectId,
  address: Address,
): void {
  const refusal = projectRefusal(bundle, { ...withoutNamespace(id), ...address })
  if (refusal !== undefined) throw new ProjectRefused(id, refusal)
}

type Address = Pick<ObjectId, 'namespace' | 'name'>

/** The API server drops the namespace of an object whose kind has none, so it must not count for limits. */
function withoutNamespace({ apiVersion, kind, name }: ObjectId): ObjectId {
  return { apiVersion, kind, name }
}

function refuseOutside(id: ObjectId, localLimits: LocalLimits): void {
  const own = id.namespace === AGENT_NAMESPACE || (id.kind === 'Namespace' && id.name === AGENT_NAMESPACE)
  if (own) throw new ObjectFailure(id, `namespace ${AGENT_NAMESPACE} belongs to the agent; no bundle may write there`)
  const refusal = writeRefusal(localLimits, id)
  if (refusal !== undefined) throw new ObjectFailure(id, refusal)
}
