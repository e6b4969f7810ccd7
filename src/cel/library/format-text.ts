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
  typeNameOf,
} from '../values.ts'
import type { CelValue } from '../values.ts'
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
      if (typeof value === 'number' && !Number.isFinite(value))
        return doubleText(value)
          .replace(/([+-]?)Inf/, '$1Infinity')
          .replace('+', '')
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
  return new CelFailure(`error during formatting: ${what}, was given ${typeNameOf(value)}`)
}

function doubleOf(value: CelValue, what: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof CelUint) return Number(value.value)
  throw refusal(what, value)
}

function fixedText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return nonFinite(value)
  return value.toFixed(Math.min(precision, 100))
}

function exponentText(value: number, precision: number): string {
  if (!Number.isFinite(value)) return nonFinite(value)
  return value.toExponential(Math.min(precision, 100)).replace(/e([+-])(\d)$/, 'e$10$2')
}

function nonFinite(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity'
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
      return Number.isFinite(value) ? doubleText(value) : nonFinite(value)
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
      if (value instanceof CelList) return `[${Array.from(value, plainText).join(', ')}]`
      if (value instanceof CelMap) {
        const entries = Array.from(value.keys(), (key) => `${plainText(key)}: ${plainText(value.get(key)!)}`)
        return `{${entries.sort().join(', ')}}`
      }
      throw refusal(
        'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
        value,
      )
  }
}
