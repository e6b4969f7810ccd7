/** JSON as a type, and the few operations on it that everyone needs. */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** A JSON object that may be changed. */
export type JsonObject = { [key: string]: unknown }

/** True for plain objects (not arrays, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Deep equality of JSON values; key order does not count, undefined fields count as absent. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && itemsEqual(a, b)
  return !Array.isArray(b) && fieldsEqual(a as JsonObject, b as JsonObject)
}

// Loops without closures: every pass of every controller compares what it saw with what it wants.
function itemsEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index++) if (!jsonEqual(a[index], b[index])) return false
  return true
}

function fieldsEqual(a: JsonObject, b: JsonObject): boolean {
  let fields = 0
  for (const key of Object.keys(a)) {
    const value = a[key]
    if (value === undefined) continue
    if (!Object.hasOwn(b, key) || !jsonEqual(value, b[key])) return false
    fields += 1
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) fields -= 1
  return fields === 0
}

/** A deep copy of a JSON value. */
export function jsonClone<T>(value: T): T {
  return cloneOf(value) as T
}

// By hand: structuredClone serializes, which costs several times as much for small objects.
function cloneOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneOf)
  if (!isObject(value)) return value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    if (key === '__proto__')
      Object.defineProperty(copy, key, {
        value: cloneOf(value[key]),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    else copy[key] = cloneOf(value[key])
  }
  return copy
}

/** JSON with sorted keys and no white space: equal values have equal bytes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (isObject(value)) {
    const fields = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`)
    return `{${fields.join(',')}}`
  }
  return JSON.stringify(value ?? null)
}
