import { isObject, jsonEqual } from '../../core/json.ts'
import { atomOf, atomKind, itemElement } from './atoms.ts'
import type { ListAtom, MapAtom, TypeRef } from './atoms.ts'
import { fieldElement, FieldSet } from './field-set.ts'
import type { FieldPath, PathElement } from './field-set.ts'

/** What differs between two objects, as sets of fields. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Compares two values of the same type. */
export function compare(left: unknown, right: unknown, type: TypeRef): Comparison {
  const comparison = { added: new FieldSet(), modified: new FieldSet(), removed: new FieldSet() }
  visit({ left, right, type, path: [] }, comparison)
  return comparison
}

/** The comparison without some fields and all below them. */
export function excludeFields({ added, modified, removed }: Comparison, excluded: FieldSet): Comparison {
  return {
    added: added.recursiveDifference(excluded),
    modified: modified.recursiveDifference(excluded),
    removed: removed.recursiveDifference(excluded),
  }
}

interface Pair {
  /** undefined: absent. */
  readonly left: unknown
  readonly right: unknown
  readonly type: TypeRef
  readonly path: FieldPath
}

function visit(pair: Pair, comparison: Comparison): void {
  const { left, right, type, path } = pair
  const atom = atomOf(type)
  const leftForm = atomKind(atom, left)
  const rightForm = atomKind(atom, right)
  const isLeaf =
    right === undefined
      ? visitAs(leftForm, pair, comparison)
      : left === undefined || leftForm === rightForm || left === null
        ? visitAs(rightForm, pair, comparison)
        : visitBoth(leftForm, rightForm, pair, comparison)
  if (isLeaf) return
  if (left === undefined) comparison.added.insert(path)
  else if (right === undefined) comparison.removed.insert(path)
}

// A value that changed its form is looked at in both, as structured-merge-diff does.
function visitBoth(
  leftForm: 'map' | 'scalar' | 'list',
  rightForm: 'map' | 'scalar' | 'list',
  pair: Pair,
  comparison: Comparison,
): boolean {
  visitAs(leftForm, pair, comparison)
  return visitAs(rightForm, pair, comparison)
}

/** True when the pair was compared as a whole. */
function visitAs(form: 'map' | 'scalar' | 'list', pair: Pair, comparison: Comparison): boolean {
  const atom = atomOf(pair.type)
  switch (form) {
    case 'map':
      return visitMap(atom.map!, pair, comparison)
    case 'list':
      return visitList(atom.list!, pair, comparison)
    case 'scalar':
      return visitLeaf(pair, comparison)
  }
}

function visitLeaf({ left, right, path }: Pair, comparison: Comparison): true {
  if (left === undefined) comparison.added.insert(path)
  else if (right === undefined) comparison.removed.insert(path)
  else if (!jsonEqual(left, right)) comparison.modified.insert(path)
  return true
}

function visitMap(map: MapAtom, pair: Pair, comparison: Comparison): boolean {
  const left = isObject(pair.left) ? pair.left : {}
  const right = isObject(pair.right) ? pair.right : {}
  const fields = new Set([...Object.keys(left), ...Object.keys(right)])
  // Two empty maps are a leaf, so that null and {} stay different.
  if (map.isAtomic || fields.size === 0) return visitLeaf(pair, comparison)
  for (const field of fields) {
    const path = [...pair.path, fieldElement(field)]
    const has = (side: object) => Object.hasOwn(side, field)
    visit(
      {
        left: has(left) ? left[field] : undefined,
        right: has(right) ? right[field] : undefined,
        type: map.fieldType(field),
        path,
      },
      comparison,
    )
  }
  return false
}

function visitList(list: ListAtom, pair: Pair, comparison: Comparison): boolean {
  const left: unknown[] = Array.isArray(pair.left) ? pair.left : []
  const right: unknown[] = Array.isArray(pair.right) ? pair.right : []
  if (list.isAtomic || left.length + right.length === 0) return visitLeaf(pair, comparison)
  const leftItems = byElement(list, left)
  const rightItems = byElement(list, right)
  for (const element of new Set([...leftItems.keys(), ...rightItems.keys()])) {
    const path = [...pair.path, element]
    const before = leftItems.get(element) ?? []
    const after = rightItems.get(element) ?? []
    const item = (a: unknown, b: unknown) => visit({ left: a, right: b, type: list.element, path }, comparison)
    if (before.length <= 1 && after.length <= 1) item(before[0], after[0])
    else if (before.length >= 2 && after.length >= 2) {
      if (!jsonEqual(before, after)) comparison.modified.insert(path)
    } else if (before.length >= 2) {
      if (after.length === 1) item(undefined, after[0])
      comparison.removed.insert(path)
    } else {
      if (before.length === 1) item(before[0], undefined)
      comparison.added.insert(path)
    }
  }
  return false
}

function byElement(list: ListAtom, items: readonly unknown[]): Map<PathElement, unknown[]> {
  const map = new Map<PathElement, unknown[]>()
  for (const item of items) {
    const element = itemElement(list, item)
    const known = map.get(element)
    if (known) known.push(item)
    else map.set(element, [item])
  }
  return map
}
