/** toToml as BurntSushi's encoder writes it. */
import { formatFloat } from '../../gotemplate/format-float.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { compareStrings } from '../../gotemplate/go-string.ts'
import { GoBytes, GoInt, GoNamed, GoStruct } from '../../gotemplate/value.ts'
import { readToml, TomlError } from './toml-read.ts'

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
  if (value instanceof GoStruct) return new Map([...value.fields].filter(([name]) => /^\p{Lu}/u.test(name)))
  return value ?? null
}

function isTable(value: unknown): value is Table {
  return value instanceof Map
}

/** A list that is written as [[tables]]: it has elements and all of them are tables. */
function isTableList(value: unknown): value is Table[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isTable(plain(item)))
}

function keyText(key: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(key)) return key
  return `"${escape(key)}"`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\f': '\\f',
  '\r': '\\r',
  '\u007f': '\\u007f',
}

function escape(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f"\\]/g,
    (char) => ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  let text = formatFloat(value, 'g', -1)
  // Exponents only far out, and always something behind the point.
  if (/e/.test(text) && Math.abs(value) >= 1e-4 && Math.abs(value) < 1e21) text = formatFloat(value, 'f', -1)
  return /[.e]/.test(text) ? text : `${text}.0`
}

function inline(given: unknown): string {
  const value = plain(given)
  if (typeof value === 'string') return `"${escape(value)}"`
  if (typeof value === 'boolean' || value instanceof GoInt) return String(value)
  if (typeof value === 'number') return floatText(value)
  if (Array.isArray(value)) {
    if (value.some((item) => item === null || item === undefined)) {
      throw new GoError('toml: cannot encode array with nil element')
    }
    return `[${value.map(inline).join(', ')}]`
  }
  if (isTable(value)) {
    const entries = sorted(value).filter(([, item]) => plain(item) !== null)
    return `{${entries.map(([key, item]) => `${keyText(key)} = ${inline(item)}`).join(', ')}}`
  }
  throw new GoError(`toml: unsupported type for key: ${typeof value}`)
}

function sorted(table: Table): [string, unknown][] {
  return [...table].sort(([a], [b]) => compareStrings(a, b))
}

class Writer {
  text = ''

  /** Plain values first, then the tables below. */
  table(table: Table, path: readonly string[]): void {
    const entries = sorted(table).map(([key, item]) => [key, plain(item)] as const)
    const indent = '  '.repeat(Math.max(0, path.length))
    for (const [key, item] of entries) {
      if (item === null || isTable(item) || isTableList(item)) continue
      this.text += `${'  '.repeat(Math.max(0, path.length))}${keyText(key)} = ${inline(item)}\n`
    }
    for (const [key, item] of entries) {
      const inner = [...path, key]
      const name = inner.map(keyText).join('.')
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

function encode(given: unknown): string {
  const value = plain(given)
  if (value === null) throw new GoError('toml: cannot encode a nil value')
  if (!isTable(value)) throw new GoError('toml: top-level values must be Go maps or structs')
  const writer = new Writer()
  writer.table(value, [])
  return writer.text
}

function toToml(value: unknown): string {
  try {
    return encode(value)
  } catch (error) {
    if (error instanceof GoError) return error.message
    throw error
  }
}

function fromToml(text: string): Table {
  try {
    return readToml(text)
  } catch (error) {
    if (error instanceof TomlError) return new Map([['Error', error.message]])
    throw error
  }
}

/** TOML in and out. */
export const TOML_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  toToml: goFunction(['any'], ([value]) => toToml(value)),
  mustToToml: goFunction(['any'], ([value]) => encode(value)),
  fromToml: goFunction(['string'], ([text]) => fromToml(text as string)),
}
