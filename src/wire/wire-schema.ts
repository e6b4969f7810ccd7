/** Schemas of the wire that are derived from schemas of kinds, so that a field is declared once. */
import type { TProperties, TSchema } from 'typebox'
import { Type } from '../core/schema/typebox.ts'
import { LIMITS } from './limits.ts'

/** An RFC 3339 time in UTC. */
export const TIME_PATTERN = '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$'

interface KindSchema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly [keyword: string]: unknown
}

/** Keywords of a kind that check nothing on the wire. */
const NOT_ON_WIRE = new Set(['default', 'description', 'format', 'required', 'properties', 'items'])

/**
 * The schema of a kind as the wire checks it. Unlike an API server, which prunes unknown fields and accepts long
 * messages, the wire refuses unknown fields, cuts the limit of a text to `LIMITS.messageChars`, and accepts times
 * only in UTC.
 *
 *     wireSchema(object({ message: text({ max: 4096 }) })) // { message: at most 1024 characters }, and no other
 * field
 */
export function wireSchema<S extends TSchema>(schema: S): S {
  const kept = derive(schema as unknown as KindSchema)
  return ('~optional' in schema ? Type.Optional(kept) : kept) as unknown as S
}

/** `wireSchema` of the properties of an object. */
export function wireProperties<P extends TProperties>(properties: P): P {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, wireSchema(schema)])) as P
}

function derive(schema: KindSchema): TSchema {
  const { properties, items, format } = schema
  if (properties) return Type.Object(wireProperties(properties as TProperties), { additionalProperties: false })
  if (format === 'date-time') return Type.String({ maxLength: 40, pattern: TIME_PATTERN })
  const checks: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !NOT_ON_WIRE.has(keyword) && !keyword.startsWith('x-kubernetes-')),
  )
  if (typeof checks['maxLength'] === 'number') checks['maxLength'] = Math.min(checks['maxLength'], LIMITS.messageChars)
  return Type.Unsafe({ ...checks, ...(items && { items: wireSchema(items) }) })
}
