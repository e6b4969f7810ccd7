import { canonicalJson, isObject, jsonEqual } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { fieldSchema, itemKey, listMergeStrategy } from './merge-keys.ts'
import { ownField } from './own-field.ts'

/** Equality as CEL has it for typed values: the order of sets and of keyed lists does not count. */
export function structurallyEqual(schema: StructuralSchema | undefined, a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && equalLists(schema, a, b)
  if (isObject(a) && isObject(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every(
        (key) =>
          Object.hasOwn(b, key) && structurallyEqual(fieldSchema(schema, key), ownField(a, key), ownField(b, key)),
      )
    )
  }
  return jsonEqual(a, b)
}

function equalLists(schema: StructuralSchema | undefined, a: readonly unknown[], b: readonly unknown[]): boolean {
  const merge = listMergeStrategy(schema)
  if (merge.type === 'atomic') return a.every((item, index) => structurallyEqual(schema?.items, item, b[index]))
  const nameOf = (item: unknown) => canonicalJson(merge.type === 'set' ? item : itemKey(item, merge.keys))
  const others = new Map(b.map((item) => [nameOf(item), item]))
  return a.every((item) => {
    const name = nameOf(item)
    return others.has(name) && structurallyEqual(schema?.items, item, others.get(name))
  })
}
