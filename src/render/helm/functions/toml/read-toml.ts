/** A reader of TOML that takes, refuses and says what BurntSushi's does: TOML 1.0 of its v1.5, 1.1 of its v1.6. */
import { goQuote, goSlice } from '../../../gotemplate/go-string.ts'
import { quoted, TomlCursor, TomlProblem } from './cursor.ts'
import { scanName, scanValue } from './scan.ts'
import { TomlTables } from './tables.ts'
import { scalarOf, tomlStringValue } from './scalars.ts'

/** Text that is not TOML. */
export class TomlError extends Error {
  override readonly name = 'TomlError'
}

type Table = Map<string, unknown>

/** The table of a text. */
export function readToml(text: string, toml11 = false): Table {
  const bare = text.replace(/^(?:\udcff\udcfe|\udcfe\udcff|\ufeff)/, '')
  if (goSlice(bare, 0, 6).includes('\0')) {
    throw new TomlError(
      'toml: line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8',
    )
  }
  const reader = new TomlReader(bare, toml11)
  try {
    return reader.document()
  } catch (error) {
    if (!(error instanceof TomlProblem)) throw error
    const key = reader.lastKey
    const after = key === '' ? '' : ` (last key ${goQuote(key)})`
    throw new TomlError(`toml: line ${error.line}${after}: ${error.message}`)
  }
}

class TomlReader {
  readonly #cursor: TomlCursor
  readonly #toml11: boolean
  readonly #tables: TomlTables

  constructor(text: string, toml11: boolean) {
    this.#cursor = new TomlCursor(text)
    this.#toml11 = toml11
    this.#tables = new TomlTables(toml11)
  }

  /** The key that was read last. */
  get lastKey(): string {
    return this.#tables.lastKey
  }

  document(): Table {
    for (;;) {
      const rune = this.#nextOfLines()
      if (rune === '') return this.#tables.root
      if (rune === '[') this.#header()
      else {
        this.#cursor.back()
        this.#assignment()
        this.#tables.endKey()
      }
      this.#lineEnd()
    }
  }

  /** The next rune that is neither space, line end nor comment. */
  #nextOfLines(): string {
    for (;;) {
      const rune = this.#cursor.next()
      if (rune === '#') this.#comment()
      else if (rune === '' || !' \t\r\n'.includes(rune)) return rune
    }
  }

  #comment(): void {
    for (;;) {
      const rune = this.#cursor.next()
      if (rune !== '' && rune !== '\n' && rune !== '\r') continue
      this.#cursor.back()
      return
    }
  }

  #lineEnd(): void {
    this.#cursor.skipSpaces()
    const rune = this.#cursor.next()
    if (rune === '#') this.#comment()
    else if (rune !== '' && rune !== '\n' && rune !== '\r') {
      this.#cursor.fail(
        `expected a top-level item to end with a newline, comment, or EOF, but got ${quoted(rune)} instead`,
      )
    }
  }

  #header(): void {
    const cursor = this.#cursor
    const isList = cursor.accept('[')
    const path: string[] = []
    let rune = '.'
    while (rune === '.') {
      cursor.skipSpaces()
      const first = cursor.peek()
      if (first === ']' || first === '') cursor.fail('unexpected end of table name (table names cannot be empty)')
      if (first === '.') cursor.fail('unexpected table separator (table names cannot be empty)')
      this.#name(path)
      cursor.skipSpaces()
      rune = cursor.next()
      if (rune !== '.' && rune !== ']')
        cursor.fail(`expected '.' or ']' to end table name, but got ${quoted(rune)} instead`)
    }
    if (isList) {
      const last = cursor.next()
      if (last !== ']') cursor.fail(`expected end of table array name delimiter ']', but got ${quoted(last)} instead`)
    }
    this.#tables.openHeader(path, isList)
  }

  #name(path: string[]): void {
    const name = scanName(this.#cursor, this.#toml11)
    if (path.length === 0) this.#tables.line = name.line
    path.push(tomlStringValue(name))
  }

  /** `key = value`; inside braces it is also put into the table of these. */
  #assignment(own?: Table): void {
    const path = this.#path()
    const restore = this.#tables.openKey(path)
    const value = this.#value(false)
    this.#tables.setKey(value)
    if (own) this.#tables.put(own, path, value)
    restore()
  }

  /** The parts of a key, up to and with its `=`. */
  #path(): string[] {
    const cursor = this.#cursor
    const path: string[] = []
    for (;;) {
      cursor.skipSpaces()
      const first = cursor.peek()
      const isFirst = path.length === 0
      if (first === '=' || first === '') cursor.fail(`unexpected '='${isFirst ? ': key name appears blank' : ''}`)
      if (first === '.') cursor.fail(`unexpected '.'${isFirst ? ": keys cannot start with a '.'" : ''}`)
      this.#name(path)
      cursor.skipSpaces()
      const rune = cursor.next()
      if (rune === '=') return path
      if (rune === '.') continue
      if (rune === '') cursor.fail("unexpected EOF; expected key separator '='")
      const problem = `expected '.' or '=', but got ${quoted(rune)} instead`
      if (rune === '\n') cursor.failBefore(problem)
      cursor.fail(problem)
    }
  }

  #value(isInList: boolean): unknown {
    const word = scanValue(this.#cursor, this.#toml11)
    if (word.kind === 'list') return this.#list()
    return word.kind === 'table' ? this.#inlineTable(isInList) : scalarOf(word, this.#toml11)
  }

  #list(): unknown[] {
    this.#tables.markList()
    const items: unknown[] = []
    for (;;) {
      const first = this.#nextOfLines()
      if (first === ']') return items
      if (first === ',') this.#cursor.fail('unexpected comma')
      this.#cursor.back()
      items.push(this.#value(true))
      const rune = this.#nextOfLines()
      if (rune === ']') return items
      if (rune !== ',') {
        this.#cursor.fail(`expected a comma (',') or array terminator (']'), but got ${runeOrEnd(rune)}`)
      }
    }
  }

  #inlineTable(isInList: boolean): Table {
    const own: Table = new Map()
    const close = this.#tables.openInline(isInList)
    while (this.#nextOfTable() !== '}') {
      this.#cursor.back()
      this.#assignment(own)
      const rune = this.#nextOfInline()
      if (rune === '}') break
      if (rune !== ',') {
        this.#cursor.fail(`expected a comma or an inline table terminator '}', but got ${runeOrEnd(rune)} instead`)
      }
      this.#cursor.skipSpaces()
      if (!this.#toml11 && this.#cursor.peek() === '}') {
        this.#cursor.fail('trailing comma not allowed in inline tables')
      }
    }
    close()
    return own
  }

  /** The first rune of an entry, or the end of the table. */
  #nextOfTable(): string {
    const rune = this.#nextOfInline()
    if (rune === ',') this.#cursor.fail('unexpected comma')
    return rune
  }

  #nextOfInline(): string {
    if (this.#toml11) return this.#nextOfLines()
    for (;;) {
      this.#cursor.skipSpaces()
      const rune = this.#cursor.next()
      if (rune === '\n' || rune === '\r') this.#cursor.failBefore('newlines not allowed within inline tables')
      if (rune !== '#') return rune
      this.#comment()
    }
  }
}

function runeOrEnd(rune: string): string {
  return rune === '' ? 'end of file' : `'${rune}'`
}
