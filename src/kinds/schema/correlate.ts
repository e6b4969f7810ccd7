import { canonicalJson } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { itemKey, listMergeStrategy } from './merge-keys.ts'

/** Finds the item of an old list that a new item continues: known only where items have keys. */
export function correlateOldItem(schema: StructuralSchema, oldList: unknown): (item: unknown) => unknown {
  const merge = listMergeStrategy(schema)
  if (merge.type !== 'map' || !Array.isArray(oldList) || oldList.length === 0) return () => undefined
  const nameOf = (item: unknown) => canonicalJson(itemKey(item, merge.keys))
  const byKey = new Map<string, unknown>()
  for (const item of oldList as unknown[]) {
    const name = nameOf(item)
    if (!byKey.has(name)) byKey.set(name, item)
  }
  return (item) => byKey.get(nameOf(item))
}
