/** What a plain scalar is: yaml.v2's rules for kubectl and Helm (1.1), yaml.v3's for Kustomize (1.2). */
import { isDigit } from './chars.ts'
import { parseTimestamp } from './timestamp.ts'
import type { Timestamp } from './timestamp.ts'
import type { Resolver } from './yaml.ts'

/** A scalar with its tag; an integer is a bigint only where a number would not be exact. */
export type Resolved =
  | { readonly tag: '!!null'; readonly value: null }
  | { readonly tag: '!!bool'; readonly value: boolean }
  | { readonly tag: '!!int'; readonly value: number | bigint }
  | { readonly tag: '!!float'; readonly value: number }
  | { readonly tag: '!!timestamp'; readonly value: Timestamp }
  | { readonly tag: '!!str'; readonly value: string }

const NULL: Resolved = { tag: '!!null', value: null }
const TRUE: Resolved = { tag: '!!bool', value: true }
const FALSE: Resolved = { tag: '!!bool', value: false }

const WORDS_12 = new Map<string, Resolved>([
  ...words(NULL, '~ null Null NULL'),
  ...words(TRUE, 'true True TRUE'),
  ...words(FALSE, 'false False FALSE'),
  ...words({ tag: '!!float', value: NaN }, '.nan .NaN .NAN'),
  ...words({ tag: '!!float', value: Infinity }, '.inf .Inf .INF +.inf +.Inf +.INF'),
  ...words({ tag: '!!float', value: -Infinity }, '-.inf -.Inf -.INF'),
])

const WORDS_11 = new Map<string, Resolved>([
  ...WORDS_12,
  ...words(TRUE, 'y Y yes Yes YES on On ON'),
  ...words(FALSE, 'n N no No NO off Off OFF'),
])

function words(resolved: Resolved, list: string): [string, Resolved][] {
  return list.split(' ').map((word) => [word, resolved])
}

/** Whether YAML 1.1 takes a word for a boolean; yaml.v3 quotes them for the sake of older readers. */
export function isYaml11Boolean(text: string): boolean {
  return WORDS_11.get(text)?.tag === '!!bool'
}

// What a scalar may be, by its first character: nothing special, a word, or something with digits.
const WORD = 1
const NUMBER = 2
const HINTS = new Uint8Array(128)
for (const c of 'yYnNtTfFoO~') HINTS[c.charCodeAt(0)] = WORD
for (const c of '+-.0123456789') HINTS[c.charCodeAt(0)] = NUMBER

/** What a plain scalar without a tag is. */
export function resolvePlain(text: string, resolver: Resolver): Resolved {
  if (text === '') return NULL
  const first = text.charCodeAt(0)
  const hint = first < 128 ? HINTS[first]! : 0
  if (hint === 0) return { tag: '!!str', value: text }
  // The longest word has five letters.
  if (text.length <= 5) {
    const word = (resolver === '1.1' ? WORDS_11 : WORDS_12).get(text)
    if (word) return word
  }
  if (hint === NUMBER) {
    const timestamp = isDigit(first) ? parseTimestamp(text) : undefined
    if (timestamp) return { tag: '!!timestamp', value: timestamp }
    const number = resolveNumber(text, resolver)
    if (number) return number
  }
  return { tag: '!!str', value: text }
}

const RESOLVABLE = new Set(['', '!!bool', '!!int', '!!float', '!!null', '!!timestamp'])

/** Whether a scalar with this tag is read at all; others are strings. */
export function isResolvable(tag: string): boolean {
  return RESOLVABLE.has(tag)
}

/** The tag of a plain scalar. */
export function resolveTag(text: string, resolver: Resolver): Resolved['tag'] {
  return resolvePlain(text, resolver).tag
}

/** The same for a scalar that its tag says is no timestamp. */
export function resolveUndated(text: string, resolver: Resolver): Resolved {
  const resolved = resolvePlain(text, resolver)
  return resolved.tag === '!!timestamp' ? (resolveNumber(text, resolver) ?? { tag: '!!str', value: text }) : resolved
}

const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
// What starts with a dot goes to strconv.ParseFloat as it is, which takes underscores between digits.
const DOTTED_FLOAT = /^\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?$/
const SAFE_DECIMAL_DIGITS = 15

function resolveNumber(text: string, resolver: Resolver): Resolved | undefined {
  if (text.charCodeAt(0) === 0x2e) return DOTTED_FLOAT.test(text) ? float(text.replaceAll('_', '')) : undefined
  const plain = text.replaceAll('_', '')
  const integer = parseInteger(plain)
  if (integer !== undefined) return { tag: '!!int', value: integer }
  if (FLOAT.test(plain)) {
    const value = float(plain)
    if (value) return value
  }
  const lenient = parseSignInside(plain, '0b', 2) ?? (resolver === '1.2' ? parseSignInside(plain, '0o', 8) : undefined)
  return lenient === undefined ? undefined : { tag: '!!int', value: lenient }
}

function float(text: string): Resolved | undefined {
  const value = Number(text)
  return Number.isFinite(value) ? { tag: '!!float', value } : undefined
}

const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

// strconv.ParseInt, then ParseUint, with base 0: 0x, 0o, 0b, and 0 for octal.
function parseInteger(text: string): number | bigint | undefined {
  const first = text.charCodeAt(0)
  const signed = first === 0x2b || first === 0x2d
  const digits = signed ? text.slice(1) : text
  let base = 10
  let from = 0
  if (digits.length > 1 && digits.charCodeAt(0) === 0x30) {
    const letter = digits.charCodeAt(1) | 0x20
    base = letter === 0x78 ? 16 : letter === 0x6f ? 8 : letter === 0x62 ? 2 : 8
    from = letter === 0x78 || letter === 0x6f || letter === 0x62 ? 2 : 1
  }
  return toInteger(digits.slice(from), base, first === 0x2d ? '-' : signed ? '+' : '')
}

function toInteger(digits: string, base: number, sign: '' | '+' | '-'): number | bigint | undefined {
  if (digits === '') return undefined
  for (let i = 0; i < digits.length; i++) {
    const c = digits.charCodeAt(i)
    const value = isDigit(c) ? c - 0x30 : (c >= 0x61 && c <= 0x66) || (c >= 0x41 && c <= 0x46) ? (c | 0x20) - 0x57 : 99
    if (value >= base) return undefined
  }
  if (base === 10 && digits.length <= SAFE_DECIMAL_DIGITS) return sign === '-' ? 0 - Number(digits) : Number(digits)
  const prefix = base === 16 ? '0x' : base === 8 ? '0o' : base === 2 ? '0b' : ''
  const magnitude = BigInt(prefix + digits)
  const value = sign === '-' ? -magnitude : magnitude
  // A sign leaves no room for a uint64.
  if (value < MIN_INT64 || value > (sign === '' ? MAX_UINT64 : MAX_UINT64 >> 1n)) return undefined
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
}

// go-yaml cuts the prefix off and parses the rest again, which lets a sign through: 0b-1 is -1.
function parseSignInside(text: string, prefix: string, base: number): number | bigint | undefined {
  if (!text.startsWith(prefix)) return undefined
  const sign = text.charAt(2)
  return sign === '+' || sign === '-' ? toInteger(text.slice(3), base, sign) : undefined
}

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** Whether YAML 1.1 takes a string for a number with colons; Go never reads them so but quotes them. */
export function isBase60(text: string): boolean {
  return text.includes(':') && BASE_60.test(text)
}
