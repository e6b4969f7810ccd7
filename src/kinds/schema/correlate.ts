import { canonicalJson } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { keyOfItem, listMergeOf } from './merge-keys.ts'

/** Finds the item of an old list that a new item continues: known only where items have keys. */
export function oldItems(schema: StructuralSchema, oldList: unknown): (item: unknown) => unknown {
  const merge = listMergeOf(schema)
  if (merge.type !== 'map' || !Array.isArray(oldList) || oldList.length === 0) return () => undefined
  const nameOf = (item: unknown) => canonicalJson(keyOfItem(item, merge.keys))
  const byKey = new Map<string, unknown>()
  for (const item of oldList as unknown[]) {
    const name = nameOf(item)
    if (!byKey.has(name)) byKey.set(name, item)
  }
  return (item) => byKey.get(nameOf(item))
}
