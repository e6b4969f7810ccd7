/** cel-go's string extensions, version 2, as Kubernetes has them. Positions count code points. */
import { NAMED_ESCAPES } from '../../core/text/go-quote.ts'
import { ArrayList, CelFailure, textSize } from '../values.ts'
import type { CelList } from '../values.ts'
import { formatText } from './format-text.ts'
import { parseOverloads } from './overload.ts'
import type { Overload } from './overload.ts'

// What Go calls white space; JavaScript's own class has one more.
const SPACE =
  /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g

const points = (text: string): string[] => Array.from(text)

function position(text: string, offset: bigint): number {
  const size = textSize(text)
  if (offset < 0n || offset > BigInt(size)) throw new CelFailure(`index out of range: ${offset}`)
  return Number(offset)
}

function charAt(text: string, index: bigint): string {
  return points(text)[position(text, index)] ?? ''
}

function indexOf(text: string, part: string, from = 0n): bigint {
  if (from > BigInt(textSize(text))) return -1n
  if (part === '') return BigInt(position(text, from))
  const all = points(text)
  const start = all.slice(0, position(text, from)).join('').length
  const found = text.indexOf(part, start)
  return found < 0 ? -1n : BigInt(textSize(text.slice(0, found)))
}

function lastIndexOf(text: string, part: string, from?: bigint): bigint {
  const size = textSize(text)
  if (from !== undefined && from > BigInt(size)) return -1n
  if (part === '') return from === undefined ? BigInt(size) : BigInt(position(text, from))
  if (from !== undefined && from < 0n) {
    throw new CelFailure(`index out of range: ${from}`)
  }
  const limit = from === undefined ? text.length : points(text).slice(0, Number(from)).join('').length
  const found = text.lastIndexOf(part, limit)
  return found < 0 ? -1n : BigInt(textSize(text.slice(0, found)))
}

function substring(text: string, start: bigint, end?: bigint): string {
  const size = BigInt(textSize(text))
  const stop = end ?? size
  if (start < 0n || start > size) throw new CelFailure(`index out of range: ${start}`)
  if (stop < 0n || stop > size) throw new CelFailure(`index out of range: ${stop}`)
  if (start > stop) throw new CelFailure(`invalid substring range. start: ${start}, end: ${stop}`)
  return points(text).slice(Number(start), Number(stop)).join('')
}

function replace(text: string, from: string, to: string, limit = -1n): string {
  if (limit === 0n) return text
  let rest = limit < 0n ? Infinity : Number(limit)
  if (from === '') {
    const out: string[] = []
    for (const point of ['', ...points(text)]) out.push(point, rest-- > 0 ? to : '')
    return out.join('')
  }
  const parts = text.split(from)
  return parts.reduce((out, part, index) => (index === 0 ? part : `${out}${rest-- > 0 ? to : from}${part}`), '')
}

function split(text: string, separator: string, limit = -1n): ArrayList {
  if (limit === 0n) return new ArrayList([])
  const parts = separator === '' ? points(text) : text.split(separator)
  if (limit < 0n || BigInt(parts.length) <= limit) return new ArrayList(parts)
  const head = parts.slice(0, Number(limit) - 1)
  return new ArrayList([...head, parts.slice(Number(limit) - 1).join(separator)])
}

function join(list: CelList, separator = ''): string {
  const parts: string[] = []
  for (const item of list) {
    if (typeof item !== 'string') throw new CelFailure('no such overload')
    parts.push(item)
  }
  return parts.join(separator)
}

const lower = (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())
const upper = (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())

const QUOTED: Readonly<Record<string, string>> = { ...NAMED_ESCAPES, '"': '\\"' }

/** The string extensions. */
export const STRINGS: readonly Overload[] = parseOverloads({
  string_char_at_int: ['string::charAt(int): string', charAt],
  string_index_of_string: ['string::indexOf(string): int', (text: string, part: string) => indexOf(text, part)],
  string_index_of_string_int: ['string::indexOf(string, int): int', indexOf],
  string_last_index_of_string: [
    'string::lastIndexOf(string): int',
    (text: string, part: string) => lastIndexOf(text, part),
  ],
  string_last_index_of_string_int: ['string::lastIndexOf(string, int): int', lastIndexOf],
  string_lower_ascii: ['string::lowerAscii(): string', lower],
  string_upper_ascii: ['string::upperAscii(): string', upper],
  string_replace_string_string: ['string::replace(string, string): string', replace],
  string_replace_string_string_int: ['string::replace(string, string, int): string', replace],
  string_split_string: ['string::split(string): list<string>', split],
  string_split_string_int: ['string::split(string, int): list<string>', split],
  string_substring_int: ['string::substring(int): string', substring],
  string_substring_int_int: ['string::substring(int, int): string', substring],
  string_trim: ['string::trim(): string', (text: string) => text.replace(SPACE, '')],
  list_join: ['list<string>::join(): string', join],
  list_join_string: ['list<string>::join(string): string', join],
  string_format: ['string::format(list<dyn>): string', (text: string, args: CelList) => formatText(text, args)],
  strings_quote: [
    'strings.quote(string): string',
    (text: string) => `"${text.replace(/["\\\x07\b\f\n\r\t\v]/g, (char) => QUOTED[char]!)}"`,
  ],
})
