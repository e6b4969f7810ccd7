import { ApiError } from '../../core/errors.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
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
  return mergeMap(isObject(value) ? value : {}, patch, root, { merged: 0 })
}

/**
 * Fields and list items that a patch may merge. An object and a patch of the largest size have fewer together: only a
 * patch that names the same item again and again comes here, and each time the whole item is merged.
 */
const MAX_MERGED = 3_000_000

/** The cost of a patch so far. */
interface Work {
  merged: number
}

function noteMerge(entries: number, work: Work): void {
  work.merged += entries
  if (work.merged <= MAX_MERGED) return
  const count = `the number of fields and list items it merges is more than the limit ${MAX_MERGED}`
  throw new ApiError('RequestEntityTooLarge', `Unable to complete the patch, ${count}`)
}

const DELETE_FROM = '$deleteFromPrimitiveList/'
const ORDER = '$setElementOrder/'

function mergeMap(
  original: JsonObject,
  patch: JsonObject,
  schema: StructuralSchema | undefined,
  work: Work,
): JsonObject {
  if (patch['$patch'] === 'replace') {
    const { $patch: _directive, ...rest } = patch
    return withoutDirectives(rest) as JsonObject
  }
  if (patch['$patch'] === 'delete') return {}
  noteMerge(Object.keys(original).length + Object.keys(patch).length, work)
  const result: JsonObject = { ...original }
  const retained = patch['$retainKeys']
  if (Array.isArray(retained)) {
    const kept = new Set<unknown>(retained)
    for (const key of Object.keys(result)) if (!kept.has(key)) delete result[key]
  }
  for (const [key, change] of Object.entries(patch)) {
    if (key.startsWith('$')) continue
    const child = fieldSchema(schema, key)
    const before = result[key]
    const next =
      isObject(change) && isObject(before)
        ? mergeMap(before, change, child, work)
        : Array.isArray(change) && Array.isArray(before)
          ? mergeList(before, change, child, work)
          : taken(change)
    if (next === undefined) delete result[key]
    else result[key] = next
  }
  for (const [key, removed] of Object.entries(patch)) {
    if (!key.startsWith(DELETE_FROM) || !Array.isArray(removed)) continue
    const field = key.slice(DELETE_FROM.length)
    const list = result[field]
    if (!Array.isArray(list)) continue
    noteMerge(list.length + removed.length, work)
    const gone = new Set(removed.map(canonicalJson))
    result[field] = list.filter((item: unknown) => !gone.has(canonicalJson(item)))
  }
  for (const [key, order] of Object.entries(patch)) {
    if (!key.startsWith(ORDER) || !Array.isArray(order)) continue
    const field = key.slice(ORDER.length)
    const list = result[field]
    if (!Array.isArray(list)) continue
    noteMerge(list.length + order.length, work)
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
  work: Work,
): unknown[] {
  if (!isMerged(schema)) return withoutDirectives(patch) as unknown[]
  noteMerge(original.length + patch.length, work)
  const key = schema?.['x-kubernetes-patch-merge-key']
  if (key === undefined) {
    const known = new Set(original.map(canonicalJson))
    const all = [...original, ...patch.filter((item) => !known.has(canonicalJson(item)))]
    return inOrder(all, patch, original, schema)
  }
  if (patch.some((item) => isObject(item) && item['$patch'] === 'replace')) {
    const items = patch.filter(
      (item) => !(isObject(item) && item['$patch'] === 'replace' && Object.keys(item).length === 1),
    )
    return withoutDirectives(items) as unknown[]
  }
  return inOrder(mergeKeyed({ original, patch, key, schema: schema?.items }, work), patch, original, schema)
}

interface KeyedLists {
  readonly original: readonly unknown[]
  readonly patch: readonly unknown[]
  readonly key: string
  /** Of one item. */
  readonly schema: StructuralSchema | undefined
}

/** Where several items of the original have the same key, a patch is for the first that is still there. */
function mergeKeyed({ original, patch, key, schema }: KeyedLists, work: Work): unknown[] {
  const result: (JsonObject | undefined)[] = []
  const places = new Map<string, number[]>()
  const append = (item: JsonObject, id: string): void => {
    const same = places.get(id)
    if (same) same.push(result.length)
    else places.set(id, [result.length])
    result.push(item)
  }
  for (const item of original as readonly JsonObject[]) append(item, isObject(item) ? idText(item[key]) : '')
  // The first place of each is taken first.
  for (const same of places.values()) same.reverse()
  for (const item of patch) {
    if (!isObject(item)) throw badRequest('a strategic merge patch of a keyed list must hold objects')
    if (!Object.hasOwn(item, key))
      throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
    const id = idText(item[key])
    const index = places.get(id)?.at(-1)
    if (item['$patch'] === 'delete') {
      if (index === undefined) continue
      result[index] = undefined
      places.get(id)!.pop()
    } else if (index === undefined) append(mergeMap({}, item, schema, work), id)
    else result[index] = mergeMap(result[index]!, item, schema, work)
  }
  return result.filter((item) => item !== undefined)
}

/** Equal values have the same text, and no value has the empty text. */
function idText(value: unknown): string {
  return value === undefined ? 'undefined' : canonicalJson(value)
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
  const idOf = (item: unknown) => idText(key !== undefined && isObject(item) ? item[key] : item)
  const [orderRank, originalRank] = [ranks(order, idOf), ranks(original, idOf)]
  const ranked = list.map((item) => {
    const id = idOf(item)
    return { item, listed: orderRank.get(id) ?? -1, before: originalRank.get(id) ?? -1 }
  })
  const listed = ranked.filter((item) => item.listed >= 0).sort((a, b) => a.listed - b.listed)
  // Where several have the same key they come together.
  const others = ranked.filter((item) => item.listed < 0).sort((a, b) => a.before - b.before)
  const result: unknown[] = []
  let [nextListed, nextOther] = [0, 0]
  while (nextListed < listed.length && nextOther < others.length) {
    const [left, right] = [others[nextOther]!.before, listed[nextListed]!.before]
    result.push(left >= 0 && left < right ? others[nextOther++]!.item : listed[nextListed++]!.item)
  }
  return [...result, ...[...listed.slice(nextListed), ...others.slice(nextOther)].map(({ item }) => item)]
}

/** The first place of each item. A single pass: a search for each item would take for ever with a long list. */
function ranks(items: readonly unknown[], idOf: (item: unknown) => string): ReadonlyMap<string, number> {
  const result = new Map<string, number>()
  items.forEach((item, index) => {
    const id = idOf(item)
    if (!result.has(id)) result.set(id, index)
  })
  return result
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.filter((item) => !(isObject(item) && item['$patch'] === 'delete')).map(withoutDirectives)
  }
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([key, child]) => !key.startsWith('$') && child !== null)
  return Object.fromEntries(entries.map(([key, child]) => [key, withoutDirectives(child)]))
}
