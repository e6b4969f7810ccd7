// Tested by src/dialects/argo/applicationset/generate.test.ts.
/**
 * The types of Argo CD's objects as data. Values of a shape are plain JSON without fields that are not set: what is
 * decoded, merged, filled and patched here is what Argo CD does with its typed objects.
 */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { ApplicationSetError } from '../applicationset/applicationset-error.ts'

/** A type. `pointer` tells a value that is not set from an empty one, `raw` is any JSON. */
export type Shape =
  | { readonly kind: 'string' | 'bool' | 'int' | 'intOrString' | 'raw' }
  | { readonly kind: 'pointer'; readonly to: Shape }
  | { readonly kind: 'list'; readonly items: Shape; readonly mergeKey?: string }
  | { readonly kind: 'map'; readonly values: Shape }
  | StructShape

/** A struct; `required` fields are written even when they are empty. */
export interface StructShape {
  readonly kind: 'struct'
  readonly fields: Readonly<Record<string, Shape>>
  readonly required: ReadonlySet<string>
}

/** Text. */
export const STRING: Shape = { kind: 'string' }
/** True or false. */
export const BOOL: Shape = { kind: 'bool' }
/** A whole number. */
export const INT: Shape = { kind: 'int' }
/** A whole number or text. */
export const INT_OR_STRING: Shape = { kind: 'intOrString' }
/** Any JSON. */
export const RAW: Shape = { kind: 'raw' }

/** A value that may be absent. */
export function pointer(to: Shape): Shape {
  return { kind: 'pointer', to }
}

/** A list; `mergeKey` is '' for texts that a patch adds to, and a field for objects. */
export function list(items: Shape, mergeKey?: string): Shape {
  return compact({ kind: 'list', items, mergeKey })
}

/** A map of text to values. */
export function map(values: Shape): Shape {
  return { kind: 'map', values }
}

/** Fields in Go's order; a name with `!` behind it is required. */
export function struct(fields: Readonly<Record<string, Shape>>): StructShape {
  const named = Object.entries(fields).map(([name, shape]) => [name.replace(/!$/, ''), shape] as const)
  const required = Object.keys(fields).filter((name) => name.endsWith('!'))
  return {
    kind: 'struct',
    fields: Object.fromEntries(named),
    required: new Set(required.map((name) => name.slice(0, -1))),
  }
}

/** A list of texts. */
export const STRINGS = list(STRING)
/** A map of text to text. */
export const STRING_MAP = map(STRING)

function kindOfJson(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return isObject(value) ? 'object' : typeof value === 'boolean' ? 'bool' : typeof value
}

/** Reads JSON as Go's decoder does: unknown fields vanish, null sets nothing, another type is an error. */
export function decode(value: unknown, shape: Shape, path = ''): unknown {
  if (shape.kind === 'raw') return value
  if (value === null || value === undefined) return undefined
  const fail = (): never => {
    throw new ApplicationSetError(`json: cannot unmarshal ${kindOfJson(value)} into ${path || 'the object'}`)
  }
  switch (shape.kind) {
    case 'pointer':
      return decode(value, shape.to, path)
    case 'string':
      return typeof value === 'string' ? value : fail()
    case 'bool':
      return typeof value === 'boolean' ? value : fail()
    case 'int':
      return typeof value === 'number' && Number.isInteger(value) ? value : fail()
    case 'intOrString':
      return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value)) ? value : fail()
    case 'list':
      if (!Array.isArray(value)) return fail()
      if (shape.items.kind === 'raw') return value.map((item: unknown) => item ?? undefined)
      return value.map((item) => decode(item, shape.items, path) ?? zeroOf(shape.items))
    case 'map': {
      if (!isObject(value)) return fail()
      const entries = Object.entries(value).map(
        ([key, item]) => [key, decode(item, shape.values, path) ?? zeroOf(shape.values)] as const,
      )
      return Object.fromEntries(entries)
    }
    case 'struct':
      return isObject(value) ? decodeStruct(value, shape, path) : fail()
  }
}

function decodeStruct(value: JsonObject, shape: StructShape, path: string): JsonObject {
  const out: JsonObject = {}
  for (const [name, field] of Object.entries(shape.fields)) {
    // Go's decoder takes another letter case, too.
    const key = Object.hasOwn(value, name)
      ? name
      : Object.keys(value).find((one) => one.toLowerCase() === name.toLowerCase())
    if (key === undefined) continue
    const read = decode(value[key], field, path === '' ? name : `${path}.${name}`)
    if (read !== undefined) out[name] = read
  }
  return out
}

function zeroOf(shape: Shape): unknown {
  switch (shape.kind) {
    case 'string':
      return ''
    case 'bool':
      return false
    case 'int':
    case 'intOrString':
      return 0
    case 'list':
      return []
    case 'pointer':
    case 'raw':
      return null
    case 'map':
    case 'struct':
      return {}
  }
}

/** The fields of a struct or a map; decoding has checked that it is one. */
function fieldsOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The items of a list; decoding has checked that it is one. */
function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Whether Go would call a value empty: mergo looks through pointers. */
function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return value === undefined || value === null || value === '' || value === false || value === 0
}

/** A value with what another has besides, field by field; lists are not merged. */
export function mergeShapes(value: unknown, other: unknown, shape: Shape): unknown {
  if (other === undefined || other === null) return value
  if (value === undefined || value === null) return other
  switch (shape.kind) {
    case 'pointer':
      return mergeShapes(value, other, shape.to)
    case 'raw':
      return value
    case 'struct': {
      const out: JsonObject = {}
      for (const [name, field] of Object.entries(shape.fields)) {
        const merged = mergeShapes(fieldsOf(value)[name], fieldsOf(other)[name], field)
        if (merged !== undefined) out[name] = merged
      }
      return out
    }
    case 'map': {
      const out = { ...fieldsOf(value) }
      for (const [key, item] of Object.entries(fieldsOf(other))) {
        if (!Object.hasOwn(out, key) || isEmpty(out[key])) out[key] = item
      }
      return out
    }
    default:
      return isEmpty(value) && !isEmpty(other) ? other : value
  }
}

/** What fills a value: every text and key, and, where it says so, a whole field. */
export interface Filler {
  text(text: string): string
  /** A map of a struct that is filled in its own way; undefined for every other one. */
  field?(value: unknown, name: string, shape: StructShape): { readonly filled: unknown } | undefined
}

/** Fills all texts of a value, in the order of Go's fields. */
export function fillShape(value: unknown, shape: Shape, filler: Filler): unknown {
  switch (shape.kind) {
    case 'pointer':
      return value === undefined ? undefined : fillShape(value, shape.to, filler)
    case 'raw':
      return fillJson(value ?? null, filler)
    case 'string':
      return filler.text(typeof value === 'string' ? value : '')
    case 'intOrString':
      return typeof value === 'string' ? filler.text(value) : value
    case 'list':
      return value === undefined ? undefined : itemsOf(value).map((item) => fillShape(item, shape.items, filler))
    case 'map':
      return value === undefined
        ? undefined
        : fillMap(fieldsOf(value), (item) => fillShape(item, shape.values, filler), filler)
    case 'struct':
      return fillStruct(fieldsOf(value), shape, filler)
    default:
      return value
  }
}

function fillStruct(value: JsonObject, shape: StructShape, filler: Filler): JsonObject {
  const out: JsonObject = {}
  for (const [name, field] of Object.entries(shape.fields)) {
    if (!Object.hasOwn(value, name)) {
      // What Go copies is no longer nil: a selector without labels has an empty map of them.
      if (field.kind === 'map') out[name] = {}
      else if (field.kind === 'list') out[name] = []
      else if (field.kind === 'struct') out[name] = fillStruct({}, field, filler)
      continue
    }
    const own = filler.field?.(value[name], name, shape)
    const filled = own ? own.filled : fillShape(value[name], field, filler)
    if (filled !== undefined) out[name] = filled
  }
  return out
}

function fillMap(value: JsonObject, fill: (item: unknown) => unknown, filler: Filler): JsonObject {
  const out: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    const filled = fill(item)
    Object.defineProperty(out, filler.text(key), {
      value: filled,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return out
}

/** Fills the texts of JSON; a null of a map is dropped, one of a list stays. */
function fillJson(value: unknown, filler: Filler): unknown {
  if (typeof value === 'string') return filler.text(value)
  if (Array.isArray(value)) return value.map((item) => fillJson(item, filler))
  if (!isObject(value)) return value
  const present = Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
  return fillMap(present, (item) => fillJson(item, filler), filler)
}

/** The JSON of a value: empty fields are left out, except required fields and what a pointer holds. */
export function encode(value: unknown, shape: Shape): unknown {
  switch (shape.kind) {
    case 'pointer':
      return value === undefined ? undefined : encode(value, shape.to)
    case 'list':
      return itemsOf(value).map((item) => encode(item, shape.items))
    case 'struct': {
      const out: JsonObject = {}
      for (const [name, field] of Object.entries(shape.fields)) {
        const item = fieldsOf(value)[name]
        const isRequired = shape.required.has(name)
        if (item === undefined) {
          if (isRequired) out[name] = field.kind === 'struct' ? encode({}, field) : zeroOf(field)
          continue
        }
        if (
          isRequired ||
          field.kind === 'pointer' ||
          field.kind === 'struct' ||
          field.kind === 'raw' ||
          !isEmpty(item)
        ) {
          const encoded = encode(item, field)
          if (isRequired || field.kind !== 'struct' || !isEmpty(encoded)) out[name] = encoded
        }
      }
      return out
    }
    default:
      return value
  }
}

/** A field that holds text; '' when it does not. */
export function textField(object: JsonObject, name: string): string {
  const value = object[name]
  return typeof value === 'string' ? value : ''
}
