import { jsonEqual } from '../../core/json.ts'
import type { TypeRef } from './atoms.ts'
import { compare, excludeFields } from './compare.ts'
import type { Comparison } from './compare.ts'
import { FieldSet } from './field-set.ts'
import type { FieldPath } from './field-set.ts'
import { merge } from './merge.ts'
import { removeFields } from './remove-fields.ts'
import { toFieldSet, withNamedFields } from './to-field-set.ts'

/**
 * Field ownership after a change: the algorithm of structured-merge-diff over values and schema, without metadata.
 */

/** The fields each manager owns, by an identifier of the manager. */
export type Managers = ReadonlyMap<string, FieldSet>

/** A field that another manager owns with another value. */
export interface FieldConflict {
  readonly manager: string
  readonly path: FieldPath
}

/** The objects of a kind in one of its versions. */
export interface Version {
  readonly type: TypeRef
  /** Fields that this endpoint never changes and that no manager comes to own through it. */
  readonly ignored: FieldSet
  /** Converts an object of any version to this version. */
  convert(value: unknown): unknown
}

/** What an update or apply is about. */
export interface Operation {
  /** That of the request. */
  readonly version: Version
  /** The version in which a manager named its fields; undefined when it is no longer served. */
  versionOf(manager: string): Version | undefined
  readonly managers: Managers
  /** The identifier of the acting manager. */
  readonly manager: string
}

/** The owners after an update: the manager that changed a field is its only owner. */
export function updateOwners(operation: Operation, live: unknown, next: unknown): Managers {
  const { manager } = operation
  const { managers, comparison } = settle(operation, live, next)
  const previous = managers.get(manager) ?? new FieldSet()
  const set = previous.difference(comparison.removed).union(comparison.modified).union(comparison.added)
  const owned = set.recursiveDifference(operation.version.ignored)
  if (owned.isEmpty()) managers.delete(manager)
  else managers.set(manager, owned)
  return managers
}

/** What an apply gives: conflicts, or the new object (undefined when nothing changes) and its owners. */
export type ApplyResult =
  | { readonly conflicts: readonly FieldConflict[] }
  | { readonly conflicts: undefined; readonly object: unknown; readonly managers: Managers }

/** Applies a configuration: sets what it names, removes what its manager named before and no longer does. */
export function applyConfig(operation: Operation, live: unknown, config: unknown, force: boolean): ApplyResult {
  const { manager } = operation
  const { type, ignored } = operation.version
  const merged = merge(live, config, type)
  const last = operation.managers.get(manager)
  const managers = new Map(operation.managers)
  managers.set(manager, toFieldSet(config, type).recursiveDifference(ignored))
  const next = last && !last.isEmpty() ? prune({ ...operation, managers }, merged, last) : merged
  const settled = settle({ ...operation, managers }, live, next)
  if (!force && settled.conflicts.length > 0) return { conflicts: settled.conflicts }
  return { conflicts: undefined, object: jsonEqual(live, next) ? undefined : next, managers: settled.managers }
}

/** Removes fields that the manager applied last time, does not apply now, and that no other manager owns. */
function prune(operation: Operation, merged: unknown, last: FieldSet): unknown {
  const { managers, manager } = operation
  // What was applied in another version is removed as that version names it.
  const past = operation.versionOf(manager) ?? operation.version
  const inPast = past.convert(merged)
  const lastNamed = withNamedFields(last, past.type)
  let pruned = removeFields(inPast, lastNamed, past.type)
  const owned = new Map<Version, FieldSet>([[past, new FieldSet()]])
  for (const [name, set] of managers) {
    const version = name === manager ? operation.version : operation.versionOf(name)
    if (version) owned.set(version, (owned.get(version) ?? new FieldSet()).union(set))
  }
  // First restore fields that another manager owns, then fields that this manager never owned.
  for (const [version, set] of owned) {
    const named = (fields: FieldSet) => withNamedFields(fields, version.type)
    const [whole, less] = [version.convert(merged), version.convert(pruned)]
    const kept = named(toFieldSet(less, version.type)).union(named(set))
    pruned = removeFields(whole, named(toFieldSet(whole, version.type)).difference(kept), version.type)
  }
  const named = (value: unknown) => withNamedFields(toFieldSet(value, past.type), past.type)
  const gone = named(inPast)
    .difference(named(past.convert(pruned)))
    .intersection(lastNamed)
  return operation.version.convert(removeFields(inPast, gone, past.type))
}

interface Settled {
  readonly managers: Map<string, FieldSet>
  readonly comparison: Comparison
  readonly conflicts: readonly FieldConflict[]
}

/** Takes changed and removed fields from all managers except the acting manager. */
function settle(operation: Operation, live: unknown, next: unknown): Settled {
  const { version: main } = operation
  const comparison = compare(live, next, main.type)
  const visible = new Map<Version, Comparison>([[main, excludeFields(comparison, main.ignored)]])
  const visibleIn = (version: Version): Comparison => {
    let known = visible.get(version)
    if (!known) {
      known = excludeFields(compare(version.convert(live), version.convert(next), version.type), version.ignored)
      visible.set(version, known)
    }
    return known
  }
  const result = new Map<string, FieldSet>()
  const conflicts: FieldConflict[] = []
  for (const [name, set] of operation.managers) {
    if (name === operation.manager) {
      if (!set.isEmpty()) result.set(name, set)
      continue
    }
    const version = operation.versionOf(name)
    if (!version) continue
    const { added, modified, removed } = visibleIn(version)
    const contested = set.intersection(modified.union(added))
    for (const path of contested.paths()) conflicts.push({ manager: name, path })
    const left = set.difference(contested).difference(removed)
    if (!left.isEmpty()) result.set(name, left)
  }
  return { managers: result, comparison, conflicts }
}
