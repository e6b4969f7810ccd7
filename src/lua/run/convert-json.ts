// Tested by src/lua/lua.test.ts
/** JSON as values of a script, and back. */
import { LuaError, LuaTable, typeName } from './values.ts'
import type { Budget, LuaValue } from './values.ts'

const MAX_DEPTH = 200

/** The value of a script for JSON; null is nil. */
export function fromJson(json: unknown, depth = 0): LuaValue {
  if (depth > MAX_DEPTH) throw new LuaError(`the object is nested deeper than ${MAX_DEPTH} levels`)
  if (typeof json === 'string') return toByteString(json)
  if (typeof json === 'number' || typeof json === 'boolean') return json
  if (typeof json !== 'object' || json === null) return undefined
  const table = new LuaTable()
  if (Array.isArray(json)) {
    for (const [at, item] of json.entries()) table.set(at + 1, fromJson(item, depth + 1))
  } else {
    for (const [key, value] of Object.entries(json)) table.set(toByteString(key), fromJson(value, depth + 1))
  }
  return table
}

/**
 * The JSON of a value; throws LuaError for functions, and for tables that contain themselves. A table in two places is
 * written twice, so that the JSON counts as memory, however little the tables need.
 */
export function toJson(value: LuaValue, budget: Budget, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new LuaError('a table contains itself, or is nested too deeply')
  budget.allocate(typeof value === 'string' ? value.length + 1 : 1)
  if (value === undefined) return null
  if (typeof value === 'string') return fromByteString(value)
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new LuaError('a number is not finite')
    return value
  }
  if (!(value instanceof LuaTable)) throw new LuaError(`a ${typeName(value)} has no JSON`)
  const entries = [...value.entries()]
  if (value.length > 0) {
    if (entries.length > 0) throw new LuaError('a table has positions and other keys')
    return value.items.map((item) => toJson(item, budget, depth + 1))
  }
  return Object.fromEntries(
    entries.map(([key, item]) => {
      if (typeof key !== 'string') throw new LuaError(`a key of a table is a ${typeName(key)}`)
      budget.allocate(key.length)
      return [fromByteString(key), toJson(item, budget, depth + 1)]
    }),
  )
}

const ASCII = /^[\0-\x7f]*$/
const encoder = new TextEncoder()
// As Go's JSON does it, bytes that are no UTF-8 become U+FFFD.
const decoder = new TextDecoder('utf-8')

/** The UTF-8 bytes of a text, one character for each. */
export function toByteString(text: string): string {
  if (ASCII.test(text)) return text
  let bytes = ''
  for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}

/** The text of a byte string. */
export function fromByteString(bytes: string): string {
  return ASCII.test(bytes) ? bytes : decoder.decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)))
}
