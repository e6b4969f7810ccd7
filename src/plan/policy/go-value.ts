// Tested by src/plan/policy/evaluate-policy.test.ts.
/**
 * JSON as Go's unstructured objects hold it, because policies are compared by what Go prints: a bigint is an int64, a
 * number a float64.
 */
import { goFloat } from '../../yaml/go-text.ts'

/** A value of an object. */
export type GoValue = null | boolean | string | bigint | number | GoValue[] | GoObject

/** A mapping with text keys. */
export interface GoObject {
  [key: string]: GoValue
}

/** Whether a value is a mapping. */
export function isGoObject(value: GoValue | undefined): value is GoObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const INT64 = 2n ** 63n

/** A plain JSON value, with bigints where integers are exact, as Kubernetes decodes it. */
export function goValue(value: unknown): GoValue {
  if (typeof value === 'bigint') return value >= -INT64 && value < INT64 ? value : Number(value)
  if (typeof value === 'number')
    return Number.isInteger(value) && Math.abs(value) < 1e21 ? goValue(BigInt(value)) : value
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(goValue)
  if (typeof value !== 'object' || value === null) return null
  return mapped(value as Record<string, unknown>, goValue)
}

/** A deep copy. */
export function copyOf<T extends GoValue>(value: T): T {
  if (Array.isArray(value)) return value.map(copyOf) as T
  return isGoObject(value) ? (mapped(value, copyOf) as T) : value
}

function mapped<V>(object: Readonly<Record<string, V>>, make: (value: V) => GoValue): GoObject {
  const copy: GoObject = {}
  for (const key of Object.keys(object)) {
    if (object[key] === undefined) continue
    // `__proto__` is a key as any other.
    Object.defineProperty(copy, key, {
      value: make(object[key]!),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return copy
}

/** The value of a key that may be missing. */
export function fieldOf(object: GoObject, key: string): GoValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** A text at a path; empty if it is not there or no text. */
export function textAt(object: GoObject, ...path: readonly string[]): string {
  let value: GoValue | undefined = object
  for (const key of path) value = isGoObject(value) ? fieldOf(value, key) : undefined
  return typeof value === 'string' ? value : ''
}

/** fmt.Sprint. */
export function sprint(value: GoValue | undefined): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'number') return goFloat(value)
  if (Array.isArray(value)) return `[${value.map(sprint).join(' ')}]`
  if (!isGoObject(value)) return String(value)
  return `map[${sortedKeys(value)
    .map((key) => `${key}:${sprint(value[key])}`)
    .join(' ')}]`
}

/** Keys by their bytes. */
export function sortedKeys(object: GoObject): string[] {
  return Object.keys(object).sort()
}

/** reflect.DeepEqual: an int64 never equals a float64. */
export function deepEqual(a: GoValue, b: GoValue): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => deepEqual(item, b[at]!))
  if (!isGoObject(a)) return Object.is(a, b)
  if (!isGoObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && deepEqual(a[key]!, b[key]!))
  )
}

/** The Go type as error messages name it. */
export function goTypeName(value: GoValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (isGoObject(value)) return 'map[string]interface {}'
  const names = { string: 'string', boolean: 'bool', bigint: 'int64', number: 'float64' } as const
  return names[typeof value as keyof typeof names]
}
