/** What the words of a TOML text mean: strings without their escapes, int64, float64, times. */
import { goQuote } from '../../../gotemplate/go-string.ts'
import { GoInt } from '../../../gotemplate/value.ts'
import { timeStruct } from '../dates.ts'
import { fixedZone, UTC } from '../go/go-time.ts'
import type { Zone } from '../go/go-time.ts'
import { tryLayout } from '../go/parse-time.ts'
import { TomlProblem } from './cursor.ts'
import type { TomlToken } from './scan.ts'

/** The value of a word that is neither a list nor a table. */
export function scalarOf(word: TomlToken, toml11: boolean): unknown {
  switch (word.kind) {
    case 'integer':
      return integerOf(word)
    case 'float':
      return floatOf(word)
    case 'boolean':
      return word.text === 'true'
    case 'date':
      return dateOf(word, toml11)
    default:
      return tomlStringValue(word)
  }
}

/** The text of a string. */
export function tomlStringValue(word: TomlToken): string {
  switch (word.kind) {
    case 'escaped':
      return withoutEscapes(word, word.text)
    case 'lines':
      return withoutEscapes(word, joinedLines(withoutFirstLineEnd(word.text)))
    case 'plain lines':
      return withoutFirstLineEnd(word.text)
    default:
      return word.text
  }
}

function withoutFirstLineEnd(text: string): string {
  return text.replace(/^\r?\n/, '')
}

/** A backslash at the end of a line takes all white space behind it away. */
function joinedLines(text: string): string {
  return text.replace(/\\\\|\\[ \t\r]*\n[ \t\r\n]*/g, (found) => (found === '\\\\' ? found : ''))
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
  '"': '"',
  '\\': '\\',
}

function withoutEscapes({ line }: TomlToken, text: string): string {
  return text.replace(/\\(?:x..|u.{4}|U.{8}|.)/gs, (escape) => {
    const meant = ESCAPES[escape.slice(1)]
    if (meant !== undefined) return meant
    const digits = escape.slice(2)
    if (digits === '') throw new TomlProblem(line, `invalid escape: '${escape}'`)
    const code = Number.parseInt(digits, 16)
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new TomlProblem(line, `Escaped character '\\u${digits}' is not valid UTF-8.`)
    }
    return String.fromCodePoint(code)
  })
}

// Any hexadecimal digit may stand beside an underscore; what the number is made of was seen before.
function hasGoodUnderscores(text: string): boolean {
  return /^[+-]?(?:nan|inf)$/.test(text) || (/[0-9a-fA-F]$/.test(text) && !/(?:^|[^0-9a-fA-F])_/.test(text))
}

function hasLeadingZero(text: string): boolean {
  return /^0[^box]/.test(text) || /^[+-]0./.test(text)
}

function integerOf({ text, line }: TomlToken): GoInt {
  if (!hasGoodUnderscores(text)) {
    throw new TomlProblem(line, `Invalid integer ${goQuote(text)}: underscores must be surrounded by digits`)
  }
  if (hasLeadingZero(text)) throw new TomlProblem(line, `Invalid integer ${goQuote(text)}: cannot have leading zeroes`)
  const value = BigInt(text.replaceAll('_', '').replace('+', ''))
  if (BigInt.asIntN(64, value) !== value) throw new TomlProblem(line, `${text} is out of range for int64`)
  return new GoInt(value, 'int64')
}

function floatOf({ text, line }: TomlToken): number {
  const refuse = (why: string): never => {
    throw new TomlProblem(line, `Invalid float ${goQuote(text)}: ${why}`)
  }
  const parts = text.split(/[.eE]/).filter((part) => part !== '')
  if (!parts.every(hasGoodUnderscores)) refuse('underscores must be surrounded by digits')
  if (hasLeadingZero(parts[0]!)) refuse('cannot have leading zeroes')
  if (/\.(?!\d)/.test(text)) refuse("'.' must be followed by one or more digits")
  if (/^[+-]?nan$/.test(text)) return Number.NaN
  if (/^[+-]?inf$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  const digits = text.replaceAll('_', '')
  if (!/^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(digits)) {
    throw new TomlProblem(line, `Invalid float value: ${goQuote(text)}`)
  }
  const value = Number(digits)
  if (!Number.isFinite(value)) throw new TomlProblem(line, `${text} is out of range for float64`)
  return value
}

// Dates and times without a zone use the local zone, which is UTC here, under names that tell which part is missing.
const [LOCAL_DATE_TIME, LOCAL_DATE, LOCAL_TIME] = ['datetime-local', 'date-local', 'time-local'].map((name) =>
  fixedZone(name, 0),
) as [Zone, Zone, Zone]

/** The formats of dates by their zone's name. Defaults to RFC 3339. */
export const DATE_LAYOUTS: ReadonlyMap<string, string> = new Map([
  [LOCAL_DATE_TIME.name, '2006-01-02T15:04:05.999999999'],
  [LOCAL_DATE.name, '2006-01-02'],
  [LOCAL_TIME.name, '15:04:05.999999999'],
])

const LAYOUTS: readonly (readonly [string, Zone, 'in TOML 1.1'?])[] = [
  ['2006-01-02T15:04:05.999999999Z07:00', UTC],
  ['2006-01-02T15:04:05.999999999', LOCAL_DATE_TIME],
  ['2006-01-02', LOCAL_DATE],
  ['15:04:05.999999999', LOCAL_TIME],
  ['2006-01-02T15:04Z07:00', UTC, 'in TOML 1.1'],
  ['2006-01-02T15:04', LOCAL_DATE_TIME, 'in TOML 1.1'],
  ['15:04', LOCAL_TIME, 'in TOML 1.1'],
]

/** Go reads an hour of a single digit, TOML does not. */
function missesZero(text: string, layout: string): boolean {
  const fixed = /^[^.Z]*/.exec(layout)![0]
  return [...fixed].some((char, at) => !/\d/.test(char) && text[at] !== char)
}

function dateOf({ text, line }: TomlToken, toml11: boolean): unknown {
  const upper = text.replaceAll(/[t ]/g, 'T').replaceAll('z', 'Z')
  for (const [layout, zone, later] of LAYOUTS) {
    if (later && !toml11) continue
    const time = tryLayout(layout, upper, zone)
    if (time && !missesZero(upper, layout)) return timeStruct(time)
  }
  throw new TomlProblem(line, `invalid datetime: ${goQuote(upper)}`)
}
