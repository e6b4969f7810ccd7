/**
 * How Sprig turns any value into a string or number: fmt's `%v` and the rules of the cast library (0 where it cannot).
 */
import { formatValue } from '../../gotemplate/format.ts'
import { GoError } from '../../gotemplate/function.ts'
import { parseIntLiteral } from '../../gotemplate/number.ts'
import { fromGoBytes } from '../../gotemplate/go-string.ts'
import { GoBytes, GoInt, GoNamed, plainValue } from '../../gotemplate/value.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** Sprig's strval: strings as they are, values of the remaining types as `%v`. */
export function strval(value: unknown): string {
  if (typeof value === 'string') return value
  return value instanceof GoBytes ? fromGoBytes(value.bytes) : formatValue(value)
}

/** Sprig's strslice: what `join`, `sortAlpha` and `toStrings` see. */
export function strslice(value: unknown): string[] {
  if (value === null || value === undefined) return []
  const list = plainValue(value)
  if (list instanceof GoBytes) return Array.from(list.bytes, String)
  if (Array.isArray(list)) return list.filter((item) => item !== null && item !== undefined).map(strval)
  return [strval(value)]
}

/** Go's conversion of a float64 to int64: towards zero, the lowest number when it does not fit. */
function truncateFloat(value: number): bigint {
  if (!Number.isFinite(value)) return INT64_MIN
  const whole = BigInt(Math.trunc(value))
  return whole < INT64_MIN || whole > INT64_MAX ? INT64_MIN : whole
}

/** cast.ToInt64. */
export function toInt64(value: unknown): bigint {
  if (value instanceof GoNamed) return value.info.type === 'json.Number' ? toInt64(value.value) : 0n
  if (value instanceof GoInt) return BigInt.asIntN(64, value.value)
  if (typeof value === 'number') return truncateFloat(value)
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value !== 'string') return 0n
  const whole = parseIntLiteral(trimZeroDecimal(value))
  return whole === undefined || whole < INT64_MIN || whole > INT64_MAX ? 0n : whole
}

// cast reads "12.00" as an integer, "12.5" not.
function trimZeroDecimal(text: string): string {
  const point = /^(.*)\.0+$/.exec(text)
  return point && point[1] !== '' ? point[1]! : text
}

/** cast.ToFloat64. */
export function toFloat64(value: unknown): number {
  if (value instanceof GoNamed) return value.info.type === 'json.Number' ? toFloat64(value.value) : 0
  if (value instanceof GoInt) return Number(value.value)
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'string' ? (parseFloatText(value) ?? 0) : 0
}

/** strconv.ParseFloat: decimal, hexadecimal with exponent, underscores only with a base prefix, Inf and NaN. */
export function parseFloatText(given: string): number | undefined {
  const text = withoutUnderscores(given)
  if (text === undefined) return undefined
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text)
  if (special) {
    if (special[2]!.toLowerCase() === 'nan') return special[1] === '' ? Number.NaN : undefined
    return special[1] === '-' ? -Infinity : Infinity
  }
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/.exec(text)
  if (hex) {
    const digits = hex[2]! + hex[3]!
    if (digits === '') return undefined
    const value = Number(BigInt(`0x${digits}`)) * 2 ** (Number(hex[4]) - 4 * hex[3]!.length)
    return hex[1] === '-' ? -value : value
  }
  const value = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
  return value !== undefined && Number.isFinite(value) ? value : undefined
}

/** Underscores may stand between digits, and behind the prefix of a hexadecimal number. */
function withoutUnderscores(text: string): string | undefined {
  if (!text.includes('_')) return text
  const isHex = /^[+-]?0[xX]/.test(text)
  const digit = isHex ? '[0-9a-fA-F]' : '[0-9]'
  const misplaced = new RegExp(`(?<!${digit}${isHex ? '|[xX]' : ''})_|_(?!${digit})`)
  return misplaced.test(text) ? undefined : text.replaceAll('_', '')
}

/** A JavaScript number for counts and indexes. */
export function count(value: unknown): number {
  return Number((value as GoInt).value)
}

/** strings.Repeat, with Go's complaint and a cap that a hostile chart meets first. */
export function repeat(text: string, times: number): string {
  if (times < 0) throw new GoError('strings: negative Repeat count')
  if (text.length * times > 2 ** 63) throw new GoError('strings: Repeat output length overflow')
  if (text.length * times > MAX_ALLOCATION) throw new GoError('runtime error: makeslice: len out of range')
  if (text.length * times > MAX_TEXT)
    throw new GoError(`repeat: the result would have more than ${MAX_TEXT} characters`)
  return text.repeat(times)
}

/** The longest text of a function call. */
export const MAX_TEXT = 50_000_000

/** The most bytes that Go's runtime would ask for at once. */
const MAX_ALLOCATION = 2 ** 48

/** The longest list of a function call. */
export const MAX_LIST = 1_000_000
