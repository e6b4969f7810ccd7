// Tested by src/lua/lua.test.ts
/** Splits a script into tokens. */

/** A token; `value` is the decoded text of a string, or the number. */
export interface Token {
  readonly kind: 'name' | 'keyword' | 'symbol' | 'string' | 'number' | 'end'
  readonly text: string
  readonly value: string | number
  readonly line: number
}

/** A script that is not Lua, or that uses a part of Lua which is not available. */
export class LuaSyntaxError extends Error {
  override readonly name = 'LuaSyntaxError'
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

const KEYWORDS = new Set(
  'and break do else elseif end false for function goto if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const SYMBOL = /\.\.\.|\.\.|==|~=|<=|>=|::|[-+*/%^#<>=(){}[\];:,.]/y
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const NUMBER = /0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/y
const SPACE = /[ \t\r\n\v\f]+/y
const LONG = /\[(=*)\[/y
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '\n': '\n',
}

/** The tokens of a script, and an `end` behind them. */
export function tokenize(source: string): Token[] {
  return new Lexer(source).tokens()
}

class Lexer {
  readonly #source: string
  #at = 0
  #line = 1

  constructor(source: string) {
    this.#source = source
  }

  tokens(): Token[] {
    const found: Token[] = []
    for (;;) {
      this.#skipSpace()
      if (this.#at >= this.#source.length) break
      found.push(this.#next())
    }
    found.push({ kind: 'end', text: '<eof>', value: '', line: this.#line })
    return found
  }

  #skipSpace(): void {
    for (;;) {
      const space = this.#take(SPACE)
      if (space !== undefined) this.#countLines(space)
      if (!this.#source.startsWith('--', this.#at)) {
        if (space === undefined) return
        continue
      }
      this.#at += 2
      if (this.#long() !== undefined) continue
      const end = this.#source.indexOf('\n', this.#at)
      this.#at = end < 0 ? this.#source.length : end
    }
  }

  #next(): Token {
    const line = this.#line
    const name = this.#take(NAME)
    if (name !== undefined) return { kind: KEYWORDS.has(name) ? 'keyword' : 'name', text: name, value: name, line }
    const number = this.#take(NUMBER)
    if (number !== undefined) {
      if (/[A-Za-z0-9_.]/.test(this.#source[this.#at] ?? ''))
        throw new LuaSyntaxError(line, `malformed number near '${number}'`)
      return { kind: 'number', text: number, value: Number(number), line }
    }
    const quote = this.#source[this.#at]!
    if (quote === '"' || quote === "'") {
      const value = this.#quoted(quote)
      return { kind: 'string', text: quote, value, line }
    }
    const long = this.#long()
    if (long !== undefined) return { kind: 'string', text: '[[', value: long, line }
    const symbol = this.#take(SYMBOL)
    if (symbol !== undefined) return { kind: 'symbol', text: symbol, value: symbol, line }
    throw new LuaSyntaxError(line, `unexpected character ${JSON.stringify(quote)}`)
  }

  #quoted(quote: string): string {
    const line = this.#line
    let text = ''
    this.#at += 1
    for (;;) {
      const char = this.#source[this.#at]
      this.#at += 1
      if (char === undefined || char === '\n') throw new LuaSyntaxError(line, 'unterminated string')
      if (char === quote) return text
      if (char !== '\\') {
        text += char
        continue
      }
      const digits = this.#take(/\d{1,3}/y)
      if (digits !== undefined) {
        if (Number(digits) > 255) throw new LuaSyntaxError(line, `escape sequence \\${digits} is too large`)
        text += String.fromCharCode(Number(digits))
        continue
      }
      const escaped = this.#source[this.#at] ?? ''
      this.#at += 1
      if (escaped === '\n') this.#line += 1
      const known = ESCAPES[escaped]
      if (known === undefined) throw new LuaSyntaxError(line, `invalid escape sequence \\${escaped}`)
      text += known
    }
  }

  /** `[[…]]` or `[==[…]==]`. */
  #long(): string | undefined {
    const opening = this.#take(LONG)
    if (opening === undefined) return undefined
    const line = this.#line
    const closing = `]${'='.repeat(opening.length - 2)}]`
    const end = this.#source.indexOf(closing, this.#at)
    if (end < 0) throw new LuaSyntaxError(line, 'unterminated long string or comment')
    const text = this.#source.slice(this.#at, end)
    this.#at = end + closing.length
    this.#countLines(text)
    return text.startsWith('\r\n') ? text.slice(2) : text.startsWith('\n') ? text.slice(1) : text
  }

  #countLines(text: string): void {
    for (const char of text) if (char === '\n') this.#line += 1
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}
