/** toToml as BurntSushi's encoder writes it. */
import { formatFloat } from '../../../gotemplate/format-float.ts'
import { GoError, goFunction } from '../../../gotemplate/function.ts'
import type { GoFunction } from '../../../gotemplate/function.ts'
import { compareStrings } from '../../../gotemplate/go-string.ts'
import { GoBytes, GoInt, GoNamed, GoStruct, isNil } from '../../../gotemplate/value.ts'
import type { HelmProfile } from '../../profile.ts'
import { goTimeOf, RFC3339_NANO } from '../dates.ts'
import { formatLayout } from '../go/time-layout.ts'
import { tomlKey, tomlString } from './key.ts'
import { readToml, TomlError } from './read-toml.ts'
import { DATE_LAYOUTS } from './scalars.ts'

type Table = Map<string, unknown>

function plain(value: unknown): unknown {
  if (value instanceof GoNamed) {
    if (value.info.type === 'json.Number') {
      const text = value.value as string
      return /^-?\d+$/.test(text) ? new GoInt(BigInt(text), 'int64') : Number(text)
    }
    return plain(value.value)
  }
  if (value instanceof GoBytes) return Array.from(value.bytes, (byte) => new GoInt(byte, 'uint8'))
  if (value instanceof GoStruct && !goTimeOf(value))
    return new Map([...value.fields].filter(([name]) => /^\p{Lu}/u.test(name)))
  return isNil(value) ? null : value
}

function isTable(value: unknown): value is Table {
  return value instanceof Map
}

/** A list that is written as [[tables]]: it has elements and all of them are tables. */
function isTableList(value: unknown): value is Table[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isTable(plain(item)))
}

/** A number with something behind the point; with `exponents` in the shorter of Go's two notations. */
function floatText(value: number, exponents: boolean): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  const text = formatFloat(value, exponents ? 'g' : 'f', -1)
  return /[.e]/.test(text) ? text : `${text}.0`
}

function inline(given: unknown, exponents: boolean): string {
  const value = plain(given)
  if (typeof value === 'string') return tomlString(value)
  if (typeof value === 'boolean' || value instanceof GoInt) return String(value)
  if (typeof value === 'number') return floatText(value, exponents)
  if (Array.isArray(value)) {
    if (value.some((item) => item === null || item === undefined)) {
      throw new GoError('toml: cannot encode array with nil element')
    }
    return `[${value.map((item) => inline(item, exponents)).join(', ')}]`
  }
  const time = goTimeOf(value)
  if (time) return formatLayout(DATE_LAYOUTS.get(time.zone.name) ?? RFC3339_NANO, time)
  if (isTable(value)) return `{${inlineEntries(value, exponents)}}`
  throw new GoError(`toml: unsupported type for key: ${typeof value}`)
}

/** Tables come last. What is nil is left out, but not the comma that belongs to it. */
function inlineEntries(table: Table, exponents: boolean): string {
  const entries = sorted(table).map(([key, item]) => [key, plain(item)] as const)
  const [below, direct] = [entries.filter(isBelow), entries.filter((entry) => !isBelow(entry))]
  const write = (some: typeof entries, isLast: boolean) =>
    some
      .map(([key, item], at) => {
        if (item === null) return ''
        return `${tomlKey([key])} = ${inline(item, exponents)}${isLast && at === some.length - 1 ? '' : ', '}`
      })
      .join('')
  return `${write(direct, below.length === 0)}${write(below, true)}`
}

function isBelow([, item]: readonly [string, unknown]): boolean {
  return isTable(item) || isTableList(item)
}

function sorted(table: Table): [string, unknown][] {
  return [...table].sort(([a], [b]) => compareStrings(a, b))
}

class Writer {
  text = ''
  readonly #exponents: boolean

  constructor(exponents: boolean) {
    this.#exponents = exponents
  }

  /** Plain values first, then the tables below. */
  table(table: Table, path: readonly string[]): void {
    const entries = sorted(table).map(([key, item]) => [key, plain(item)] as const)
    const indent = '  '.repeat(Math.max(0, path.length))
    for (const [key, item] of entries) {
      if (item === null || isBelow([key, item])) continue
      this.text += `${'  '.repeat(Math.max(0, path.length))}${tomlKey([key])} = ${inline(item, this.#exponents)}\n`
    }
    for (const [key, item] of entries) {
      const inner = [...path, key]
      const name = tomlKey(inner)
      if (isTable(item)) {
        this.#separate(path.length === 0)
        this.text += `${indent}[${name}]\n`
        this.table(item, inner)
      } else if (isTableList(item)) {
        for (const element of item) {
          this.#newlineBeforeList()
          this.text += `${indent}[[${name}]]\n`
          this.table(plain(element) as Table, inner)
        }
      }
    }
  }

  #separate(top: boolean): void {
    if (top && this.text !== '') this.text += '\n'
  }

  #newlineBeforeList(): void {
    if (this.text !== '') this.text += '\n'
  }
}

function encode(given: unknown, exponents: boolean): string {
  const value = plain(given)
  if (isTableList(value)) throw new GoError('toml: top-level values must be Go maps or structs')
  // A value without a key is no TOML, and written all the same.
  if (!isTable(value)) return inline(value, exponents)
  const writer = new Writer(exponents)
  writer.table(value, [])
  return writer.text
}

function toToml(value: unknown, exponents: boolean): string {
  refuseNil(value)
  try {
    return encode(value, exponents)
  } catch (error) {
    if (error instanceof GoError) return error.message
    throw error
  }
}

// The encoder looks at the type of what it is given, and nothing has none: Go panics.
function refuseNil(value: unknown): void {
  if (plain(value) === null) throw new GoError('reflect: call of reflect.Value.Type on zero Value')
}

function fromToml(text: string, toml11: boolean): Table {
  try {
    return readToml(text, toml11)
  } catch (error) {
    if (error instanceof TomlError) return new Map([['Error', error.message]])
    throw error
  }
}

/** TOML in and out, by the rules of the profile's library. */
export function tomlFunctions({ toml11 }: HelmProfile): Record<string, GoFunction> {
  return {
    toToml: goFunction(['any'], ([value]) => toToml(value, toml11)),
    mustToToml: goFunction(['any'], ([value]) => {
      refuseNil(value)
      return encode(value, toml11)
    }),
    fromToml: goFunction(['string'], ([text]) => fromToml(text as string, toml11)),
  }
}
