/** Values as templates see them: Maps that are shared and changed in place, as Go's maps are. */
import { isObject } from '../../../core/json.ts'
import { GoInt, GoNamed } from '../../gotemplate/value.ts'

/** A map[string]interface {}. */
export type Dict = Map<string, unknown>

/** Whether a value is a table in Helm's sense. */
export function isTable(value: unknown): value is Dict {
  return value instanceof Map
}

/** A deep copy of maps and lists. */
function copyValue(value: unknown): unknown {
  if (value instanceof Map) return copyTable(value as Dict)
  if (Array.isArray(value)) return value.map(copyValue)
  if (value instanceof GoNamed && value.value instanceof Map)
    return new GoNamed(copyTable(value.value as Dict), value.info)
  return value
}

/** A deep copy of a table. */
export function copyTable(table: Dict): Dict {
  const copy: Dict = new Map()
  for (const [key, value] of table) copy.set(key, copyValue(value))
  return copy
}

/** The table at a path of keys, or undefined. */
export function tableAt(values: Dict, path: string): Dict | undefined {
  let table: Dict = values
  for (const key of path.split('.')) {
    const next = table.get(key)
    if (!isTable(next)) return undefined
    table = next
  }
  return table
}

/** The value at a path, unless there is none or it is a table. */
export function valueAt(values: Dict, path: string): { readonly value: unknown } | undefined {
  const keys = path.split('.')
  const last = keys.pop()!
  const table = keys.length === 0 ? values : tableAt(values, keys.join('.'))
  if (!table?.has(last) || isTable(table.get(last))) return undefined
  return { value: table.get(last) ?? null }
}

/** JSON with its objects as tables; lists and tables are copies. */
export function tableFromJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tableFromJson)
  return isObject(value) ? new Map(Object.entries(value).map(([key, item]) => [key, tableFromJson(item)])) : value
}

/** The reverse: tables as objects, Go's integers as numbers, and what is not there as null. */
export function jsonFromTable(value: unknown): unknown {
  if (value instanceof GoInt) return Number(value.value)
  if (Array.isArray(value)) return value.map(jsonFromTable)
  if (!(value instanceof Map)) return value ?? null
  return Object.fromEntries([...(value as Dict)].map(([key, item]) => [key, jsonFromTable(item)]))
}
