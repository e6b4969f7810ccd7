import { jsonEqual } from '../../core/json.ts'
import type { TypeRef } from './atoms.ts'
import { compare, excludeFields } from './compare.ts'
import type { Comparison } from './compare.ts'
import { FieldSet } from './field-set.ts'
import type { FieldPath } from './field-set.ts'
import { merge } from './merge.ts'
import { removeFields } from './remove.ts'
import { toFieldSet, withNamedFields } from './to-field-set.ts'

/** Who owns what after a change: the algorithm of structured-merge-diff over values and schema, without any metadata. */

/** The fields each manager owns, by an identifier of the manager. */
export type Managers = ReadonlyMap<string, FieldSet>

/** A field that another manager owns with another value. */
export interface FieldConflict {
  readonly manager: string
  readonly path: FieldPath
}

/** What an update or apply is about. */
export interface Operation {
  readonly type: TypeRef
  /** Fields this endpoint never changes and nobody comes to own through it. */
  readonly ignored: FieldSet
  readonly managers: Managers
  /** The identifier of who acts. */
  readonly manager: string
}

/** The owners after an object was replaced: whoever changed a field owns it alone. */
export function updateOwners(operation: Operation, live: unknown, next: unknown): Managers {
  const { manager, ignored } = operation
  const { managers, comparison } = settle(operation, live, next)
  const previous = managers.get(manager) ?? new FieldSet()
  const set = previous.difference(comparison.removed).union(comparison.modified).union(comparison.added)
  const owned = set.recursiveDifference(ignored)
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
  const { type, ignored, manager } = operation
  const merged = merge(live, config, type)
  const last = operation.managers.get(manager)
  const managers = new Map(operation.managers)
  managers.set(manager, toFieldSet(config, type).recursiveDifference(ignored))
  const next = last && !last.isEmpty() ? prune(merged, last, managers, type) : merged
  const settled = settle({ ...operation, managers }, live, next)
  if (!force && settled.conflicts.length > 0) return { conflicts: settled.conflicts }
  return { conflicts: undefined, object: jsonEqual(live, next) ? undefined : next, managers: settled.managers }
}

/** Removes what the manager applied last time, does not apply now, and nobody else claims. */
function prune(merged: unknown, last: FieldSet, managers: Managers, type: TypeRef): unknown {
  const named = (set: FieldSet) => withNamedFields(set, type)
  const lastNamed = named(last)
  const pruned = removeFields(merged, lastNamed, type)
  const mergedSet = named(toFieldSet(merged, type))
  let owned = new FieldSet()
  for (const set of managers.values()) owned = owned.union(set)
  // First what somebody owns comes back, then what this manager never owned.
  const kept = removeFields(merged, mergedSet.difference(named(toFieldSet(pruned, type)).union(named(owned))), type)
  return removeFields(merged, mergedSet.difference(named(toFieldSet(kept, type))).intersection(lastNamed), type)
}

interface Settled {
  readonly managers: Map<string, FieldSet>
  readonly comparison: Comparison
  readonly conflicts: readonly FieldConflict[]
}

/** Takes changed and removed fields from everybody but the one who acts. */
function settle({ type, ignored, managers, manager }: Operation, live: unknown, next: unknown): Settled {
  const comparison = compare(live, next, type)
  const visible = excludeFields(comparison, ignored)
  const touched = visible.modified.union(visible.added)
  const result = new Map<string, FieldSet>()
  const conflicts: FieldConflict[] = []
  for (const [name, set] of managers) {
    if (name === manager) {
      if (!set.isEmpty()) result.set(name, set)
      continue
    }
    const contested = set.intersection(touched)
    for (const path of contested.paths()) conflicts.push({ manager: name, path })
    const left = set.difference(contested).difference(visible.removed)
    if (!left.isEmpty()) result.set(name, left)
  }
  return { managers: result, comparison, conflicts }
}
