import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { StructuralSchema } from '../structural.ts'
import { invalid, required } from '../walk/field-error.ts'
import type { FieldError } from '../walk/field-error.ts'
import { fieldSchema } from '../walk/merge-keys.ts'
import { ASKS } from './asks.ts'
import type { Ask } from './asks.ts'
import { definitionName } from './definitions.ts'

/** What an object lacks that Kubernetes' own validation asks for. */
export function missingIn(value: unknown, schema: StructuralSchema, path = ''): FieldError[] {
  if (!asksBelow(schema)) return []
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => missingIn(item, schema.items ?? {}, `${path}[${index}]`))
  }
  if (!isObject(value)) return []
  const own = asksOf(schema).flatMap((ask) => errorsOf(ask, value, path))
  const below = Object.entries(value).flatMap(([field, child]) => {
    const known = fieldSchema(schema, field)
    return known ? missingIn(child, known, placeOf(path, field)) : []
  })
  return [...own, ...below]
}

function errorsOf(ask: Ask, object: JsonObject, path: string): FieldError[] {
  const { oneOf, where, unless, ofSeveral } = ask
  if (ofSeveral !== undefined) {
    const items = object[ofSeveral]
    if (!Array.isArray(items) || items.length < 2) return []
    return items.flatMap((item, index) =>
      isObject(item) && !isThere(item, oneOf[0]!, ask) ? [errorOf(ask, `${placeOf(path, ofSeveral)}[${index}]`)] : [],
    )
  }
  if (where && !where.slice(1).includes(String(object[where[0]]))) return []
  if (unless?.some(([at, word]) => valueAt(object, at) === word)) return []
  return oneOf.some((field) => isThere(object, field, ask)) ? [] : [errorOf(ask, path)]
}

function errorOf(ask: Ask, path: string): FieldError {
  const field = nameOf(ask, path)
  return ask.invalid === undefined ? required(field, ask.detail) : invalid(field, ask.invalid, ask.detail ?? '')
}

function nameOf({ oneOf, names = oneOf[0]! }: Ask, path: string): string {
  if (names === 'object') return path
  if (names === 'list') return path.slice(0, path.lastIndexOf('['))
  if (names === 'parent') return path.slice(0, path.lastIndexOf('.'))
  return placeOf(path, names)
}

function placeOf(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

/** To Go, an empty text, a zero and an empty list are nothing; an empty object is something. */
function isThere(object: JsonObject, path: string, { nor }: Ask): boolean {
  const value = valueAt(object, path)
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== nor
}

function valueAt(object: JsonObject, path: string): unknown {
  let value: unknown = object
  for (const field of path.split('.')) value = isObject(value) ? value[field] : undefined
  return value
}

function asksOf(schema: StructuralSchema): readonly Ask[] {
  const name = definitionName(schema)
  return (name !== undefined && ASKS[name]) || []
}

const known = new WeakMap<StructuralSchema, boolean>()

/** Whether anything is asked for in a value of this schema; most kinds need not be looked through. */
function asksBelow(schema: StructuralSchema): boolean {
  let answer = known.get(schema)
  if (answer === undefined) {
    const parts = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})]
    answer = asksOf(schema).length > 0 || parts.some((part) => isObject(part) && asksBelow(part))
    known.set(schema, answer)
  }
  return answer
}
