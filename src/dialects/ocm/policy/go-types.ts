// Tested by src/dialects/ocm/policy/recorded.contract.test.ts.
/** What Go's JSON decoder says of values that do not fit a type. */
import { isGoObject, sortedKeys, sprint } from '../../../plan/policy/go-value.ts'
import type { GoObject, GoValue } from '../../../plan/policy/go-value.ts'

/** A struct of Go with its fields by their JSON names. */
export interface GoStructType {
  /** As error messages name the holder of a field: `PodSpec`. */
  readonly struct: string
  /** With its package: `v1.PodSpec`. */
  readonly name: string
  readonly fields: Readonly<Record<string, GoType>>
}

/** A type of Go; `any` holds what it likes. */
export type GoType =
  | GoStructType
  | { readonly list: GoType; readonly pointers?: boolean }
  | { readonly map: GoType; readonly name?: string }
  | { readonly scalar: 'string' | 'bool' | 'int' | 'float' | 'bytes'; readonly name: string }
  | 'any'

/** A text of a named type. */
export function textType(name = 'string'): GoType {
  return { scalar: 'string', name }
}

/** The labels, annotations and other metadata of an object. */
export const METADATA_TYPE: GoStructType = {
  struct: 'ObjectMeta',
  name: 'v1.ObjectMeta',
  fields: {
    name: textType(),
    generateName: textType(),
    namespace: textType(),
    selfLink: textType(),
    uid: textType('types.UID'),
    resourceVersion: textType(),
    generation: { scalar: 'int', name: 'int64' },
    creationTimestamp: 'any',
    deletionTimestamp: 'any',
    deletionGracePeriodSeconds: { scalar: 'int', name: 'int64' },
    labels: { map: textType() },
    annotations: { map: textType() },
    ownerReferences: 'any',
    finalizers: { list: textType() },
    managedFields: 'any',
  },
}

/** The first problem of a value; undefined if it fits. Fields that a type does not have are an error if `strict`. */
export function decodeProblem(
  value: GoObject,
  type: GoStructType,
  { strict }: { readonly strict: boolean },
): string | undefined {
  return new Decoder(strict).problem(value, type, { path: [], holder: '' })
}

/** The value with the names of its fields as the type has them: Go takes them in any case. */
export function withFieldNames(value: GoValue, type: GoType): GoValue {
  if (type === 'any' || 'scalar' in type) return value
  if ('list' in type) return Array.isArray(value) ? value.map((item) => withFieldNames(item, type.list)) : value
  if (!isGoObject(value) || 'map' in type) return value
  const named: GoObject = {}
  for (const key of Object.keys(value)) {
    const field = fieldNameOf(type, key)
    named[field ?? key] = field === undefined ? value[key]! : withFieldNames(value[key]!, type.fields[field]!)
  }
  return named
}

function fieldNameOf({ fields }: GoStructType, key: string): string | undefined {
  if (Object.hasOwn(fields, key)) return key
  return Object.keys(fields).find((name) => name.toLowerCase() === key.toLowerCase())
}

interface Place {
  readonly path: readonly string[]
  /** The struct whose field this is. */
  readonly holder: string
}

class Decoder {
  readonly #strict: boolean

  constructor(strict: boolean) {
    this.#strict = strict
  }

  problem(value: GoValue, type: GoType, place: Place): string | undefined {
    if (type === 'any' || value === null) return undefined
    if ('scalar' in type) return scalarProblem(value, type, place)
    if ('list' in type) {
      if (!Array.isArray(value)) return mismatch(value, type, place)
      return first(value, (item) => this.problem(item, type.list, place))
    }
    if (!isGoObject(value)) return mismatch(value, type, place)
    if ('map' in type) return first(sortedKeys(value), (key) => this.problem(value[key]!, type.map, place))
    return first(sortedKeys(value), (key) => {
      const field = fieldNameOf(type, key)
      if (field === undefined) return this.#strict ? `json: unknown field ${JSON.stringify(key)}` : undefined
      return this.problem(value[key]!, type.fields[field]!, { path: [...place.path, field], holder: type.struct })
    })
  }
}

function scalarProblem(value: GoValue, type: Extract<GoType, { scalar: string }>, place: Place): string | undefined {
  const kind = typeof value
  switch (type.scalar) {
    case 'string':
      return kind === 'string' ? undefined : mismatch(value, type, place)
    case 'bool':
      return kind === 'boolean' ? undefined : mismatch(value, type, place)
    case 'float':
      return kind === 'number' || kind === 'bigint' ? undefined : mismatch(value, type, place)
    case 'int':
      if (kind === 'number') return mismatch(value, type, place, `number ${sprint(value)}`)
      return kind === 'bigint' ? undefined : mismatch(value, type, place)
    case 'bytes': {
      if (typeof value !== 'string') return mismatch(value, type, place)
      const at = badBase64(value)
      return at === undefined ? undefined : `illegal base64 data at input byte ${at}`
    }
  }
}

function first<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = find(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function nameOf(type: GoType): string {
  if (type === 'any') return 'interface {}'
  if ('list' in type) return `[]${type.pointers ? '*' : ''}${nameOf(type.list)}`
  if ('map' in type) return type.name ?? `map[string]${nameOf(type.map)}`
  return type.name
}

function mismatch(value: GoValue, type: GoType, { path, holder }: Place, shown = jsonKind(value)): string {
  const where = holder === '' ? 'Go value' : `Go struct field ${holder}.${path.join('.')}`
  return `json: cannot unmarshal ${shown} into ${where} of type ${nameOf(type)}`
}

function jsonKind(value: GoValue): string {
  if (Array.isArray(value)) return 'array'
  if (isGoObject(value)) return 'object'
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'bool' : 'number'
}

/** Where Go's base64 decoder stops; undefined if the text is valid. */
function badBase64(given: string): number | undefined {
  const text = given.replaceAll(/[\r\n]/g, '')
  const invalid = text.search(/[^A-Za-z0-9+/]/)
  const body = invalid < 0 ? text.length : invalid
  const rest = text.slice(body)
  const open = body % 4
  if (rest === '') return open === 0 ? undefined : body - open
  const padding = open === 2 ? '==' : open === 3 ? '=' : ''
  if (padding !== '' && rest === padding) return undefined
  return padding !== '' && rest.startsWith(padding) ? body + padding.length : body
}
