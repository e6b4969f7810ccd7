/** YAML as Helm unmarshals it: into a map, through JSON, with Go's complaints. */
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { GoNamed } from '../gotemplate/value.ts'
import type { GoTypeInfo } from '../gotemplate/value.ts'
import { goBytes } from '../gotemplate/go-string.ts'
import { goFunction } from '../gotemplate/function.ts'
import { goInt64 } from '../gotemplate/value.ts'
import type { Dict } from './values/dict.ts'
import { encodeFloat } from './functions/json.ts'
import { jsonKind } from './json-kind.ts'
import { parseFloatText } from './functions/convert.ts'

/** An error of sigs.k8s.io/yaml, in its words. */
export class UnmarshalError extends Error {
  override readonly name = 'UnmarshalError'
}

/** A json.Number: a number kept as its text, which templates take for a string. */
function jsonNumber(text: string): GoNamed {
  const info: GoTypeInfo = {
    type: 'json.Number',
    print: () => text,
    methods: new Map([
      ['String', goFunction([], () => text)],
      ['Float64', goFunction([], () => parseFloatText(text) ?? 0)],
      ['Int64', goFunction([], () => goInt64(BigInt(/^-?\d+$/.test(text) ? text : 0)))],
    ]),
  }
  return new GoNamed(text, info)
}

/** What Go's reader sees of a text: with a rune cut in half the bytes, which it refuses. */
export function yamlSource(text: string | Uint8Array): string | Uint8Array {
  return typeof text === 'string' && !text.isWellFormed() ? goBytes(text) : text
}

/** How numbers come out: float64 as JSON has it, or json.Number. */
export type Numbers = 'float64' | 'text'

/** The value of the first document of a text; null for an empty one. */
function readYamlValue(text: string | Uint8Array, numbers: Numbers = 'float64'): unknown {
  try {
    const { value } = readFirstYaml(yamlSource(text), {
      duplicateKeys: 'last',
      mappings: 'map',
      ...(numbers === 'text' && { integer: (whole: bigint) => jsonNumber(String(whole)) }),
    })
    return numbers === 'text' ? numbersAsText(value) : value
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    throw new UnmarshalError(`error converting YAML to JSON: ${error.goMessage}`)
  }
}

function numbersAsText(value: unknown): unknown {
  if (typeof value === 'number') return jsonNumber(encodeFloat(value))
  if (Array.isArray(value)) return value.map(numbersAsText)
  if (value instanceof Map) {
    for (const [key, item] of value as Dict) (value as Dict).set(key, numbersAsText(item))
  }
  return value
}

/** A text unmarshalled into a map; null and nothing are an empty one. */
export function readYamlTable(text: string | Uint8Array, numbers: Numbers = 'float64'): Dict {
  const value = readYamlValue(text, numbers)
  if (value === null || value === undefined) return new Map()
  if (value instanceof Map) return value as Dict
  throw new UnmarshalError(unmarshalProblem(value, 'map[string]interface {}'))
}

/** A text unmarshalled into a list. */
export function readYamlList(text: string): unknown[] {
  const value = readYamlValue(text)
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value
  throw new UnmarshalError(unmarshalProblem(value, '[]interface {}'))
}

function unmarshalProblem(value: unknown, type: string): string {
  return `error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type}`
}
