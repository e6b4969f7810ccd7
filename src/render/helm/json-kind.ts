/** Names of JSON values in Go's messages. */

/** What encoding/json calls the kind of a value. */
export function jsonKind(value: unknown): string {
  if (value instanceof Map) return 'object'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'bool' : 'number'
}
