/**
 * sigs.k8s.io/yaml's unmarshalling into Go structs: field names match in any case, and numbers and booleans become text
 * where the field is a string.
 */
import { readFirstYaml } from '../../yaml/read.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { formatFloat } from '../gotemplate/format-float.ts'
import { goInt64, GoInt } from '../gotemplate/value.ts'
import type { Dict } from './dict.ts'
import { jsonKind } from './json-kind.ts'
import { UnmarshalError, yamlSource } from './read-yaml.ts'

/** A Go type that YAML is decoded into. */
export type FieldType =
  | { readonly kind: 'string' | 'bool' | 'any' }
  | { readonly kind: 'list'; readonly of: FieldType; readonly name: string }
  | { readonly kind: 'stringMap' }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: Readonly<Record<string, FieldType>> }

/** What a struct became: only the fields that the text had. */
export type Decoded = Readonly<Record<string, unknown>>

/** Decodes the first document of a text into a struct. `typeName` is Go's, for its messages. */
export function decodeYaml(
  text: string | Uint8Array,
  type: FieldType & { readonly kind: 'struct' },
  typeName: string,
): Decoded {
  let value: unknown
  try {
    ;({ value } = readFirstYaml(yamlSource(text), { duplicateKeys: 'last', mappings: 'map', integer: goInt64 }))
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new UnmarshalError(`error converting YAML to JSON: ${error.goMessage}`)
  }
  if (value === null || value === undefined) return {}
  const decoder = new Decoder()
  const decoded = decoder.decode(value, type, { path: [], struct: '', typeName })
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

/** encoding/json goes on after a value of the wrong type and tells the first one at the end. */
class Decoder {
  problem: string | undefined

  decode(given: unknown, type: FieldType, place: Place): unknown {
    if (given === null || given === undefined) return undefined
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
        return value.map((item) => this.decode(item, type.of, place) ?? null)
      case 'stringMap':
        if (!(value instanceof Map)) return this.#wrong(value, 'map[string]string', place)
        return this.#stringMap(value as Dict, place)
      case 'struct':
        if (!(value instanceof Map)) return this.#wrong(value, place.typeName || type.name, place)
        return this.#struct(value as Dict, type, place)
    }
  }

  #stringMap(value: Dict, place: Place): Map<string, string> {
    const result = new Map<string, string>()
    for (const [key, item] of value) {
      const text = this.decode(item, { kind: 'string' }, place)
      result.set(key, (text as string | undefined) ?? '')
    }
    return result
  }

  #struct(value: Dict, type: FieldType & { readonly kind: 'struct' }, place: Place): Decoded {
    const result: Record<string, unknown> = {}
    for (const [key, item] of [...value].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const name = Object.hasOwn(type.fields, key)
        ? key
        : Object.keys(type.fields).find((field) => field.toLowerCase() === key.toLowerCase())
      if (name === undefined) continue
      // The innermost struct is named, without its package; one without a name is nothing.
      const struct = type.name.startsWith('struct {') ? '' : type.name.replace(/^.*\./, '')
      const decoded = this.decode(item, type.fields[name]!, { path: [...place.path, name], struct, typeName: '' })
      if (decoded !== undefined) result[name] = decoded
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
