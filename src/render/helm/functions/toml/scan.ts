/** The words of a TOML text: names, strings, numbers, dates. What they mean is for toml-values.ts to say. */
import { goQuote } from '../../../gotemplate/go-string.ts'
import { quoted, shown } from './cursor.ts'
import type { TomlCursor } from './cursor.ts'

/** A word and the line it ends on. */
export interface TomlToken {
  readonly kind:
    | 'plain'
    | 'escaped'
    | 'lines'
    | 'plain lines'
    | 'integer'
    | 'float'
    | 'boolean'
    | 'date'
    | 'list'
    | 'table'
  readonly text: string
  readonly line: number
}

const HEX = /[0-9a-fA-F]/

function word(cursor: TomlCursor, kind: TomlToken['kind']): TomlToken {
  const { piece, line } = cursor
  cursor.begin()
  return { kind, text: piece, line }
}

/** A part of a key, which may be empty when no letter of a key is there. */
export function scanName(cursor: TomlCursor, toml11: boolean): TomlToken {
  const quote = cursor.peek()
  if (quote !== '"' && quote !== "'") {
    cursor.run(/[A-Za-z0-9_-]*/y)
    return word(cursor, 'plain')
  }
  cursor.next()
  return scanString(cursor, quote, toml11)
}

/** What stands for itself in a message about this quote. */
function around(quote: string, text: string): string {
  const other = quote === '"' ? "'" : '"'
  return other + text + other
}

/** A string of one line, behind its opening quote. */
function scanString(cursor: TomlCursor, quote: string, toml11: boolean): TomlToken {
  cursor.begin()
  let isEscaped = false
  for (;;) {
    const rune = cursor.next()
    if (rune === '') cursor.fail(`unexpected EOF; expected ${around(quote, quote)}`)
    if (rune === '\n' || rune === '\r') cursor.failBefore('strings cannot contain newlines')
    if (rune === '\\' && quote === '"') {
      scanEscape(cursor, toml11)
      isEscaped = true
    }
    if (rune !== quote) continue
    cursor.back()
    const found = word(cursor, isEscaped ? 'escaped' : 'plain')
    cursor.next()
    return found
  }
}

/** A string of several lines, behind its opening quotes. */
function scanLines(cursor: TomlCursor, quote: string, toml11: boolean): TomlToken {
  cursor.begin()
  for (;;) {
    const rune = cursor.next()
    if (rune === '') cursor.fail(`unexpected EOF; expected ${around(quote, quote.repeat(3))}`)
    if (rune === '\\' && quote === '"') {
      const after = cursor.next()
      if (after === '\n' || after === '\r') continue
      cursor.back()
      scanEscape(cursor, toml11)
    }
    if (rune !== quote || !cursor.accept(quote)) continue
    if (!cursor.accept(quote)) {
      cursor.back()
      continue
    }
    // Up to two quotes may stand right before the closing three.
    if (cursor.peek() === quote) {
      const five = quote.repeat(5)
      const isEscape = quote === '"' && cursor.piece.endsWith(`\\${five}`)
      if (cursor.piece.endsWith(five) && !isEscape) cursor.fail(`unexpected ${around(quote, quote.repeat(6))}`)
      for (let back = 0; back < 2; back++) cursor.back()
      continue
    }
    for (let back = 0; back < 3; back++) cursor.back()
    const found = word(cursor, quote === '"' ? 'lines' : 'plain lines')
    for (let over = 0; over < 3; over++) cursor.next()
    return found
  }
}

const UNICODE: Readonly<Record<string, readonly [number, string]>> = {
  x: [2, 'two'],
  u: [4, 'four'],
  U: [8, 'eight'],
}

/** What follows a backslash. A space is taken here: it may lead to the end of a line. */
function scanEscape(cursor: TomlCursor, toml11: boolean): void {
  const rune = cursor.next()
  const known = toml11 || (rune !== 'e' && rune !== 'x')
  if (known && rune !== '' && 'btnfre"\\ \t'.includes(rune)) return
  const digits = known ? UNICODE[rune] : undefined
  if (digits === undefined) {
    const problem = `invalid escape in string '\\${shown(rune)}'`
    return cursor.ended ? cursor.failBefore(problem) : cursor.fail(problem)
  }
  for (let at = 0; at < digits[0]; at++) {
    if (HEX.test(cursor.next())) continue
    cursor.fail(`expected ${digits[1]} hexadecimal digits after '\\${rune}', but got ${goQuote(cursor.piece)} instead`)
  }
}

/** The beginning of a value: a whole word, or the opening of a list or table. */
export function scanValue(cursor: TomlCursor, toml11: boolean): TomlToken {
  cursor.skipSpaces()
  const rune = cursor.next()
  switch (rune) {
    case '[':
      return word(cursor, 'list')
    case '{':
      return word(cursor, 'table')
    case '"':
    case "'":
      if (cursor.accept(rune)) {
        if (cursor.accept(rune)) return scanLines(cursor, rune, toml11)
        cursor.back()
      }
      return scanString(cursor, rune, toml11)
    case '.':
      return cursor.fail("floats must start with a digit, not '.'")
    case '-':
    case '+':
      return scanSigned(cursor)
    case 'i':
    case 'n':
      // Goes as far as it fits, so that `inan` is a float for now, and of `int` only `nt` is left to complain about.
      if (cursor.accept('n') && cursor.accept('f')) return word(cursor, 'float')
      if (cursor.accept('a') && cursor.accept('n')) return word(cursor, 'float')
      break
    case '':
      return cursor.fail('unexpected EOF; expected value')
    case '\n':
      return cursor.failBefore(`expected value but found ${quoted(rune)} instead`)
    default:
  }
  if (/\d/.test(rune)) {
    cursor.back()
    return scanNumber(cursor)
  }
  if (!/\p{L}/u.test(rune)) return cursor.fail(`expected value but found ${quoted(rune)} instead`)
  cursor.back()
  const letters = cursor.run(/\p{L}*/uy)
  if (letters === 'true' || letters === 'false') return word(cursor, 'boolean')
  return cursor.fail(`expected value but found ${goQuote(letters)} instead`)
}

const DATE = /(?:0\d+|[1-9]\d*)[-:][-\d:Tt .Zz+]*/y
const FLOAT = /\d[\d_]*[.eE][\d_.+\-eE]*/y
const BASED = /0[box]/y
const BASES: Readonly<Record<string, readonly [string, RegExp, RegExp]>> = {
  b: ['a binary', /[01]/, /[01_]*/y],
  o: ['an octal', /[0-7]/, /[0-7_]*/y],
  x: ['a hexadecimal', HEX, /[0-9a-fA-F_]*/y],
}

/** Whatever begins with a digit. */
function scanNumber(cursor: TomlCursor): TomlToken {
  if (cursor.sees(DATE)) {
    cursor.run(DATE)
    const date = word(cursor, 'date')
    return { ...date, text: date.text.trimEnd() }
  }
  if (cursor.sees(BASED)) {
    cursor.next()
    const [name, digit, digits] = BASES[cursor.next()]!
    const rune = cursor.peek()
    if (!digit.test(rune)) cursor.fail(`not ${name} number: '${cursor.piece}${shown(rune)}'`)
    cursor.run(digits)
    return word(cursor, 'integer')
  }
  return scanDecimal(cursor)
}

function scanDecimal(cursor: TomlCursor): TomlToken {
  if (cursor.sees(FLOAT)) {
    cursor.run(FLOAT)
    return word(cursor, 'float')
  }
  cursor.run(/[\d_]+/y)
  return word(cursor, 'integer')
}

/** A number behind its sign. */
function scanSigned(cursor: TomlCursor): TomlToken {
  const rune = cursor.next()
  if (rune === 'i' || rune === 'n') {
    const [second, third] = rune === 'i' ? ['n', 'f'] : ['a', 'n']
    if (cursor.accept(second) && cursor.accept(third)) return word(cursor, 'float')
    return cursor.fail(`invalid float: '${cursor.piece}'`)
  }
  if (rune === '.') cursor.fail("floats must start with a digit, not '.'")
  if (!/^\d$/.test(rune)) cursor.fail(`expected a digit but got ${quoted(rune)}`)
  const after = cursor.peek()
  if (rune === '0' && /[box]/.test(after)) {
    cursor.fail(`cannot use sign with non-decimal numbers: '${cursor.piece}${after}'`)
  }
  cursor.back()
  return scanDecimal(cursor)
}
