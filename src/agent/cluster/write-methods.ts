// Tested by src/agent/bundles/operation.contract.test.ts
/** How one object is written: server-side apply, create, replace, or delete and create again. */
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError, Waiting } from '../../core/errors.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { conflictsOf, decideConflict } from '../../plan/apply/ownership.ts'
import type { ContendingBundle, OwnershipDecision } from '../../plan/apply/ownership.ts'
import { describeDifference, differences } from '../../plan/objects/differences.ts'
import { withLiveIgnored, withoutIgnored } from '../../plan/objects/ignored-fields.ts'
import { withOwnershipTransferred } from '../../plan/objects/managed-fields.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectOptions } from '../../plan/objects/object-options.ts'
import { STEP_TIMING } from '../timing.ts'
import { fieldManager, isBundleManager } from './field-manager.ts'
import { objectAddress, objectIdOf } from './object-address.ts'
import { ObjectFailure } from './object-failure.ts'
import { MANAGED_LABEL } from './object-watches.ts'

/** An object to write, and how. */
export interface WriteRequest {
  readonly bundle: string
  readonly object: UnknownObject
  readonly options: ObjectOptions
  readonly ownership: OwnershipDecision
  /** The live object, where the method needs it; the applier reads it when it is absent. */
  readonly live?: UnknownObject | undefined
  readonly dryRun?: boolean
  /** The bundle has applied exactly this content before: the write repairs it, which the Project does not refuse. */
  readonly isRepair?: boolean
}

/** The bundles of this cluster, for conflicts between them. */
export interface ObjectHolders {
  /** The bundles of the document that may want an object, by the object's key. */
  holdersOf(key: string): Iterable<ContendingBundle>
}

/** Creates the write methods of an executor. */
export function createWriteMethods(client: Client, neighbours: ObjectHolders) {
  async function apply(type: ResourceType, object: UnknownObject, request: WriteRequest): Promise<UnknownObject> {
    const how = { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true }
    try {
      return await takeOwnership(type, object, request, await client.apply(type, object, how))
    } catch (caught) {
      if (!isApiError(caught, 'Conflict')) throw caught
      const conflicts = conflictsOf(caught)
      if (conflicts.length === 0) throw caught
      const decision = decideConflict({
        bundle: request.bundle,
        object: objectIdOf(object),
        conflicts,
        holderOf: (manager) => findHolder(manager, request),
        isFormerBundle: (manager) => isBundleManager(manager) && findHolder(manager, request) === undefined,
        mayTake: request.options.force || request.ownership.kind === 'Ours',
      })
      if (decision.kind === 'Refuse') throw new ObjectFailure(objectIdOf(object), decision.message, { cause: caught })
      if (decision.kind === 'Wait') throw new Waiting('Contested', decision.message, STEP_TIMING.contestedMs)
    }
    return takeOwnership(type, object, request, await client.apply(type, object, { ...how, force: true }))
  }

  /**
   * Moves fields that the bundle has just applied from former bundles, and from other managers where the bundle takes
   * fields, to the bundle's manager. Without this, a field that the bundle leaves out later would stay.
   */
  async function takeOwnership(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject,
  ): Promise<UnknownObject> {
    const { bundle, ownership, options, dryRun = false } = request
    const isFirst = ownership.kind === 'Adopt' || (ownership.kind === 'Ours' && ownership.adopted)
    const takes = isFirst && options.force && options.keepsManagers !== true
    const how = { fieldManager: fieldManager(bundle) }
    const taken = withOwnershipTransferred(live, how.fieldManager, (manager) =>
      isBundleManager(manager) ? findHolder(manager, request) === undefined : takes,
    )
    if (dryRun || !taken) return live
    const operations = [
      { op: 'replace', path: '/metadata/managedFields', value: taken.managedFields },
      { op: 'replace', path: '/metadata/resourceVersion', value: live.metadata.resourceVersion },
    ]
    const id = objectIdOf(object)
    const address = objectAddress(type, id)
    const changed = await client.patch(type, address, { type: 'json', operations }, how).catch((caught: unknown) => {
      if (!isApiError(caught, 'Conflict')) throw caught
      const message = `${describeObject(id)}: another client changed it at the same time; the agent tries again`
      throw new Waiting('Contested', message, STEP_TIMING.contestedMs)
    })
    return taken.isOwnMerged ? client.apply(type, object, { ...how, force: true }) : changed
  }

  async function create(type: ResourceType, object: UnknownObject, request: WriteRequest): Promise<UnknownObject> {
    return client.create(type, object, { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true })
  }

  /** Replaces the whole object; finalizers and owner references stay, which are not the bundle's to change. */
  async function replace(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject | undefined,
  ): Promise<UnknownObject> {
    if (!live) return create(type, object, request)
    const other = live.metadata.managedFields
      ?.map((entry) => findHolder(entry.manager, request))
      .find((holder) => holder !== undefined)
    if (other) {
      const message = `${describeObject(objectIdOf(object))}: bundle ${other.bundle} owns fields of this object, which method Replace of bundle ${request.bundle} would overwrite; use ServerSideApply in one of the two bundles`
      throw new ObjectFailure(objectIdOf(object), message)
    }
    const { resourceVersion, finalizers, ownerReferences } = live.metadata
    const kept = withManagedLabel(withLiveIgnored(object, live, request.options.ignore))
    const metadata = { ...kept.metadata, ...compact({ resourceVersion, finalizers, ownerReferences }) }
    const how = { fieldManager: fieldManager(request.bundle), dryRun: request.dryRun === true }
    return client.update(type, { ...kept, metadata }, how)
  }

  /** Throws when the object was there before the bundle and differs from what the bundle would apply. */
  async function refuseDifferent(
    type: ResourceType,
    object: UnknownObject,
    request: WriteRequest,
    live: UnknownObject | undefined,
  ): Promise<void> {
    if (!live) return
    const manager = fieldManager(request.bundle)
    const how = { fieldManager: manager, dryRun: true, force: true }
    const wanted = await client.apply(type, withoutIgnoredFields(object, live, request), how)
    const [first, ...more] = differences(live, wanted)
    if (!first) return
    const also = more.length > 0 ? ` and ${more.length} more` : ''
    throw new ObjectFailure(
      objectIdOf(object),
      `${describeObject(objectIdOf(object))}: the object existed before the bundle and differs in ${describeDifference(live, first, manager)}${also}; takeover is IfNoDiff`,
    )
  }

  function findHolder(manager: string, { bundle, object }: WriteRequest): ContendingBundle | undefined {
    if (!isBundleManager(manager)) return undefined
    for (const holder of neighbours.holdersOf(objectKey(objectIdOf(object)))) {
      if (holder.bundle !== bundle && fieldManager(holder.bundle) === manager) return holder
    }
    return undefined
  }

  return { apply, create, replace, refuseDifferent }
}

/** Only objects with this label are watched. */
export function withManagedLabel(object: UnknownObject): UnknownObject {
  const labels = { ...object.metadata.labels, [MANAGED_LABEL]: 'true' }
  return { ...object, metadata: { ...object.metadata, labels } }
}

/** The object without the fields that the bundle ignores, as it is applied over the live object. */
export function withoutIgnoredFields(
  object: UnknownObject,
  live: UnknownObject,
  { bundle, options }: WriteRequest,
): UnknownObject {
  return withManagedLabel(withoutIgnored(object, live, { rules: options.ignore, manager: fieldManager(bundle) }))
}
