// Tested by src/apiserver/apply/field-manager.test.ts
import { isObject } from '../../core/json.ts'
import { atomOf, atomKind, itemElement } from './atoms.ts'
import type { ListAtom, MapAtom, TypeRef } from './atoms.ts'
import { fieldElement, FieldSet } from './field-set.ts'
import type { FieldPath, PathElement } from './field-set.ts'

/** The fields a configuration speaks about: leaves, items of lists and free keys. */
export function toFieldSet(value: unknown, type: TypeRef): FieldSet {
  const set = new FieldSet()
  visit(value, type, [], set)
  return set
}

function visit(value: unknown, type: TypeRef, path: FieldPath, set: FieldSet): void {
  const atom = atomOf(type)
  switch (atomKind(atom, value)) {
    case 'map':
      return visitMap(value, atom.map!, path, set)
    case 'list':
      return visitList(value, atom.list!, path, set)
    case 'scalar':
      return set.insert(path)
  }
}

function visitMap(value: unknown, map: MapAtom, path: FieldPath, set: FieldSet): void {
  if (map.isAtomic) return set.insert(path)
  if (!isObject(value)) return
  for (const [field, child] of Object.entries(value)) {
    const below = [...path, fieldElement(field)]
    visit(child, map.fieldType(field), below, set)
    const isEmpty = child === null || (isObject(child) && Object.keys(child).length === 0)
    if (isEmpty || !map.isNamed(field)) set.insert(below)
  }
}

function visitList(value: unknown, list: ListAtom, path: FieldPath, set: FieldSet): void {
  if (list.isAtomic) return set.insert(path)
  if (!Array.isArray(value)) return
  const elements = value.map((item: unknown) => itemElement(list, item))
  const duplicates = duplicatesOf(elements)
  for (const [index, element] of elements.entries()) {
    const below = [...path, element]
    // Items that cannot be told apart are owned as one.
    if (!duplicates.has(element)) visit(value[index], list.element, below, set)
    set.insert(below)
  }
}

/** The elements that come more than once. */
function duplicatesOf(elements: readonly PathElement[]): Set<PathElement> {
  const seen = new Set<PathElement>()
  const duplicates = new Set<PathElement>()
  for (const element of elements) (seen.has(element) ? duplicates : seen).add(element)
  return duplicates
}

/**
 * The set in the present schema: what a manager owned below a list or map that has become atomic is the whole list or
 * map now. Objects that were written under an older schema name every item.
 */
export function withAtomicOwners(set: FieldSet, type: TypeRef): FieldSet {
  let changed: FieldSet | undefined
  const { map, list } = atomOf(type)
  for (const [element, child] of set.children) {
    const below = element.startsWith('f:') ? map?.fieldType(element.slice(2)) : list?.element
    if (!below?.schema) continue
    const atom = atomOf(below)
    const isAtomic = (atom.list ?? atom.map)?.isAtomic === true && !atom.isScalar
    const next = isAtomic ? undefined : withAtomicOwners(child, below)
    if (next === child) continue
    changed ??= new FieldSet(set.members, set.children)
    if (next) changed.children.set(element, next)
    else {
      changed.children.delete(element)
      changed.members.add(element)
    }
  }
  return changed ?? set
}

/** The set with every struct field that has owned children added, so that a struct counts as owned by what is in it. */
export function withNamedFields(set: FieldSet, type: TypeRef): FieldSet {
  const { map, list } = atomOf(type)
  const members = new Set(set.members)
  const children = new Map<PathElement, FieldSet>()
  for (const [element, child] of set.children) {
    const field = element.startsWith('f:') ? element.slice(2) : undefined
    if (field !== undefined && map?.isNamed(field)) members.add(element)
    const below = field !== undefined ? map?.fieldType(field) : element.startsWith('k:') ? list?.element : undefined
    children.set(element, below ? withNamedFields(child, below) : child)
  }
  return new FieldSet(members, children)
}
