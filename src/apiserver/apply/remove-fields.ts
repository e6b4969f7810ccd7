import { isObject } from '../../core/json.ts'
import { atomOf, atomKind, itemElement } from './atoms.ts'
import type { TypeRef } from './atoms.ts'
import { fieldElement } from './field-set.ts'
import type { FieldSet } from './field-set.ts'

/** The value without the fields and items of a set; undefined (null for the inside of lists) when nothing is left. */
export function removeFields(value: unknown, toRemove: FieldSet, type: TypeRef): unknown {
  const atom = atomOf(type)
  switch (atomKind(atom, value)) {
    case 'scalar':
      return value
    case 'list': {
      // An atomic value is removed as a whole when a field in it is removed.
      if (!Array.isArray(value) || value.length === 0 || atom.list!.isAtomic) return null
      const items: unknown[] = []
      for (const item of value as unknown[]) {
        const element = itemElement(atom.list!, item)
        if (toRemove.members.has(element)) continue
        const below = toRemove.below(element)
        items.push(below.isEmpty() ? item : removeFields(item, below, atom.list!.element))
      }
      return items.length > 0 ? items : null
    }
    case 'map': {
      if (!isObject(value) || Object.keys(value).length === 0 || atom.map!.isAtomic) return null
      const result: Record<string, unknown> = {}
      for (const [field, child] of Object.entries(value)) {
        const element = fieldElement(field)
        if (toRemove.members.has(element)) continue
        const below = toRemove.below(element)
        result[field] = below.isEmpty() ? child : removeFields(child, below, atom.map!.fieldType(field))
      }
      return Object.keys(result).length > 0 ? result : null
    }
  }
}
