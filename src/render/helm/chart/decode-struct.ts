/**
 * sigs.k8s.io/yaml's unmarshalling into Go structs: field names match in any case, and numbers and booleans become text
 * where the field is a string.
 */
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { GoError } from '../../gotemplate/function.ts'
import { formatFloat } from '../../gotemplate/format-float.ts'
import { goInt64, GoInt } from '../../gotemplate/value.ts'
import type { Dict } from '../values/dict.ts'
import { UTC } from '../functions/go/go-time.ts'
import { parseLayout } from '../functions/go/parse-time.ts'
import { jsonKind } from '../json-kind.ts'
import { UnmarshalError, yamlSource } from '../read-yaml.ts'

/** A Go type that YAML is decoded into. */
export type FieldType =
  | { readonly kind: 'string' | 'bool' | 'any' | 'time' }
  | { readonly kind: 'list'; readonly of: FieldType; readonly name: string }
  | { readonly kind: 'stringMap' }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: Readonly<Record<string, FieldType>> }

/** What a struct became: only the fields that the text had. */
export type Decoded = Readonly<Record<string, unknown>>

/**
 * Decodes the first document of a text into a struct, over what is in it `before`. `typeName` is Go's, for its
 * messages.
 */
export function decodeYaml(
  text: string | Uint8Array,
  type: FieldType & { readonly kind: 'struct' },
  typeName: string,
  before: Decoded = {},
): Decoded {
  let value: unknown
  try {
    ;({ value } = readFirstYaml(yamlSource(text), { duplicateKeys: 'last', mappings: 'map', integer: goInt64 }))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new UnmarshalError(`error converting YAML to JSON: ${error.goMessage}`)
  }
  if (value === null || value === undefined) return before
  const decoder = new Decoder()
  const decoded = decoder.decode(value, type, { path: [], struct: '', typeName }, before)
  if (decoder.problem !== undefined) {
    throw new UnmarshalError(`error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${decoder.problem}`)
  }
  return (decoded ?? {}) as Decoded
}

interface Place {
  readonly path: readonly string[]
  readonly struct: string
  readonly typeName: string
}

/** encoding/json continues after a value of the wrong type and reports the first error at the end. */
class Decoder {
  problem: string | undefined

  /**
   * What a place holds then: a null empties lists and maps and leaves the rest, a struct and a map keep what they are
   * not told.
   */
  decode(given: unknown, type: FieldType, place: Place, before?: unknown): unknown {
    if (given === null || given === undefined) {
      return type.kind === 'list' || type.kind === 'stringMap' || type.kind === 'any' ? undefined : before
    }
    const value = type.kind === 'string' ? scalarText(given) : given
    switch (type.kind) {
      case 'any':
        return plainNumbers(value)
      case 'string':
        return typeof value === 'string' ? value : this.#wrong(value, 'string', place)
      case 'bool':
        return typeof value === 'boolean' ? value : this.#wrong(value, 'bool', place)
      case 'list':
        if (!Array.isArray(value)) return this.#wrong(value, `[]${type.name}`, place)
        return value.map((item, at) => this.#item(item, type.of, place, (before as unknown[] | undefined)?.[at]))
      case 'stringMap':
        if (!(value instanceof Map)) return this.#wrong(value, 'map[string]string', place)
        return this.#stringMap(value as Dict, place, before as ReadonlyMap<string, string> | undefined)
      case 'struct':
        if (!(value instanceof Map)) return this.#wrong(value, place.typeName || type.name, place)
        return this.#struct(value as Dict, type, place, before as Decoded | null | undefined)
      case 'time':
        return readTime(value)
    }
  }

  /** Structs in lists are behind pointers, which a null empties; what else is there stays. */
  #item(item: unknown, of: FieldType, place: Place, before: unknown): unknown {
    return this.decode(item, of, place, item === null && of.kind === 'struct' ? undefined : before) ?? null
  }

  #stringMap(value: Dict, place: Place, before: ReadonlyMap<string, string> = new Map()): Map<string, string> {
    const result = new Map<string, string>(before)
    for (const [key, item] of value) {
      const text = this.decode(item, { kind: 'string' }, place)
      result.set(key, (text as string | undefined) ?? '')
    }
    return result
  }

  #struct(
    value: Dict,
    type: FieldType & { readonly kind: 'struct' },
    place: Place,
    before: Decoded | null | undefined,
  ): Decoded {
    const result: Record<string, unknown> = { ...before }
    for (const [key, item] of [...value].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const name = Object.hasOwn(type.fields, key)
        ? key
        : Object.keys(type.fields).find((field) => field.toLowerCase() === key.toLowerCase())
      if (name === undefined) continue
      // The innermost struct is named, without its package; an anonymous struct has no name.
      const struct = type.name.startsWith('struct {') ? '' : type.name.replace(/^.*\./, '')
      const at: Place = { path: [...place.path, name], struct, typeName: '' }
      result[name] = this.decode(item, type.fields[name]!, at, result[name])
      if (result[name] === undefined) delete result[name]
    }
    return result
  }

  #wrong(value: unknown, type: string, place: Place): undefined {
    const where =
      place.path.length === 0
        ? `Go value of type ${place.typeName}`
        : `Go struct field ${place.struct}.${place.path.join('.')} of type ${type}`
    this.problem ??= `${jsonKind(value)} into ${where}`
    return undefined
  }
}

const RFC3339 = '2006-01-02T15:04:05Z07:00'

/** Ends the decoding at once, unlike a value of the wrong type. */
function readTime(value: unknown): unknown {
  const refuse = (problem: string) => new UnmarshalError(`error unmarshaling JSON: while decoding JSON: ${problem}`)
  if (typeof value !== 'string') throw refuse('Time.UnmarshalJSON: input is not a JSON string')
  try {
    return parseLayout(RFC3339, value, UTC)
  } catch (error) {
    throw error instanceof GoError ? refuse(error.message) : error
  }
}

function scalarText(value: unknown): unknown {
  if (value instanceof GoInt) return value.toString()
  if (typeof value === 'number') return formatFloat(value, 'g', -1)
  if (typeof value === 'boolean') return String(value)
  return value
}

function plainNumbers(value: unknown): unknown {
  if (value instanceof GoInt) return Number(value.value)
  if (Array.isArray(value)) return value.map(plainNumbers)
  if (value instanceof Map) return new Map([...(value as Dict)].map(([key, item]) => [key, plainNumbers(item)]))
  return value
}
