/** A reader of TOML 1.0, and 1.1 as far as inline tables go: integers are int64, floats float64, dates stay text. */
import { GoInt } from '../../gotemplate/value.ts'

/** Text that is not TOML. */
export class TomlError extends Error {
  override readonly name = 'TomlError'
}

type Table = Map<string, unknown>

const DATE_OR_TIME =
  /^(?:\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)$/

/** The table of a text. */
export function readToml(text: string, toml11 = false): Table {
  return new TomlReader(text.replaceAll('\r\n', '\n'), toml11).document()
}

class TomlReader {
  readonly #text: string
  #at = 0
  readonly #closed = new Set<Table>()

  readonly #toml11: boolean

  constructor(text: string, toml11: boolean) {
    this.#text = text
    this.#toml11 = toml11
  }

  document(): Table {
    const root: Table = new Map()
    let current = root
    for (;;) {
      this.#blank()
      if (this.#at >= this.#text.length) return root
      if (this.#text[this.#at] === '[') current = this.#header(root)
      else this.#assignment(current)
      this.#lineEnd()
    }
  }

  #fail(problem: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length
    throw new TomlError(`toml: line ${line}: ${problem}`)
  }

  /** Spaces, comments and line ends. */
  #blank(): void {
    for (;;) {
      this.#spaces()
      const char = this.#text[this.#at]
      if (char === '#') while (this.#at < this.#text.length && this.#text[this.#at] !== '\n') this.#at += 1
      else if (char === '\n') this.#at += 1
      else return
    }
  }

  #spaces(): void {
    while (this.#text[this.#at] === ' ' || this.#text[this.#at] === '\t') this.#at += 1
  }

  #lineEnd(): void {
    this.#spaces()
    if (this.#text[this.#at] === '#')
      while (this.#at < this.#text.length && this.#text[this.#at] !== '\n') this.#at += 1
    if (this.#at < this.#text.length && this.#text[this.#at] !== '\n') {
      this.#fail(
        `expected a top-level item to end with a newline, comment, or EOF, but got '${this.#text[this.#at]}' instead`,
      )
    }
  }

  #header(root: Table): Table {
    const isList = this.#text.startsWith('[[', this.#at)
    this.#at += isList ? 2 : 1
    const path = this.#key()
    const close = isList ? ']]' : ']'
    if (!this.#text.startsWith(close, this.#at)) this.#fail(`expected '${close}' at the end of a table name`)
    this.#at += close.length
    const last = path.pop()!
    const parent = path.reduce((table, key) => this.#descend(table, key), root)
    const present = parent.get(last)
    if (isList) {
      const list = (present ?? []) as Table[]
      if (!Array.isArray(list)) this.#fail(`Key '${last}' has already been defined.`)
      const table: Table = new Map()
      list.push(table)
      parent.set(last, list)
      return table
    }
    if (present !== undefined && !(present instanceof Map)) this.#fail(`Key '${last}' has already been defined.`)
    const table = (present as Table | undefined) ?? new Map<string, unknown>()
    if (this.#closed.has(table)) this.#fail(`Key '${last}' has already been defined.`)
    this.#closed.add(table)
    parent.set(last, table)
    return table
  }

  #descend(table: Table, key: string): Table {
    const next = table.get(key)
    if (next === undefined) {
      const made: Table = new Map()
      table.set(key, made)
      return made
    }
    if (Array.isArray(next) && next.at(-1) instanceof Map) return next.at(-1) as Table
    if (next instanceof Map) return next as Table
    return this.#fail(`Key '${key}' has already been defined.`)
  }

  #assignment(table: Table): void {
    const path = this.#key()
    if (this.#text[this.#at] !== '=') this.#fail(`expected '=' after a key`)
    this.#at += 1
    this.#spaces()
    const last = path.pop()!
    const parent = path.reduce((inner, key) => this.#descend(inner, key), table)
    if (parent.has(last)) this.#fail(`Key '${last}' has already been defined.`)
    parent.set(last, this.#value())
  }

  #key(): string[] {
    const path: string[] = []
    for (;;) {
      this.#spaces()
      const char = this.#text[this.#at]
      if (char === '"' || char === "'") path.push(this.#string())
      else {
        const bare = /^[A-Za-z0-9_-]+/.exec(this.#text.slice(this.#at, this.#at + 1000))?.[0]
        if (bare === undefined) return this.#fail('unexpected character in a key')
        path.push(bare)
        this.#at += bare.length
      }
      this.#spaces()
      if (this.#text[this.#at] !== '.') return path
      this.#at += 1
    }
  }

  #value(): unknown {
    const char = this.#text[this.#at]
    if (char === '"' || char === "'") return this.#string()
    if (char === '[') return this.#list()
    if (char === '{') return this.#inlineTable()
    const word = /^[^\s,\]}#]+(?: \d{2}:\d{2}[^\s,\]}#]*)?/.exec(this.#text.slice(this.#at, this.#at + 200))?.[0]
    if (word === undefined) return this.#fail('expected a value')
    this.#at += word.length
    return this.#scalar(word)
  }

  #scalar(word: string): unknown {
    if (word === 'true' || word === 'false') return word === 'true'
    if (/^[+-]?(?:0|[1-9](?:_?\d)*)$/.test(word))
      return new GoInt(BigInt(word.replaceAll('_', '').replace('+', '')), 'int64')
    if (/^0(?:x[0-9a-fA-F_]+|o[0-7_]+|b[01_]+)$/.test(word)) return new GoInt(BigInt(word.replaceAll('_', '')), 'int64')
    if (/^[+-]?(?:inf|nan)$/.test(word))
      return word.endsWith('nan') ? Number.NaN : word.startsWith('-') ? -Infinity : Infinity
    if (/^[+-]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?$/.test(word)) return Number(word.replaceAll('_', ''))
    if (DATE_OR_TIME.test(word)) return word
    return this.#fail(`expected value but found ${JSON.stringify(word)} instead`)
  }

  #list(): unknown[] {
    const items: unknown[] = []
    this.#at += 1
    for (;;) {
      this.#blank()
      if (this.#text[this.#at] === ']') {
        this.#at += 1
        return items
      }
      items.push(this.#value())
      this.#blank()
      if (this.#text[this.#at] === ',') this.#at += 1
      else if (this.#text[this.#at] !== ']') this.#fail(`expected a comma (',') or array terminator (']')`)
    }
  }

  #inlineTable(): Table {
    const table: Table = new Map()
    this.#at += 1
    const between = () => (this.#toml11 ? this.#blank() : this.#spaces())
    const isEnd = () => {
      between()
      if (this.#text[this.#at] !== '}') return false
      this.#at += 1
      return true
    }
    if (isEnd()) return table
    for (;;) {
      this.#assignment(table)
      if (isEnd()) return table
      if (this.#text[this.#at] !== ',') this.#fail(`expected a comma or an inline table terminator '}'`)
      this.#at += 1
      between()
      if (this.#toml11 && isEnd()) return table
    }
  }

  #string(): string {
    const quote = this.#text[this.#at]!
    const triple = this.#text.startsWith(quote.repeat(3), this.#at)
    this.#at += triple ? 3 : 1
    const end = triple ? quote.repeat(3) : quote
    if (triple && this.#text[this.#at] === '\n') this.#at += 1
    let out = ''
    while (!this.#text.startsWith(end, this.#at)) {
      const char = this.#text[this.#at]
      if (char === undefined) return this.#fail('unexpected EOF; expected a closing quote')
      if (char === '\n' && !triple) return this.#fail('strings cannot contain newlines')
      this.#at += 1
      out += char === '\\' && quote === '"' ? this.#escape() : char
    }
    this.#at += end.length
    if (!triple) return out
    // Up to two quotes may stand right before the closing three.
    for (let extra = 0; extra < 2 && this.#text[this.#at] === quote; extra++) {
      out += quote
      this.#at += 1
    }
    return out
  }

  #escape(): string {
    const char = this.#text[this.#at]!
    this.#at += 1
    const simple = (
      { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b', '"': '"', '\\': '\\' } as Record<string, string>
    )[char]
    if (simple !== undefined) return simple
    const width = char === 'u' ? 4 : char === 'U' ? 8 : 0
    if (width > 0) {
      const digits = this.#text.slice(this.#at, this.#at + width)
      if (digits.length !== width || !/^[0-9a-fA-F]+$/.test(digits)) return this.#fail('bad unicode escape')
      this.#at += width
      return String.fromCodePoint(Number.parseInt(digits, 16))
    }
    // A line end inside a multi-line string joins lines.
    if (/\s/.test(char)) {
      while (/\s/.test(this.#text[this.#at] ?? '')) this.#at += 1
      return ''
    }
    return this.#fail(`invalid escape character '${char}'`)
  }
}
