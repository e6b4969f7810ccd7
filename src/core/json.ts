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
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
  }
  if (!isObject(a) || !isObject(b)) return false
  const keysA = Object.keys(a).filter((key) => a[key] !== undefined)
  const keysB = Object.keys(b).filter((key) => b[key] !== undefined)
  return keysA.length === keysB.length && keysA.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key], b[key]))
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
