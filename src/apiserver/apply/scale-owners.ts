import type { ManagedFieldsEntry } from '../../kinds/meta.ts'
import { FieldSet } from './field-set.ts'
import type { FieldPath } from './field-set.ts'
import { decodeManaged, encodeManaged, managerId, managerInfo, NOTHING_MANAGED } from './managed-fields.ts'
import type { ManagedOwners } from './managed-fields.ts'

/** Converts the owners of `spec.replicas` between an object and its Scale. */

/** Where the replicas of an object are in a version of its kind; undefined for a version that is not served. */
export type ReplicasAt = (apiVersion: string) => FieldPath | undefined

const SCALE_VERSION = 'autoscaling/v1'
const IN_SCALE: FieldPath = ['f:spec', 'f:replicas']

/** The owners of a Scale: the managers that own the object's replicas. */
export function ownersOfScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  at: ReplicasAt,
): ManagedFieldsEntry[] {
  const managed = decodeManaged(entries) ?? NOTHING_MANAGED
  const owners = [...managed.owners].filter(([id, set]) => {
    const path = at(versionOf(managed, id))
    return path !== undefined && set.has(path)
  })
  const seen: ManagedOwners = {
    times: new Map(owners.map(([id]) => [inVersion(id, SCALE_VERSION), managed.times.get(id) ?? 0])),
    owners: new Map(owners.map(([id]) => [inVersion(id, SCALE_VERSION), FieldSet.of(IN_SCALE)])),
    versions: new Map(),
  }
  return encodeManaged(seen, SCALE_VERSION)
}

/** The owners of an object after a write to its Scale. A manager that lost the replicas there loses them here. */
export function ownersAfterScale(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scaled: readonly ManagedFieldsEntry[] | undefined,
  { at, apiVersion }: { readonly at: ReplicasAt; readonly apiVersion: string },
): ManagedFieldsEntry[] {
  const managed = decodeManaged(entries) ?? NOTHING_MANAGED
  const ofScale = decodeManaged(scaled) ?? NOTHING_MANAGED
  const waiting = new Map([...ofScale.owners].filter(([, set]) => set.has(IN_SCALE)))
  const owners = new Map<string, FieldSet>()
  const times = new Map<string, number>()
  const versions = new Map<string, string>()
  const keep = (id: string, set: FieldSet, time: number | undefined, version: string) => {
    owners.set(id, set)
    versions.set(id, version)
    if (time !== undefined) times.set(id, time)
  }
  for (const [id, set] of managed.owners) {
    const version = versionOf(managed, id)
    const path = at(version)
    if (path === undefined || !set.has(path)) {
      if (path !== undefined) keep(id, set, managed.times.get(id), version)
      continue
    }
    // An applier is the same manager in every version. An updater is another manager in the version of Scales, and
    // loses the field.
    if (waiting.delete(id)) {
      keep(id, set, managed.times.get(id), version)
      continue
    }
    const rest = set.difference(FieldSet.of(path))
    if (!rest.isEmpty()) keep(id, rest, managed.times.get(id), version)
  }
  for (const id of waiting.keys()) {
    const own = inVersion(id, apiVersion)
    if (!owners.has(own)) keep(own, FieldSet.of(at(apiVersion) ?? IN_SCALE), ofScale.times.get(id), apiVersion)
  }
  return encodeManaged({ owners, times, versions }, apiVersion)
}

function versionOf(managed: ManagedOwners, id: string): string {
  return managed.versions.get(id) ?? managerInfo(id).apiVersion
}

/** The same manager, writing in another version. */
function inVersion(id: string, apiVersion: string): string {
  return managerId({ ...managerInfo(id), apiVersion })
}
