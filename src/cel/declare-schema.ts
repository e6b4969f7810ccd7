/** Structural schemas as CEL types, and JSON of such a schema as CEL values. */
import { escapeFieldName } from './escape-field-name.ts'
import { parseDate, parseDurationText, parseTimestamp } from './library/time.ts'
import { listType, mapType, SIMPLE } from './types.ts'
import type { CelType } from './types.ts'
import { CelFailure, CelOpaque, fromJson, JsonList, JsonMap } from './values.ts'
import type { Adapter, CelValue, ListMerge } from './values.ts'

/** What CEL needs to know of a structural schema. */
export interface CelSchema {
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, CelSchema>>
  readonly additionalProperties?: CelSchema | boolean
  readonly items?: CelSchema
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
}

/** A variable's type, and how its JSON becomes a value of it. */
export interface DeclaredType {
  readonly type: CelType
  readonly adapt: Adapter
}

/** A variable whose type is not known before it has a value. */
export const DYNAMIC: DeclaredType = { type: SIMPLE.dyn, adapt: fromJson }

/** A declared schema with its smallest size. */
export interface SizedType extends DeclaredType {
  /** The fewest bytes a value takes as JSON: bounds how many of them one request can hold. */
  readonly minSize: number
}

const MAX_REQUEST = 3 * 1024 * 1024

/** How many values of a declared schema fit into one request. */
export function maxCardinality(declared: SizedType | undefined): number {
  return Math.floor(MAX_REQUEST / ((declared?.minSize ?? 0) + 1))
}

/** The type of a schema's values; undefined when rules cannot see them. A root has apiVersion, kind and two names. */
export function declareSchema(schema: CelSchema, isRoot = false, name = 'object'): SizedType | undefined {
  return declare(schema, isRoot || schema['x-kubernetes-embedded-resource'] === true, name)
}

function declare(schema: CelSchema, isRoot: boolean, name: string): SizedType | undefined {
  const found = declareNotNull(schema, isRoot, name)
  if (!found || schema.nullable !== true) return found
  const { adapt } = found
  return { ...found, adapt: (raw) => (raw === null ? null : adapt(raw)) }
}

function declareNotNull(schema: CelSchema, isRoot: boolean, name: string): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const maxElements = schema.maxLength === undefined ? MAX_REQUEST - 2 : schema.maxLength * 4
    return { type: { kind: 'dyn', maxElements }, adapt: fromJson, minSize: 1 }
  }
  switch (schema.type) {
    case 'array':
      return declareList(schema, name)
    case 'object':
      return declareObject(isRoot ? withObjectMeta(schema) : schema, name)
    case 'string':
      return declareString(schema)
    case 'boolean':
      return { type: SIMPLE.bool, adapt: fromJson, minSize: 4 }
    case 'number':
      return { type: SIMPLE.double, adapt: (raw) => Number(raw), minSize: 1 }
    case 'integer':
      return { type: SIMPLE.int, adapt: fromJson, minSize: 1 }
    default:
      return undefined
  }
}

function declareList(schema: CelSchema, name: string): SizedType | undefined {
  const { items } = schema
  const item = items && declare(items, items['x-kubernetes-embedded-resource'] === true, `${name}.@idx`)
  if (!item) return undefined
  const merge = mergeOf(schema)
  const { adapt } = item
  return {
    type: listType(item.type, schema.maxItems ?? Math.floor((MAX_REQUEST - 2) / (item.minSize + 1))),
    adapt: (raw) => new JsonList(raw as unknown[], adapt, merge),
    minSize: 2,
  }
}

function mergeOf(schema: CelSchema): ListMerge | undefined {
  const type = schema['x-kubernetes-list-type']
  if (type !== 'set' && type !== 'map') return undefined
  return { type, keys: (schema['x-kubernetes-list-map-keys'] ?? []).map((key) => escapeFieldName(key) ?? key) }
}

function declareObject(schema: CelSchema, name: string): SizedType | undefined {
  const { additionalProperties } = schema
  if (typeof additionalProperties === 'object') {
    const isRoot = additionalProperties['x-kubernetes-embedded-resource'] === true
    const value = declare(additionalProperties, isRoot, `${name}.@elem`)
    if (!value) return undefined
    const { adapt } = value
    const most = schema.maxProperties ?? Math.floor((MAX_REQUEST - 2) / (value.minSize + 6))
    return {
      type: mapType(SIMPLE.string, value.type, most),
      adapt: (raw) => new JsonMap(raw as Record<string, unknown>, adapt),
      minSize: 2,
    }
  }
  const required = new Set(schema.required ?? [])
  const types = new Map<string, CelType>()
  const fields = new Map<string, { readonly raw: string; readonly adapt: Adapter }>()
  let minSize = 2
  for (const [raw, child] of Object.entries(schema.properties ?? {})) {
    const id = escapeFieldName(raw)
    const field = declare(child, child['x-kubernetes-embedded-resource'] === true, `${name}.${id ?? raw}`)
    if (field && required.has(raw) && child.default === undefined) minSize += raw.length + field.minSize + 4
    if (id === undefined) continue
    if (field) types.set(id, field.type)
    fields.set(id, { raw, adapt: field?.adapt ?? unseen })
  }
  return {
    type: { kind: 'object', name, fields: types },
    adapt: (raw) => new SchemaObject(raw as Record<string, unknown>, fields),
    minSize,
  }
}

/** An object of a schema: its fields under their escaped names. */
class SchemaObject extends JsonMap {
  override readonly typeName = 'object'
  private readonly fields: ReadonlyMap<string, { readonly raw: string; readonly adapt: Adapter }>
  constructor(
    raw: Readonly<Record<string, unknown>>,
    fields: ReadonlyMap<string, { readonly raw: string; readonly adapt: Adapter }>,
  ) {
    super(raw, fromJson)
    this.fields = fields
  }

  override get(key: CelValue): CelValue | undefined {
    const field = typeof key === 'string' ? this.fields.get(key) : undefined
    if (!field) return typeof key === 'string' ? this.unknown(key) : undefined
    if (!Object.hasOwn(this.raw, field.raw)) return undefined
    const value = this.raw[field.raw]
    return value === undefined ? undefined : field.adapt(value)
  }

  override keys(): Iterable<CelValue> {
    return Object.keys(this.raw).map((raw) => escapeFieldName(raw) ?? raw)
  }

  // Kept although the schema does not know it: only equality sees it.
  private unknown(key: string): CelValue | undefined {
    if (!Object.hasOwn(this.raw, key)) return undefined
    const value = this.raw[key]
    return value === undefined ? undefined : unseen(value)
  }
}

class Unseen extends CelOpaque {
  readonly typeName = 'unknownPreserved'
  readonly raw: unknown
  constructor(raw: unknown) {
    super()
    this.raw = raw
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Unseen && sameJson(this.raw, other.raw)
  }
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>]
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  )
}

const unseen: Adapter = (raw) => new Unseen(raw)

function declareString(schema: CelSchema): SizedType {
  const longest = MAX_REQUEST - 2
  switch (schema.format) {
    case 'byte':
      return { type: { kind: 'bytes', maxElements: schema.maxLength ?? longest }, adapt: fromBase64, minSize: 2 }
    case 'duration':
      return { type: { kind: 'duration', maxElements: 32 }, adapt: reading(parseDurationText, 'duration'), minSize: 3 }
    case 'date':
      return { type: { kind: 'timestamp', maxElements: 12 }, adapt: reading(parseDate, 'date'), minSize: 12 }
    case 'date-time':
      return { type: { kind: 'timestamp', maxElements: 32 }, adapt: reading(parseTimestamp, 'date-time'), minSize: 21 }
    default: {
      const values = schema.enum ?? []
      const longestValue = Math.max(0, ...values.map((value) => (typeof value === 'string' ? utf8Size(value) : 0)))
      const most = schema.maxLength === undefined ? (values.length > 0 ? longestValue : longest) : schema.maxLength * 4
      return { type: { kind: 'string', maxElements: most }, adapt: fromJson, minSize: 2 }
    }
  }
}

function utf8Size(text: string): number {
  return new TextEncoder().encode(text).length
}

function reading(parse: (text: string) => CelValue | undefined, what: string): Adapter {
  return (raw) => {
    const value = parse(String(raw))
    if (value === undefined) throw new CelFailure(`Invalid ${what} ${JSON.stringify(raw)}`)
    return value
  }
}

function fromBase64(raw: unknown): CelValue {
  try {
    return Uint8Array.fromBase64(String(raw))
  } catch {
    throw new CelFailure(`Invalid byte formatted string ${JSON.stringify(raw)}`)
  }
}

const TEXT: CelSchema = { type: 'string' }

function withObjectMeta(schema: CelSchema): CelSchema {
  const metadata: CelSchema = { type: 'object', properties: { name: TEXT, generateName: TEXT } }
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata } }
}
