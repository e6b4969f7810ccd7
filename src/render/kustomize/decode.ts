/** Plain JSON into typed values, as Go's decoder does with unknown fields disallowed: its leniency and its errors. */
import { KustomizeError } from './kustomize-error.ts'
import { isRecord } from './is-record.ts'

/** What a value must look like. */
export type Shape =
  | { readonly type: 'string' | 'bool' | 'int' | 'int64' | 'any'; readonly goType: string }
  | { readonly type: 'list' | 'map'; readonly goType: string; readonly item: Shape }
  | {
      readonly type: 'struct'
      readonly goType: string
      readonly name: string
      readonly fields: Readonly<Record<string, Shape>>
    }

/** A string. */
export const text: Shape = { type: 'string', goType: 'string' }
/** A boolean. */
export const flag: Shape = { type: 'bool', goType: 'bool' }
/** An integer of 64 bits. */
export const integer: Shape = { type: 'int64', goType: 'int64' }
/** An integer. */
export const int: Shape = { type: 'int', goType: 'int' }
export const anything: Shape = { type: 'any', goType: 'interface {}' }

/** A list. */
export function listOf(item: Shape): Shape {
  return { type: 'list', goType: `[]${item.goType}`, item }
}

/** A mapping with string keys. */
export function mapOf(item: Shape): Shape {
  return { type: 'map', goType: `map[string]${item.goType}`, item }
}

/** A struct of kustomize's `types` package, unless named otherwise. */
export function struct(name: string, fields: Readonly<Record<string, Shape>>, goType = `types.${name}`): Shape {
  return { type: 'struct', goType, name, fields }
}

interface Where {
  readonly struct: string
  readonly path: readonly string[]
  readonly strict: boolean
}

/** Decodes; null is the same as nothing. Strict decoding refuses fields that the shape does not have. */
export function decode(value: unknown, shape: Shape, strict = true): unknown {
  return decodeAt(value, shape, { struct: '', path: [], strict })
}

function decodeAt(value: unknown, shape: Shape, where: Where): unknown {
  if (value === null || value === undefined) return undefined
  switch (shape.type) {
    case 'any':
      return value
    case 'string':
      return typeof value === 'string' ? value : mismatch(value, shape, where)
    case 'bool':
      return typeof value === 'boolean' ? value : mismatch(value, shape, where)
    case 'int':
    case 'int64':
      if (typeof value === 'number' && !Number.isInteger(value)) return mismatch(value, shape, where, String(value))
      return typeof value === 'number' || typeof value === 'bigint' ? value : mismatch(value, shape, where)
    case 'list':
      if (!Array.isArray(value)) return mismatch(value, shape, where)
      return value.map((item) => decodeAt(item, shape.item, where) ?? emptyOf(shape.item))
    case 'map':
      if (!isRecord(value)) return mismatch(value, shape, where)
      return new Map(
        sortedEntries(value).map(([key, item]) => [key, decodeAt(item, shape.item, where) ?? emptyOf(shape.item)]),
      )
    case 'struct':
      return isRecord(value) ? decodeStruct(value, shape, where) : mismatch(value, shape, where)
  }
}

function decodeStruct(value: Record<string, unknown>, shape: Shape & { type: 'struct' }, where: Where): unknown {
  const result: Record<string, unknown> = {}
  for (const [key, item] of sortedEntries(value)) {
    const field = fieldFor(key, shape.fields)
    if (field === undefined) {
      if (where.strict) throw new KustomizeError(`json: unknown field ${JSON.stringify(key)}`)
      continue
    }
    const decoded = decodeAt(item, shape.fields[field]!, { ...where, struct: shape.name, path: [...where.path, field] })
    if (decoded !== undefined) result[field] = decoded
  }
  return result
}

// Go takes a field also when only its case differs.
function fieldFor(key: string, fields: Readonly<Record<string, Shape>>): string | undefined {
  if (Object.hasOwn(fields, key)) return key
  const folded = key.toLowerCase()
  return Object.keys(fields).find((field) => field.toLowerCase() === folded)
}

function emptyOf(shape: Shape): unknown {
  switch (shape.type) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int':
    case 'int64':
      return 0
    case 'struct':
      return {}
    default:
      return undefined
  }
}

function sortedEntries(value: Record<string, unknown>): [string, unknown][] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

function mismatch(value: unknown, shape: Shape, where: Where, detail = ''): never {
  const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : jsonKind(value)
  const target =
    where.struct === ''
      ? `Go value of type ${shape.goType}`
      : `Go struct field ${where.struct}.${where.path.join('.')} of type ${shape.goType}`
  throw new KustomizeError(`json: cannot unmarshal ${kind}${detail === '' ? '' : ` ${detail}`} into ${target}`)
}

function jsonKind(value: unknown): string {
  if (typeof value === 'string') return 'string'
  return typeof value === 'number' || typeof value === 'bigint' ? 'number' : 'object'
}
