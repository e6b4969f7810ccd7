/** toYaml, fromYaml and their kin. */
import { base64 } from '../../../core/bytes.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { goBytes } from '../../gotemplate/go-string.ts'
import { GoBytes, GoInt, GoNamed, GoStruct, typeInfo } from '../../gotemplate/value.ts'
import { CYCLE } from './json.ts'
import { readYamlList, readYamlTable, UnmarshalError } from '../read-yaml.ts'

/** What a Go value is to JSON, for the YAML writer. */
function unwrapForJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value === 'function' ? unsupported() : value
  if (value instanceof GoInt) return value.value
  if (value instanceof Map || Array.isArray(value)) {
    const json = typeInfo(value)?.json
    return json ? unwrapForJson(json()) : value
  }
  if (value instanceof GoNamed) {
    if (value.info.type === 'json.Number') return numberOf(value.value as string)
    return unwrapForJson(value.info.json ? value.info.json() : value.value)
  }
  if (value instanceof GoBytes) return base64(value.bytes)
  if (value instanceof GoStruct) return value.json ? unwrapForJson(value.json()) : exportedFields(value)
  return value
}

function exportedFields(struct: GoStruct): Map<string, unknown> {
  return new Map([...struct.fields].filter(([name]) => /^\p{Lu}/u.test(name)))
}

function unsupported(): never {
  throw new GoError('error marshaling into JSON: json: unsupported type: func()')
}

function numberOf(text: string): number | bigint {
  return /^-?\d+$/.test(text) ? BigInt(text) : Number(text)
}

/** yaml.v3 knows nothing of JSON: a json.Number is a string, bytes are numbers, a text with a cut letter is binary. */
function unwrapForYaml(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : goBytes(value)
  if (value instanceof GoNamed) return unwrapForYaml(value.value)
  if (value instanceof GoBytes) return Array.from(value.bytes, BigInt)
  return value instanceof Map || Array.isArray(value) ? value : unwrapForJson(value)
}

/** Marshals as sigs.k8s.io/yaml or yaml.v3 does; throws GoError. */
export function mustToYaml(value: unknown, style: 'sigs' | 'v3'): string {
  try {
    return writeYaml(value, { style, unwrap: style === 'sigs' ? unwrapForJson : unwrapForYaml }).replace(/\n$/, '')
  } catch (error) {
    if (error instanceof YamlError) throw new GoError(error.goMessage)
    throw error instanceof RangeError && style === 'sigs' ? CYCLE : error
  }
}

/** toYaml: what cannot be written is nothing. */
export function toYaml(value: unknown, style: 'sigs' | 'v3' = 'sigs'): string {
  try {
    return mustToYaml(value, style)
  } catch (error) {
    if (error instanceof GoError) return ''
    throw error
  }
}

function fromYaml(text: string): Map<string, unknown> {
  try {
    return readYamlTable(text)
  } catch (error) {
    if (error instanceof UnmarshalError) return new Map([['Error', error.message]])
    throw error
  }
}

function fromYamlArray(text: string): unknown[] {
  try {
    return readYamlList(text)
  } catch (error) {
    if (error instanceof UnmarshalError) return [error.message]
    throw error
  }
}

/** YAML in and out. */
export const YAML_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  toYaml: goFunction(['any'], ([value]) => toYaml(value)),
  mustToYaml: goFunction(['any'], ([value]) => mustToYaml(value, 'sigs')),
  toYamlPretty: goFunction(['any'], ([value]) => toYaml(value, 'v3')),
  fromYaml: goFunction(['string'], ([text]) => fromYaml(text as string)),
  fromYamlArray: goFunction(['string'], ([text]) => fromYamlArray(text as string)),
}
