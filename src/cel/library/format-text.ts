/** `"%d of %s".format([1, x])`. */
import {
  CelDuration,
  CelFailure,
  CelList,
  CelMap,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  durationText,
  timestampText,
  runtimeTypeName,
} from '../values.ts'
import type { CelValue } from '../values.ts'
import { formatType } from '../types.ts'
import type { CelType } from '../types.ts'
import { decodeText, doubleText } from './conversions.ts'

const CLAUSE = /%(?:%|(?:\.(\d+))?([^]?))/g

/** Fills a format's clauses with arguments. */
export function formatText(text: string, args: CelList): string {
  let next = 0
  return text.replace(CLAUSE, (clause, precision: string | undefined, verb: string | undefined) => {
    if (clause === '%%') return '%'
    if (next >= args.size) throw new CelFailure(`index ${next} out of range`)
    const value = args.at(next++)
    return clauseText(value, verb ?? '', precision === undefined ? 6 : Number(precision))
  })
}

function clauseText(value: CelValue, verb: string, precision: number): string {
  switch (verb) {
    case 's':
      return plainText(value)
    case 'd':
      if (typeof value === 'bigint') return value.toString()
      if (value instanceof CelUint) return value.value.toString()
      throw refusal('decimal clause can only be used on integers', value)
    case 'f':
      return fixedText(doubleOf(value, 'fixed-point clause can only be used on doubles'), precision)
    case 'e':
      return exponentText(doubleOf(value, 'scientific clause can only be used on doubles'), precision)
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0'
      return radixText(value, 2, 'only ints, uints, and bools can be formatted as binary')
    case 'o':
      return radixText(value, 8, 'octal clause can only be used on integers')
    case 'x':
      return hexText(value)
    case 'X':
      return hexText(value).toUpperCase()
    default:
      throw new CelFailure(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  }
}

function refusal(what: string, value: CelValue): CelFailure {
  return new CelFailure(`error during formatting: ${what}, was given ${runtimeTypeName(value)}`)
}

function doubleOf(value: CelValue, what: string): number {
  if (typeof value === 'number') return value
  throw refusal(what, value)
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return nonFinite(value)
  const digits = Math.min(precision, 100)
  const scaled = value * 10 ** digits
  // Go rounds a half to even, JavaScript away from zero.
  const isHalf = Number.isSafeInteger(scaled * 2) && Math.abs(scaled % 1) === 0.5
  return (isHalf ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits)
}

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹'

// As cel-go's printer writes it: 1.5×10⁰³.
function exponentText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return nonFinite(value)
  const [digits, power = '+0'] = value.toExponential(Math.min(precision, 100)).split('e')
  const raised = power
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => RAISED[Number(digit)]!)
  return `${digits}×10${power.startsWith('-') ? '⁻' : ''}${raised}`
}

function nonFinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞'
}

function radixText(value: CelValue, radix: number, what: string): string {
  if (typeof value === 'bigint') return value.toString(radix)
  if (value instanceof CelUint) return value.value.toString(radix)
  throw refusal(what, value)
}

function hexText(value: CelValue): string {
  if (typeof value === 'string') return new TextEncoder().encode(value).toHex()
  if (value instanceof Uint8Array) return value.toHex()
  return radixText(value, 16, 'only integers, byte buffers, and strings can be formatted as hex')
}

function plainText(value: CelValue): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return doubleText(value)
    case 'boolean':
    case 'bigint':
      return String(value)
    default:
      if (value === null) return 'null'
      if (value instanceof CelUint) return String(value.value)
      if (value instanceof Uint8Array) return decodeText(value)
      if (value instanceof CelTimestamp) return timestampText(value)
      if (value instanceof CelDuration) return durationText(value)
      if (value instanceof CelTypeValue) return value.name
      if (value instanceof CelList) return `[${Array.from(value, innerText).join(', ')}]`
      if (value instanceof CelMap) {
        const entries = Array.from(value.keys(), (key) => `${innerText(key)}:${innerText(value.get(key)!)}`)
        return `{${entries.sort().join(', ')}}`
      }
      throw refusal(
        'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
        value,
      )
  }
}

// Inside a list or map, values are written as an expression would have them.
function innerText(value: CelValue): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(6) : JSON.stringify(doubleText(value))
  if (value instanceof Uint8Array) return `b${JSON.stringify(decodeText(value))}`
  if (value instanceof CelTimestamp) return `timestamp(${JSON.stringify(timestampText(value))})`
  if (value instanceof CelDuration) return `duration(${JSON.stringify(durationText(value))})`
  return plainText(value)
}

const PRINTABLE: ReadonlySet<string> = new Set(
  'string bool bytes int uint double list map type timestamp duration null dyn param object error'.split(' '),
)
const RUNTIME_NAMES: Readonly<Record<string, string>> = {
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
  null: 'null_type',
  list: 'list',
  map: 'map',
}
const CLAUSES: Readonly<Record<string, { readonly kinds: ReadonlySet<string>; readonly what: string }>> = {
  s: {
    kinds: PRINTABLE,
    what: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  },
  d: { kinds: new Set(['int', 'uint', 'dyn']), what: 'decimal clause can only be used on integers' },
  f: { kinds: new Set(['double', 'dyn']), what: 'fixed-point clause can only be used on doubles' },
  e: { kinds: new Set(['double', 'dyn']), what: 'scientific clause can only be used on doubles' },
  b: { kinds: new Set(['int', 'uint', 'bool', 'dyn']), what: 'only integers and bools can be formatted as binary' },
  o: { kinds: new Set(['int', 'uint', 'dyn']), what: 'octal clause can only be used on integers' },
  x: {
    kinds: new Set(['int', 'uint', 'string', 'bytes', 'dyn']),
    what: 'only integers, byte buffers, and strings can be formatted as hex',
  },
}

/** What is wrong with a literal format and its arguments' types, and with which of them. */
export function formatClauses(
  text: string,
  types: readonly (CelType | undefined)[],
): { readonly message: string; readonly index?: number } | undefined {
  let next = 0
  for (const [clause, , verb = ''] of text.matchAll(CLAUSE)) {
    if (clause === '%%') continue
    const rule = CLAUSES[verb.toLowerCase() === 'x' ? 'x' : verb]
    if (!rule) return { message: `could not parse formatting clause: unrecognized formatting clause "${verb}"` }
    if (next >= types.length) return { message: `index ${next} out of range` }
    const type = types[next]
    if (type && !rule.kinds.has(type.kind)) {
      const name = type.kind === 'opaque' ? type.name : (RUNTIME_NAMES[type.kind] ?? formatType(type))
      return { message: `error during formatting: ${rule.what}, was given ${name}`, index: next }
    }
    next++
  }
  if (next < types.length) {
    return { message: `too many arguments supplied to string.format (expected ${next}, got ${types.length})` }
  }
  return undefined
}
