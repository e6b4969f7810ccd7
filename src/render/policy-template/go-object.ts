/** JSON as Go's unstructured objects hold it: int64 and float64 apart. */
import type { JsonObject } from '../../core/json.ts'
import { goInt64, typed } from '../gotemplate/value.ts'

/** A JSON value as templates see it. */
export function goValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? goInt64(value) : value
  if (Array.isArray(value)) return value.map(goValue)
  if (typeof value === 'object' && value !== null) return goMap(value as JsonObject)
  return value ?? null
}

/** A JSON object as a map[string]interface {}. */
export function goMap(object: JsonObject): Map<string, unknown> {
  return new Map(Object.entries(object).map(([key, value]) => [key, goValue(value)]))
}

/** A map[string]string; a missing key is the empty string. */
export function stringMap(texts: Readonly<Record<string, string>>): Map<string, unknown> {
  return typed(new Map<string, unknown>(Object.entries(texts)), { type: 'map[string]string', missing: '' })
}
