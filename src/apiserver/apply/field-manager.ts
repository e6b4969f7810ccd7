import { compact } from '../../core/compact.ts'
import { ApiError, toError } from '../../core/errors.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { defaultObject } from '../../kinds/validation/validate-object.ts'
import { badRequest } from '../http/api-errors.ts'
import { metadataOfStatus } from '../server/registry.ts'
import { ListProblem, rootType } from './atoms.ts'
import { compare } from './compare.ts'
import { emptyObject } from './empty-object.ts'
import { FieldSet, pathText } from './field-set.ts'
import { capUpdaters, decodeManaged, encodeManaged, managerId, managerInfo, NOTHING_MANAGED } from './managed-fields.ts'
import type { ManagedOwners } from './managed-fields.ts'
import { toFieldSet, withAtomicOwners } from './to-field-set.ts'
import { applyConfig, updateOwners } from './updater.ts'
import type { FieldConflict, Managers, Operation, Version } from './updater.ts'

/**
 * Field ownership of a Kubernetes API: every write is recorded in metadata.managedFields, and an apply is merged by
 * what its manager owned before. The order of steps is that of Kubernetes' field manager.
 */

/** Fields without an owner: the server sets them, or they are the object's address. */
const NEVER_OWNED = FieldSet.of(
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...(
    [
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ] as const
  ).map((field) => ['f:metadata', `f:${field}`] as const),
)

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const CURRENT = 'current-operation'

/** Converts to the versions of a kind in which managers may have recorded fields. */
export interface Versions {
  /** The kind in another version, and how its objects get there; undefined when it is not served. */
  (apiVersion: string): { readonly kind: Kind; convert(object: UnknownObject): UnknownObject } | undefined
}

/** A write that is not an apply. */
export interface TrackedUpdate {
  /** If omitted, the kind has a single version. */
  readonly versions?: Versions | undefined
  readonly kind: Kind
  /** What was stored; undefined for a new object. */
  readonly live: UnknownObject | undefined
  /** What will be stored; its managedFields are set here. */
  readonly next: UnknownObject
  readonly manager: string
  readonly subresource?: string | undefined
  readonly now: number
}

/** Records a create, update or patch. */
export function trackUpdate(update: TrackedUpdate): void {
  const { kind, live, next, subresource } = update
  const given = next.metadata.managedFields
  const before = live?.metadata.managedFields
  const managed = inSchemaOf(kind, decodeLiveOrNew(before, given, subresource !== undefined))
  delete next.metadata.managedFields
  // An object that was never tracked (its managers were reset) stays untracked until the first apply.
  if (live && managed.owners.size === 0) return
  try {
    const tracked = capUpdaters(trackBy(update, live ?? emptyObject(kind), managed))
    if (tracked.owners.size > 0) next.metadata.managedFields = encodeManaged(tracked, apiVersionOf(kind))
  } catch (error) {
    // A list whose items cannot be told apart is for validation to refuse; ownership is not known then.
    if (!(error instanceof ListProblem)) throw error
  }
}

function decodeLiveOrNew(
  live: UnknownObject['metadata']['managedFields'],
  given: UnknownObject['metadata']['managedFields'],
  ignoreGiven: boolean,
): ManagedOwners {
  const fromLive = () => decodeManaged(live) ?? NOTHING_MANAGED
  if (ignoreGiven) return fromLive()
  const isReset =
    given !== undefined && (given.length === 0 || (given.length === 1 && Object.keys(given[0]!).length === 0))
  if (isReset) return NOTHING_MANAGED
  // Clients that do not know managedFields must not delete them by accident.
  const decoded = decodeManaged(given)
  return decoded && decoded.owners.size > 0 ? decoded : fromLive()
}

/** Owners that were recorded before a list or map of the kind became atomic, as the present schema names them. */
function inSchemaOf(kind: Kind, managed: ManagedOwners): ManagedOwners {
  const own = apiVersionOf(kind)
  const type = rootType(kind.schema)
  const owners = new Map(
    Array.from(managed.owners, ([id, set]) => [
      id,
      (managed.versions.get(id) ?? own) === own ? withAtomicOwners(set, type) : set,
    ]),
  )
  return { ...managed, owners }
}

function trackBy(update: Omit<TrackedUpdate, 'live'>, live: UnknownObject, managed: ManagedOwners): ManagedOwners {
  const { kind, next, manager, subresource, now } = update
  const operation = operationOf(update, managed, CURRENT)
  const owners = stripped(updateOwners(operation, withoutManaged(live), next), CURRENT)
  const taken = owners.get(CURRENT)
  if (!taken) return { ...managed, owners }
  owners.delete(CURRENT)
  const id = managerId({ manager, operation: 'Update', apiVersion: apiVersionOf(kind), subresource })
  const previous = owners.get(id)
  owners.set(id, previous ? taken.union(previous) : taken)
  return { ...managed, owners, times: new Map(managed.times).set(id, now) }
}

/** An apply of a configuration. */
export interface Apply {
  /** If omitted, the kind has a single version. */
  readonly versions?: Versions | undefined
  readonly kind: Kind
  /** What is stored; undefined when the apply creates. */
  readonly live: UnknownObject | undefined
  readonly config: UnknownObject
  readonly manager: string
  readonly force: boolean
  readonly subresource?: string | undefined
  readonly now: number
}

/** The object after an apply, with its managedFields and defaults; 409 with one cause per contested field. */
export function applyObject(apply: Apply): UnknownObject {
  const { kind, live, config, manager, subresource } = apply
  if (config.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil')
  const base = live ?? emptyObject(kind)
  const decoded = decodeManaged(base.metadata?.managedFields)
  if (!decoded) throw new ApiError('InternalError', 'failed to decode managed fields of the stored object')
  let managed = inSchemaOf(kind, decoded)
  try {
    if (managed.owners.size === 0) {
      // Fields from before the first apply get an owner, so that conflicts with them are detected.
      managed = trackBy(
        { ...apply, next: withoutManaged(base), manager: 'before-first-apply' },
        emptyObject(kind),
        managed,
      )
    }
    const id = managerId({ manager, operation: 'Apply', apiVersion: apiVersionOf(kind), subresource })
    const operation = operationOf(apply, managed, id)
    const plainBase = withoutManaged(base)
    let result = applyConfig(operation, plainBase, config, apply.force)
    if (result.conflicts && manager === 'kubectl') {
      const contested = withoutLastApplied(apply, result.conflicts)
      result = contested.length > 0 ? { conflicts: contested } : applyConfig(operation, plainBase, config, true)
    }
    if (result.conflicts) throw conflictError(result.conflicts)
    const object = jsonClone((result.object ?? plainBase) as UnknownObject)
    const times = result.object === undefined ? managed.times : new Map(managed.times).set(id, apply.now)
    if (result.object !== undefined) defaultObject(kind, object)
    const versions = new Map(managed.versions).set(id, apiVersionOf(kind))
    const owners = stripped(result.managers, id)
    object.metadata.managedFields = encodeManaged({ owners, times, versions }, apiVersionOf(kind))
    if (manager === 'kubectl') renewLastApplied(object, config)
    return object
  } catch (error) {
    if (error instanceof ListProblem) throw badRequest(`failed to create typed patch object: ${toError(error).message}`)
    throw error
  }
}

function operationOf(
  write: Pick<Apply, 'kind' | 'subresource' | 'versions'>,
  managed: ManagedOwners,
  manager: string,
): Operation {
  const { kind, subresource, versions } = write
  const own = apiVersionOf(kind)
  const known = new Map<string, Version | undefined>()
  const versionAt = (apiVersion: string): Version | undefined => {
    if (!known.has(apiVersion)) {
      const other = versions ? versions(apiVersion) : { kind, convert: (object: UnknownObject) => object }
      known.set(apiVersion, other && versionOf(other.kind, subresource, (value) => inVersion(value, apiVersion, other)))
    }
    return known.get(apiVersion)
  }
  const version = versionOf(kind, subresource, (value) => {
    const from = isObject(value) && value['apiVersion'] !== own ? versions?.(own) : undefined
    return from ? inVersion(value, own, from) : value
  })
  return {
    version,
    managers: managed.owners,
    manager,
    versionOf(name) {
      const apiVersion = managed.versions.get(name) ?? own
      return apiVersion === own ? version : versionAt(apiVersion)
    },
  }
}

function versionOf(kind: Kind, subresource: string | undefined, convert: Version['convert']): Version {
  return { type: rootType(kind.schema), ignored: ignoredFields(kind, subresource), convert }
}

function inVersion(value: unknown, apiVersion: string, to: NonNullable<ReturnType<Versions>>): unknown {
  if (!isObject(value) || value['apiVersion'] === apiVersion) return value
  return to.convert({ ...value, metadata: value['metadata'] ?? {} } as UnknownObject)
}

/** What an endpoint resets, so that writing it there owns nothing. */
function ignoredFields(kind: Kind, subresource: string | undefined): FieldSet {
  if (!kind.subresources.status) return new FieldSet()
  if (subresource !== 'status') return FieldSet.of(['f:status'])
  const written = metadataOfStatus(kind)
  if (written.length === 0) return FieldSet.of(['f:metadata'], ['f:spec'])
  return written.includes('labels') ? FieldSet.of(['f:spec']) : FieldSet.of(['f:metadata', 'f:labels'], ['f:spec'])
}

function stripped(managers: Managers, manager: string): Map<string, FieldSet> {
  const result = new Map(managers)
  const set = result.get(manager)
  if (!set) return result
  const rest = set.difference(NEVER_OWNED)
  if (rest.isEmpty()) result.delete(manager)
  else result.set(manager, rest)
  return result
}

function withoutManaged(object: UnknownObject): UnknownObject {
  if (!object.metadata?.managedFields) return object
  const { managedFields: _managedFields, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** What client-side apply set before, `kubectl apply --server-side` may take over. */
function withoutLastApplied({ kind, live }: Apply, conflicts: readonly FieldConflict[]): readonly FieldConflict[] {
  const text = live?.metadata.annotations?.[LAST_APPLIED]
  if (!live || !text) return conflicts
  let last: unknown
  try {
    last = JSON.parse(text)
  } catch {
    return conflicts
  }
  if (!isObject(last) || last['apiVersion'] !== apiVersionOf(kind)) return conflicts
  const type = rootType(kind.schema)
  const { added, modified, removed } = compare(last, withoutManaged(live), type)
  const allowed = toFieldSet(last, type).difference(modified).difference(added).difference(removed)
  return conflicts.filter(({ path }) => !allowed.has(path))
}

function renewLastApplied(object: UnknownObject, config: UnknownObject): void {
  const { annotations } = object.metadata
  if (!annotations?.[LAST_APPLIED]) return
  const copy = jsonClone(config)
  if (copy.metadata.annotations) delete copy.metadata.annotations[LAST_APPLIED]
  annotations[LAST_APPLIED] = `${JSON.stringify(copy)}\n`
}

function conflictError(conflicts: readonly FieldConflict[]): ApiError {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }))
  return new ApiError('Conflict', conflictMessage(conflicts), { causes })
}

function conflictMessage(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts
  if (conflicts.length === 1 && first) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`
  }
  const byManager = Map.groupBy(conflicts, ({ manager }) => manager)
  const lines = [...byManager.keys()]
    .sort((a, b) => (goId(a) < goId(b) ? -1 : 1))
    .flatMap((manager) => [
      `conflicts with ${managerText(manager)}:`,
      ...byManager.get(manager)!.map(({ path }) => `- ${pathText(path)}`),
    ])
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

/** A manager as Go knows it, for the order of sentences. */
function goId(id: string): string {
  const { manager, operation, apiVersion, subresource } = managerInfo(id)
  return JSON.stringify({ manager, operation, ...compact({ apiVersion: apiVersion || undefined }), subresource })
}

function managerText(id: string): string {
  const { manager, operation, apiVersion, subresource } = managerInfo(id)
  const name = `${JSON.stringify(manager)}${subresource ? ` with subresource ${JSON.stringify(subresource)}` : ''}`
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
