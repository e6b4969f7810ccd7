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

/** How large a JSON value is. */
export interface JsonMeasure {
  /** Characters of its text without white space; a character that must be escaped counts once. */
  readonly length: number
  /** Levels of maps and lists; 0 for a text or a number. */
  readonly depth: number
}

type Scalar = number | bigint | boolean | null

/** Measures a JSON value without writing it. Maps may be objects or Map; no depth is too much for it. */
export function measureJson(value: unknown): JsonMeasure {
  let length = 0
  let depth = 0
  const open: { readonly value: unknown; readonly level: number }[] = [{ value, level: 0 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value: at, level } = next
    if (typeof at !== 'object' || at === null) {
      length += typeof at === 'string' ? at.length + 2 : `${(at ?? null) as Scalar}`.length
      continue
    }
    depth = Math.max(depth, level + 1)
    const items = at instanceof Map ? [...at.values()] : Object.values(at)
    if (!Array.isArray(at)) for (const key of at instanceof Map ? at.keys() : Object.keys(at)) length += key.length + 3
    // Brackets, and commas between the items.
    length += 2 + Math.max(0, items.length - 1)
    for (const item of items) open.push({ value: item, level: level + 1 })
  }
  return { length, depth }
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
