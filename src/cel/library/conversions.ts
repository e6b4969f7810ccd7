/** `int(x)`, `string(x)` and the other conversions, with their range checks. */
import { CelDuration, CelFailure, CelUint, durationText, MAX_INT, MAX_UINT, MIN_INT, timestampText } from '../values.ts'
import type { CelTimestamp, CelValue } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Overload } from './overload.ts'
import { parseDurationText, parseTimestamp, timestamp } from './time.ts'

const same = (value: CelValue): CelValue => value

function toInt(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw new CelFailure('integer overflow')
  return value
}

function toUint(value: bigint): CelUint {
  if (value > MAX_UINT || value < 0n) throw new CelFailure('unsigned integer overflow')
  return new CelUint(value)
}

function truncate(value: number, what: string): bigint {
  if (!Number.isFinite(value)) throw new CelFailure(what)
  return BigInt(Math.trunc(value))
}

function parseInteger(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text))
    throw new CelFailure(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  const value = BigInt(text)
  if (value > MAX_INT || value < MIN_INT) {
    throw new CelFailure(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  }
  return value
}

function parseUnsigned(text: string): CelUint {
  if (!/^\d+$/.test(text)) throw new CelFailure(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)
  return toUint(BigInt(text))
}

function parseDouble(text: string): number {
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return NaN
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) {
    throw new CelFailure(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
  return Number(text)
}

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

function parseBool(text: string): boolean {
  if (TRUE.has(text)) return true
  if (FALSE.has(text)) return false
  throw new CelFailure(`type conversion error from 'string' to 'bool'`)
}

function readTimestamp(text: string): CelTimestamp {
  const value = parseTimestamp(text)
  if (!value) throw new CelFailure(`parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse`)
  return value
}

function readDuration(text: string): CelDuration {
  const value = parseDurationText(text)
  if (!value) throw new CelFailure(`time: invalid duration ${JSON.stringify(text)}`)
  return value
}

/** A double as Go's `%g` writes it: with an exponent below a ten-thousandth and from a million. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [digits, power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

function doubleToInt(value: number): bigint {
  if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelFailure('integer overflow')
  return BigInt(Math.trunc(value))
}

/** The text of UTF-8 bytes; an error when they are not. */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CelFailure('invalid UTF-8 in bytes, cannot convert to string')
  }
}

/** The conversions. */
export const CONVERSIONS: readonly Overload[] = parseOverloads({
  bool_to_bool: ['bool(bool): bool', same],
  string_to_bool: ['bool(string): bool', parseBool],
  int64_to_int64: ['int(int): int', same],
  uint64_to_int64: ['int(uint): int', (value: CelUint) => toInt(value.value)],
  double_to_int64: ['int(double): int', doubleToInt],
  string_to_int64: ['int(string): int', parseInteger],
  timestamp_to_int64: ['int(timestamp): int', (value: CelTimestamp) => floorDivide(value.nanos, 1_000_000_000n)],
  duration_to_int64: ['int(duration): int', (value: CelDuration) => value.nanos],
  uint64_to_uint64: ['uint(uint): uint', same],
  int64_to_uint64: ['uint(int): uint', toUint],
  double_to_uint64: ['uint(double): uint', (value: number) => toUint(truncate(value, 'unsigned integer overflow'))],
  string_to_uint64: ['uint(string): uint', parseUnsigned],
  double_to_double: ['double(double): double', same],
  int64_to_double: ['double(int): double', (value: bigint) => Number(value)],
  uint64_to_double: ['double(uint): double', (value: CelUint) => Number(value.value)],
  string_to_double: ['double(string): double', parseDouble],
  string_to_string: ['string(string): string', same],
  bool_to_string: ['string(bool): string', String],
  int64_to_string: ['string(int): string', String],
  uint64_to_string: ['string(uint): string', (value: CelUint) => String(value.value)],
  double_to_string: ['string(double): string', doubleText],
  bytes_to_string: ['string(bytes): string', decodeText],
  timestamp_to_string: ['string(timestamp): string', timestampText],
  duration_to_string: ['string(duration): string', durationText],
  bytes_to_bytes: ['bytes(bytes): bytes', same],
  string_to_bytes: ['bytes(string): bytes', (value: string) => new TextEncoder().encode(value)],
  timestamp_to_timestamp: ['timestamp(timestamp): timestamp', same],
  string_to_timestamp: ['timestamp(string): timestamp', readTimestamp],
  int64_to_timestamp: ['timestamp(int): timestamp', (value: bigint) => timestamp(value * 1_000_000_000n)],
  duration_to_duration: ['duration(duration): duration', same],
  string_to_duration: ['duration(string): duration', readDuration],
  int64_to_duration: ['duration(int): duration', (value: bigint) => new CelDuration(value)],
})

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}
