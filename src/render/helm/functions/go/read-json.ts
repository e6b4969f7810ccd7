/** encoding/json's reader: every number is a float64, objects are Maps, and errors are in Go's words. */
import { goQuote } from '../../../gotemplate/go-string.ts'

/** Text that is not JSON, in Go's words. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
  /** What Go makes of the text all the same: a number that is too large is nil, the rest is there. */
  readonly rest: unknown

  constructor(message: string, rest?: unknown) {
    super(message)
    this.rest = rest
  }
}

const SPACES = /[ \t\r\n]*/y
/** What stands for itself in a string: no quote, escape, control character or half a character. */
const PLAIN = /[ !#-[\]-\ud7ff\ue000-\uffff]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** The value of a text; numbers within it are looked at only when it fits where it goes. */
export function readJson(text: string, fits: (value: unknown) => boolean = () => true): unknown {
  const reader = new JsonReader(text)
  const value = reader.value()
  reader.end()
  if (fits(value)) reader.refuseTooLarge(value)
  return value
}

/** The first value of a text, and where it ends; what follows is not looked at. */
export function readJsonPrefix(text: string): { readonly value: unknown; readonly end: number } {
  const reader = new JsonReader(text)
  const value = reader.value()
  reader.refuseTooLarge(value)
  return { value, end: reader.position }
}

/** A character as Go quotes it in these messages. */
function quoteChar(char: string): string {
  if (char === "'") return `'\\''`
  if (char === '"') return `'"'`
  return `'${goQuote(String.fromCharCode(firstByte(char.charCodeAt(0)))).slice(1, -1)}'`
}

/** The scanner reads bytes, and names the first byte. */
function firstByte(code: number): number {
  if (code < 0x80) return code
  if (code < 0x800) return 0xc0 | (code >> 6)
  if (code >= 0xdc80 && code <= 0xdcff) return code - 0xdc00
  return code < 0xd800 || code > 0xdfff ? 0xe0 | (code >> 12) : 0xf0
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/** Go reads 10,000 levels; the stack of this reader, and of those of its values, does not. */
const MAX_DEPTH = 1_000

class JsonReader {
  readonly #text: string
  #at = 0
  #depth = 0
  #tooLarge: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  get position(): number {
    return this.#at
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) this.#unexpected('after top-level value')
  }

  /** Go looks for mistakes in the whole text before it makes a value of any of it. */
  refuseTooLarge(rest: unknown): void {
    if (this.#tooLarge === undefined) return
    throw new JsonError(`json: cannot unmarshal number ${this.#tooLarge} into Go value of type float64`, rest)
  }

  value(): unknown {
    this.#space()
    const char = this.#text[this.#at]
    if (char === undefined) throw new JsonError('unexpected end of JSON input')
    if (char === '{') return this.#nested(() => this.#object())
    if (char === '[') return this.#nested(() => this.#array())
    if (char === '"') return this.#string()
    if (char === '-' || (char >= '0' && char <= '9')) return this.#number()
    if (char === 't') return this.#literal('true', true)
    if (char === 'f') return this.#literal('false', false)
    if (char === 'n') return this.#literal('null', null)
    return this.#unexpected('looking for beginning of value')
  }

  #item(): unknown {
    const value = this.value()
    return value === Infinity || value === -Infinity ? null : value
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw new JsonError('exceeded max depth')
    const value = read()
    this.#depth -= 1
    return value
  }

  #space(): void {
    if (this.#text.charCodeAt(this.#at) > 0x20) return
    SPACES.lastIndex = this.#at
    SPACES.test(this.#text)
    this.#at = SPACES.lastIndex
  }

  #unexpected(context: string): never {
    // At the end the scanner tries a space: it is valid between values, and invalid within a value.
    const char = this.#text[this.#at] ?? (/^(?:in|after decimal point) /.test(context) ? ' ' : undefined)
    if (char === undefined) throw new JsonError('unexpected end of JSON input')
    throw new JsonError(`invalid character ${quoteChar(char)} ${context}`)
  }

  #literal<T>(word: string, value: T): T {
    for (let index = 1; index < word.length; index++) {
      this.#at += 1
      if (this.#text[this.#at] !== word[index]) this.#unexpected(`in literal ${word} (expecting '${word[index]}')`)
    }
    this.#at += 1
    return value
  }

  #number(): number {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (!match) {
      this.#at += 1
      return this.#unexpected('in numeric literal')
    }
    this.#at = NUMBER.lastIndex
    const next = this.#text[this.#at]
    if (next === '.' && /^-?\d+$/.test(match[0])) {
      this.#at += 1
      this.#unexpected('after decimal point in numeric literal')
    }
    if ((next === 'e' || next === 'E') && !/e/i.test(match[0])) {
      this.#at += 1
      if (this.#text[this.#at] === '+' || this.#text[this.#at] === '-') this.#at += 1
      this.#unexpected('in exponent of numeric literal')
    }
    const value = Number(match[0])
    if (!Number.isFinite(value)) this.#tooLarge ??= match[0]
    return value
  }

  #string(): string {
    let out = ''
    this.#at += 1
    for (;;) {
      PLAIN.lastIndex = this.#at
      PLAIN.test(this.#text)
      out += this.#text.slice(this.#at, PLAIN.lastIndex)
      this.#at = PLAIN.lastIndex
      const char = this.#text[this.#at]
      if (char === undefined) throw new JsonError('unexpected end of JSON input')
      if (char === '"') {
        this.#at += 1
        return out
      }
      if (char < ' ') this.#unexpected('in string literal')
      if (char !== '\\') {
        // Bytes that are no UTF-8 are replaced.
        out += char >= '\udc80' && char <= '\udcff' && !isHigh(out.at(-1)) ? '\ufffd' : char
        this.#at += 1
        continue
      }
      this.#at += 1
      out += this.#escape()
    }
  }

  #escape(): string {
    const char = this.#text[this.#at]
    if (char !== 'u') {
      const simple = char === undefined ? undefined : ESCAPES[char]
      if (simple === undefined) return this.#unexpected('in string escape code')
      this.#at += 1
      return simple
    }
    const code = this.#hex()
    if (code < 0xd800 || code > 0xdfff) return String.fromCharCode(code)
    // A surrogate counts only as part of a pair.
    if (code < 0xdc00 && this.#text[this.#at] === '\\' && this.#text[this.#at + 1] === 'u') {
      const back = this.#at
      this.#at += 1
      const low = this.#hex()
      if (low >= 0xdc00 && low <= 0xdfff) return String.fromCharCode(code, low)
      this.#at = back
    }
    return '\ufffd'
  }

  #hex(): number {
    for (let digit = 0; digit < 4; digit++) {
      this.#at += 1
      if (!/^[0-9a-fA-F]$/.test(this.#text[this.#at] ?? '')) this.#unexpected('in \\u hexadecimal character escape')
    }
    this.#at += 1
    return Number.parseInt(this.#text.slice(this.#at - 4, this.#at), 16)
  }

  #array(): unknown[] {
    const items: unknown[] = []
    this.#at += 1
    this.#space()
    if (this.#text[this.#at] === ']') {
      this.#at += 1
      return items
    }
    for (;;) {
      items.push(this.#item())
      this.#space()
      const char = this.#text[this.#at]
      if (char !== ',' && char !== ']') this.#unexpected('after array element')
      this.#at += 1
      if (char === ']') return items
    }
  }

  #object(): Map<string, unknown> {
    const entries = new Map<string, unknown>()
    this.#at += 1
    this.#space()
    if (this.#text[this.#at] === '}') {
      this.#at += 1
      return entries
    }
    for (;;) {
      this.#space()
      if (this.#text[this.#at] !== '"') this.#unexpected('looking for beginning of object key string')
      const key = this.#string()
      this.#space()
      if (this.#text[this.#at] !== ':') this.#unexpected('after object key')
      this.#at += 1
      entries.set(key, this.#item())
      this.#space()
      const char = this.#text[this.#at]
      if (char !== ',' && char !== '}') this.#unexpected('after object key:value pair')
      this.#at += 1
      if (char === '}') return entries
    }
  }
}

function isHigh(char: string | undefined): boolean {
  return char !== undefined && char >= '\ud800' && char <= '\udbff'
}
