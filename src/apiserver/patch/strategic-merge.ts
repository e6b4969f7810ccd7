import { isObject, jsonClone, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { fieldSchema } from '../../kinds/schema/merge-keys.ts'
import { badRequest } from '../http/api-errors.ts'

/**
 * Strategic merge: like a merge patch, but keyed lists merge item by item and sets merge by value. Directives:
 * `$patch: delete|replace|merge`, `$deleteFromPrimitiveList/x`, `$setElementOrder/x`, `$retainKeys`.
 */
export function applyStrategicMerge(value: unknown, patch: unknown, schema: StructuralSchema): unknown {
  if (!isObject(patch)) throw badRequest('a strategic merge patch must be an object')
  const root = { ...schema, properties: { ...schema.properties, metadata: METADATA_SCHEMA } }
  return mergeMap(isObject(value) ? value : {}, patch, root)
}

const DELETE_FROM = '$deleteFromPrimitiveList/'
const ORDER = '$setElementOrder/'

function mergeMap(original: JsonObject, patch: JsonObject, schema: StructuralSchema | undefined): JsonObject {
  if (patch['$patch'] === 'replace') {
    const { $patch: _directive, ...rest } = patch
    return withoutDirectives(rest) as JsonObject
  }
  if (patch['$patch'] === 'delete') return {}
  const result: JsonObject = { ...original }
  const retained = patch['$retainKeys']
  if (Array.isArray(retained)) {
    for (const key of Object.keys(result)) if (!retained.includes(key)) delete result[key]
  }
  for (const [key, change] of Object.entries(patch)) {
    if (key.startsWith('$')) continue
    const child = fieldSchema(schema, key)
    const before = result[key]
    const next =
      isObject(change) && isObject(before)
        ? mergeMap(before, change, child)
        : Array.isArray(change) && Array.isArray(before)
          ? mergeList(before, change, child)
          : taken(change)
    if (next === undefined) delete result[key]
    else result[key] = next
  }
  for (const [key, removed] of Object.entries(patch)) {
    if (!key.startsWith(DELETE_FROM) || !Array.isArray(removed)) continue
    const field = key.slice(DELETE_FROM.length)
    const list = result[field]
    if (Array.isArray(list))
      result[field] = list.filter((item: unknown) => !removed.some((gone: unknown) => jsonEqual(gone, item)))
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER) || !Array.isArray(order)) continue
    const field = key.slice(ORDER.length)
    const list = result[field]
    if (!Array.isArray(list)) continue
    const before = original[field]
    result[field] = inOrder(list, order, Array.isArray(before) ? before : [], fieldSchema(schema, field))
  }
  return result
}

/** What a patch says where there was nothing of its kind: nothing is merged, not even items with the same key. */
function taken(value: unknown): unknown {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map(taken).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  if (Object.hasOwn(value, '$patch')) return undefined
  const entries = Object.entries(value).map(([key, child]) => [key, key.startsWith('$') ? undefined : taken(child)])
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined))
}

function mergeList(
  original: readonly unknown[],
  patch: readonly unknown[],
  schema: StructuralSchema | undefined,
): unknown[] {
  if (!isMerged(schema)) return withoutDirectives(patch) as unknown[]
  const key = schema?.['x-kubernetes-patch-merge-key']
  if (key === undefined) {
    const all = [...original, ...patch.filter((item) => !original.some((known) => jsonEqual(known, item)))]
    return inOrder(all, patch, original, schema)
  }
  if (patch.some((item) => isObject(item) && item['$patch'] === 'replace')) {
    const items = patch.filter(
      (item) => !(isObject(item) && item['$patch'] === 'replace' && Object.keys(item).length === 1),
    )
    return withoutDirectives(items) as unknown[]
  }
  const result: unknown[] = jsonClone([...original])
  for (const item of patch) {
    if (!isObject(item)) throw badRequest('a strategic merge patch of a keyed list must hold objects')
    if (!Object.hasOwn(item, key))
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    const index = result.findIndex((known) => isObject(known) && jsonEqual(known[key], item[key]))
    if (item['$patch'] === 'delete') {
      if (index >= 0) result.splice(index, 1)
    } else if (index >= 0) result[index] = mergeMap(result[index] as JsonObject, item, schema?.items)
    else result.push(mergeMap({}, item, schema?.items))
  }
  return inOrder(result, patch, original, schema)
}

/** Whether strategic merge treats a list item by item; its list type does not count. */
function isMerged(schema: StructuralSchema | undefined): boolean {
  return schema?.['x-kubernetes-patch-strategy']?.split(',').includes('merge') === true
}

/**
 * Items that the client listed have the client's order. An unlisted item stays before the items that followed it in the
 * original, and after all other items.
 */
function inOrder(
  list: readonly unknown[],
  order: readonly unknown[],
  original: readonly unknown[],
  schema: StructuralSchema | undefined,
): unknown[] {
  const key = isMerged(schema) ? schema?.['x-kubernetes-patch-merge-key'] : undefined
  const idOf = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item)
  const rankIn = (items: readonly unknown[], item: unknown) =>
    items.findIndex((other) => jsonEqual(idOf(other), idOf(item)))
  const listed = list.filter((item) => rankIn(order, item) >= 0).sort((a, b) => rankIn(order, a) - rankIn(order, b))
  // Where several have the same key they come together.
  const others = list
    .filter((item) => rankIn(order, item) < 0)
    .sort((a, b) => rankIn(original, a) - rankIn(original, b))
  const result: unknown[] = []
  while (listed.length > 0 && others.length > 0) {
    const [left, right] = [rankIn(original, others[0]), rankIn(original, listed[0])]
    result.push(left >= 0 && left < right ? others.shift() : listed.shift())
  }
  return [...result, ...listed, ...others]
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isObject(item) && item['$patch'] === 'delete')).map(withoutDirectives)
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([key, child]) => !key.startsWith('$') && child !== null)
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutDirectives(child)]))
}
