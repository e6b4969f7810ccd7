/**
 * The grammar of --set, --set-string, --set-json, --set-file and --set-literal; a port of Helm's parser, slips
 * included.
 */
import { goInt64 } from '../../gotemplate/value.ts'
import { goQuote, quotedRune } from '../../gotemplate/go-string.ts'
import type { Dict } from './dict.ts'
import { JsonError, readJsonPrefix } from '../functions/go/read-json.ts'

/** A --set argument that cannot be read; the message is Helm's. */
export class StrvalsError extends Error {
  override readonly name = 'StrvalsError'
}

/** The end of the text, which Go hands around as an error. */
const EOF = Symbol('EOF')

type Outcome = typeof EOF | undefined

const MAX_INDEX = 65_536
const MAX_DEPTH = 30

/** How a flag reads its values. */
export type StrvalsMode = (
  | { readonly kind: 'typed' | 'string' | 'json' | 'literal' }
  | { readonly kind: 'file'; readonly read: (path: string) => string }
) & {
  /** An index without its closing bracket is the end of the text and no error. */
  readonly endsInIndex?: boolean
}

/** Reads `a.b=1,c[0]=x` into a table, changing it. */
export function parseInto(text: string, target: Dict, mode: StrvalsMode): void {
  const parser = new StrvalsParser(text, mode)
  while (parser.key(target, 0) !== EOF);
}

function typedValue(text: string): unknown {
  const lower = text.toLowerCase()
  if (lower === 'true') return true
  if (lower === 'false') return false
  if (lower === 'null') return null
  if (text === '0') return goInt64(0)
  if (/^[+-]?\d+$/.test(text) && !text.startsWith('0')) {
    const value = BigInt(text.replace('+', ''))
    if (BigInt.asIntN(64, value) === value) return goInt64(value)
  }
  return text
}

class StrvalsParser {
  readonly #runes: readonly string[]
  readonly #mode: StrvalsMode
  #at = 0

  constructor(text: string, mode: StrvalsMode) {
    this.#runes = [...text]
    this.#mode = mode
  }

  #isLiteral(): boolean {
    return this.#mode.kind === 'literal'
  }

  /** Characters up to a character of `stop`; `last` is undefined at the end of the text. */
  #until(stop: string): { readonly text: string; readonly last: string | undefined } {
    let text = ''
    for (;;) {
      const rune = this.#runes[this.#at]
      if (rune === undefined) return { text, last: undefined }
      this.#at += 1
      if (stop.includes(rune)) return { text, last: rune }
      if (rune === '\\' && !this.#isLiteral()) {
        const next = this.#runes[this.#at]
        if (next === undefined) return { text, last: undefined }
        this.#at += 1
        text += next
      } else text += rune
    }
  }

  key(data: Dict, depth: number): Outcome {
    const { text, last } = this.#until(this.#isLiteral() ? '=[.' : '=[,.')
    switch (last) {
      case undefined:
        if (text === '') return EOF
        throw new StrvalsError(`key ${goQuote(text)} has no value`)
      case '[':
        return this.#listKey(data, text, depth)
      case '=':
        return this.#assign(text, data)
      case ',':
        set(data, text, '')
        throw new StrvalsError(`key ${goQuote(text)} has no value (cannot end with ,)`)
      default:
        return this.#nestedKey(data, text, depth + 1)
    }
  }

  #listKey(data: Dict, name: string, depth: number): Outcome {
    const index = this.#index()
    if (index === EOF) return EOF
    const present = data.has(name) ? data.get(name) : []
    if (!Array.isArray(present)) throw conversion(present, '[]interface {}')
    const { list, outcome } = this.#listItem(present, index, depth)
    set(data, name, list)
    return outcome
  }

  #nestedKey(data: Dict, name: string, depth: number): Outcome {
    if (depth > MAX_DEPTH) {
      throw new StrvalsError(`value name nested level is greater than maximum supported nested level of ${MAX_DEPTH}`)
    }
    const present = data.has(name) ? data.get(name) : new Map()
    if (!(present instanceof Map)) throw conversion(present, 'map[string]interface {}')
    const inner = present as Dict
    const outcome = this.key(inner, depth)
    if (outcome === undefined && inner.size === 0) throw new StrvalsError(`key map ${goQuote(name)} has no value`)
    if (inner.size > 0) set(data, name, inner)
    return outcome
  }

  #index(): number | typeof EOF {
    const { text, last } = this.#until(']')
    if (last === undefined && this.#mode.endsInIndex) return EOF
    if (last === undefined) throw new StrvalsError('error parsing index: EOF')
    if (!/^[+-]?\d+$/.test(text)) {
      throw new StrvalsError(`error parsing index: strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
    }
    return Number(text)
  }

  /** What stands behind `=` of a key. */
  #assign(name: string, data: Dict): Outcome {
    const { value, outcome } = this.#value()
    set(data, name, value)
    return outcome
  }

  #value(): { readonly value: unknown; readonly outcome: Outcome } {
    if (this.#mode.kind === 'json') return { value: this.#json(), outcome: undefined }
    if (this.#mode.kind === 'literal') return { value: this.#until('').text, outcome: undefined }
    if (this.#at >= this.#runes.length) return { value: '', outcome: EOF }
    if (this.#runes[this.#at] === '{') return { value: this.#list(), outcome: undefined }
    return { value: this.#read(this.#until(',').text), outcome: undefined }
  }

  #read(text: string): unknown {
    if (this.#mode.kind === 'file') return this.#mode.read(text)
    return this.#mode.kind === 'string' ? text : typedValue(text)
  }

  #list(): unknown[] {
    this.#at += 1
    const items: unknown[] = []
    for (;;) {
      const { text, last } = this.#until(',}')
      if (last === undefined) throw new StrvalsError("list must terminate with '}'")
      items.push(this.#read(text))
      if (last === '}') {
        if (this.#runes[this.#at] === ',') this.#at += 1
        return items
      }
    }
  }

  /** A JSON value, and the comma behind it. */
  #json(): unknown {
    if (this.#skipEmpty()) return null
    const rest = this.#runes.slice(this.#at).join('')
    try {
      const { value, end } = readJsonPrefix(rest)
      this.#at += Array.from(rest.slice(0, end)).length
      this.#skipEmpty()
      return value
    } catch (error) {
      if (error instanceof JsonError) throw new StrvalsError(error.message)
      throw error
    }
  }

  /** Skips spaces; true when a comma or the end follows, which is taken too. */
  #skipEmpty(): boolean {
    for (;;) {
      const rune = this.#runes[this.#at]
      if (rune === undefined) return true
      if (rune === ',') {
        this.#at += 1
        return true
      }
      if (!/\s/.test(rune)) return false
      this.#at += 1
    }
  }

  #listItem(given: unknown[], index: number, depth: number): { list: unknown[]; outcome: Outcome } {
    if (index < 0) throw new StrvalsError(`negative ${index} index not allowed`)
    const { text, last } = this.#until('[.=')
    if (text !== '') throw new StrvalsError(`unexpected data at end of array index: ${quotedRunes(text)}`)
    switch (last) {
      case undefined:
        return { list: given, outcome: EOF }
      case '=': {
        const { value } = this.#value()
        return { list: setIndex(given, index, value), outcome: undefined }
      }
      case '[': {
        const nextIndex = this.#index()
        if (nextIndex === EOF) return { list: given, outcome: EOF }
        const present = given[index] ?? []
        if (!Array.isArray(present)) throw conversion(present, '[]interface {}')
        const inner = this.#listItem(present, nextIndex, depth)
        if (inner.outcome === EOF) return { list: given, outcome: EOF }
        return { list: setIndex(given, index, inner.list), outcome: undefined }
      }
      default: {
        const present = given[index]
        const inner: Dict = present instanceof Map ? (present as Dict) : new Map()
        if (given.length > index && !(present instanceof Map)) given[index] = inner
        const outcome = this.key(inner, depth)
        if (outcome === EOF) return { list: given, outcome }
        return { list: setIndex(given, index, inner), outcome: undefined }
      }
    }
  }
}

function conversion(value: unknown, wanted: string): StrvalsError {
  const type = value === null || value === undefined ? 'nil' : goType(value)
  return new StrvalsError(`unable to parse key: interface conversion: interface {} is ${type}, not ${wanted}`)
}

function goType(value: unknown): string {
  if (value instanceof Map) return 'map[string]interface {}'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return 'float64'
  return typeof value === 'string' ? 'string' : 'int64'
}

function set(data: Dict, key: string, value: unknown): void {
  if (key !== '') data.set(key, value)
}

// As in Go, a list changes in place unless it must grow.
function setIndex(list: unknown[], index: number, value: unknown): unknown[] {
  if (index > MAX_INDEX) {
    throw new StrvalsError(`index of ${index} is greater than maximum supported index of ${MAX_INDEX}`)
  }
  const grown = index < list.length ? list : [...list]
  while (grown.length <= index) grown.push(null)
  grown[index] = value
  return grown
}

/** Runes as `%q` prints a list of them. */
function quotedRunes(text: string): string {
  return `[${Array.from(text, (char) => `'${quotedRune(char, "'", false)}'`).join(' ')}]`
}
