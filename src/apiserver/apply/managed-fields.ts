import { compact } from '../../core/compact.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { ManagedFieldsEntry } from '../../kinds/meta.ts'
import { fromFieldsV1, toFieldsV1 } from './field-set.ts'
import type { FieldSet } from './field-set.ts'
import type { Managers } from './updater.ts'

/** metadata.managedFields to owners and back. A manager is identified by its name and operation, not by its time. */

/** A field manager: its name, operation, version and subresource. */
export interface ManagerInfo {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string | undefined
}

/** Owners with the times of their last change. */
export interface ManagedOwners {
  readonly owners: Managers
  /** Milliseconds, by manager. */
  readonly times: ReadonlyMap<string, number>
  /** The version of the API in which a manager's fields are named, by manager. */
  readonly versions: ReadonlyMap<string, string>
}

/** Managed fields without owners. */
export const NOTHING_MANAGED: ManagedOwners = { owners: new Map(), times: new Map(), versions: new Map() }

/** The identifier of a manager. */
export function managerId({ manager, operation, apiVersion, subresource }: ManagerInfo): string {
  return JSON.stringify([
    manager || 'unknown',
    operation,
    // An applier stays the same when it moves to another version of the API.
    operation === 'Apply' ? '' : apiVersion,
    subresource ?? '',
  ])
}

/** The manager of an identifier. */
export function managerInfo(id: string): ManagerInfo {
  const [manager, operation, apiVersion, subresource] = JSON.parse(id) as [string, 'Apply' | 'Update', string, string]
  return { manager, operation, apiVersion, subresource: subresource === '' ? undefined : subresource }
}

/** Owners of a list of entries. Undefined when an entry cannot be read. */
export function decodeManaged(entries: readonly ManagedFieldsEntry[] | undefined): ManagedOwners | undefined {
  const owners = new Map<string, FieldSet>()
  const times = new Map<string, number>()
  const versions = new Map<string, string>()
  for (const entry of entries ?? []) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') return undefined
    if (entry.fieldsType !== 'FieldsV1') return undefined
    const set = fromFieldsV1(entry.fieldsV1 ?? {})
    if (!set) return undefined
    const id = managerId({ ...entry, subresource: entry.subresource })
    owners.set(id, set)
    versions.set(id, entry.apiVersion)
    const time = entry.time === undefined ? undefined : parseTime(entry.time)
    if (time !== undefined) times.set(id, time)
  }
  return { owners, times, versions }
}

/** The entries of owners, in the order Kubernetes keeps them. */
export function encodeManaged({ owners, times, versions }: ManagedOwners, apiVersion: string): ManagedFieldsEntry[] {
  const entries: ManagedFieldsEntry[] = []
  for (const [id, set] of owners) {
    const info = managerInfo(id)
    const time = times.get(id)
    entries.push(
      compact({
        manager: info.manager,
        operation: info.operation,
        apiVersion: info.apiVersion || versions.get(id) || apiVersion,
        ...compact({ time: time === undefined ? undefined : formatTime(time) }),
        fieldsType: 'FieldsV1',
        fieldsV1: toFieldsV1(set),
        subresource: info.subresource,
      }),
    )
  }
  return entries.sort(compareEntries)
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  const keys = (entry: ManagedFieldsEntry) => [
    entry.operation,
    entry.time ?? '',
    entry.manager,
    entry.apiVersion,
    entry.subresource ?? '',
  ]
  const left = keys(a)
  const right = keys(b)
  for (const [index, key] of left.entries()) {
    if (key !== right[index]) return key < right[index]! ? -1 : 1
  }
  return 0
}

const MAX_UPDATERS = 10
const ANCIENT = 'ancient-changes'

/** Folds the oldest updaters into one entry, so that the list stays short. */
export function capUpdaters({ owners, times, versions }: ManagedOwners): ManagedOwners {
  const timeOf = (id: string) => Math.floor((times.get(id) ?? 0) / 1000)
  const updaters = [...owners.keys()]
    .filter((id) => managerInfo(id).operation === 'Update')
    .sort((a, b) => timeOf(a) - timeOf(b) || (a < b ? -1 : 1))
  if (updaters.length <= MAX_UPDATERS) return { owners, times, versions }
  const capped = new Map(owners)
  const cappedTimes = new Map(times)
  const firstOfVersion = new Map<string, string>()
  let count = updaters.length
  for (const id of updaters) {
    if (count <= MAX_UPDATERS) break
    const { apiVersion } = managerInfo(id)
    const first = firstOfVersion.get(apiVersion)
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id)
      continue
    }
    const bucket = managerId({ manager: ANCIENT, operation: 'Update', apiVersion, subresource: undefined })
    if (!capped.has(bucket)) {
      const set = capped.get(first)!
      capped.delete(first)
      capped.set(bucket, set)
    }
    capped.set(bucket, capped.get(id)!.union(capped.get(bucket)!))
    if (id !== bucket) capped.delete(id)
    cappedTimes.set(bucket, times.get(id) ?? 0)
    count -= 1
  }
  return { owners: capped, times: cappedTimes, versions }
}
