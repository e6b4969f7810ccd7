/** Functions as data: a signature in text, and what it does. */
import { SIMPLE } from '../types.ts'
import type { CelType } from '../types.ts'
import { CelDuration, CelList, CelMap, CelOpaque, CelOptional, CelTimestamp, CelTypeValue, CelUint } from '../values.ts'
import type { CelValue } from '../values.ts'

/** What a function does with arguments of the right types; a member function's target is its first. */
export type Implementation = (...args: never[]) => CelValue

/** A form of a function. */
export interface Overload {
  readonly id: string
  readonly fn: string
  readonly isMember: boolean
  readonly params: readonly CelType[]
  readonly result: CelType
  readonly run: (...args: CelValue[]) => CelValue
}

/**
 * A library from a table: overload id → [signature, implementation]. A signature is `name(type, …): type` or
 * `type.name(type, …): type`; single capital letters are type parameters.
 */
export function parseOverloads(table: Readonly<Record<string, readonly [string, Implementation]>>): Overload[] {
  return Object.entries(table).map(([id, [signature, run]]) => ({
    id,
    ...parseSignature(signature),
    run: run as unknown as Overload['run'],
  }))
}

function parseSignature(text: string): Omit<Overload, 'id' | 'run'> {
  const match = /^(?:(.+?)::)?([^\s(]+)\((.*)\): (.+)$/.exec(text)
  if (!match) throw new Error(`not a signature: ${text}`)
  const [, target, fn, args = '', result] = match
  const params = [...(target === undefined ? [] : [target]), ...splitTypes(args)].map(parseType)
  return { fn: fn!, isMember: target !== undefined, params, result: parseType(result!) }
}

function splitTypes(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '<') depth++
    if (text[index] === '>') depth--
    if (text[index] === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim())
      start = index + 1
    }
  }
  const last = text.slice(start).trim()
  return last === '' ? parts : [...parts, last]
}

function parseType(text: string): CelType {
  const match = /^([^<]+)(?:<(.*)>)?$/.exec(text.trim())!
  const name = match[1]!
  const parts = match[2] === undefined ? [] : splitTypes(match[2]).map(parseType)
  if (/^[A-Z]$/.test(name)) return { kind: 'param', name }
  if (name === 'list') return { kind: 'list', item: parts[0]! }
  if (name === 'map') return { kind: 'map', key: parts[0]!, value: parts[1]! }
  if (name === 'type') return { kind: 'type', of: parts[0] }
  if (name === 'optional') return { kind: 'opaque', name: 'optional_type', params: parts }
  return (SIMPLE as Readonly<Record<string, CelType>>)[name] ?? { kind: 'opaque', name, params: parts }
}

/** Whether a value may be the argument of a parameter: the choice between overloads when types are known only now. */
export function isValueOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'bigint'
    case 'uint':
      return value instanceof CelUint
    case 'double':
      return typeof value === 'number'
    case 'string':
      return typeof value === 'string'
    case 'bytes':
      return value instanceof Uint8Array
    case 'null':
      return value === null
    case 'timestamp':
      return value instanceof CelTimestamp
    case 'duration':
      return value instanceof CelDuration
    case 'list':
      return value instanceof CelList
    case 'map':
    case 'object':
      return value instanceof CelMap
    case 'type':
      return value instanceof CelTypeValue
    case 'opaque':
      if (type.name === 'optional_type') return value instanceof CelOptional
      return value instanceof CelOpaque && value.typeName === type.name
  }
}
