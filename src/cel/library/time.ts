/** Timestamps and durations: reading, writing, and their parts in a time zone. */
import { CelDuration, CelFailure, CelTimestamp, MAX_INT, MIN_INT } from '../values.ts'
import { library } from './overload.ts'
import type { Overload } from './overload.ts'

const EARLIEST = -62_135_596_800_000_000_000n
const LATEST = 253_402_300_799_999_999_999n

/** A timestamp; an error outside the years 1 to 9999. */
export function timestamp(nanos: bigint): CelTimestamp {
  if (nanos < EARLIEST || nanos > LATEST) throw new CelFailure('timestamp overflow')
  return new CelTimestamp(nanos)
}

/** Whether seconds since 1970 are within the years 1 to 9999. */
export function isTimestamp(seconds: bigint): boolean {
  const nanos = seconds * 1_000_000_000n
  return nanos >= EARLIEST && nanos <= LATEST
}

/** A duration; an error beyond 292 years. */
export function duration(nanos: bigint): CelDuration {
  if (nanos > MAX_INT || nanos < MIN_INT) throw new CelFailure('duration overflow')
  return new CelDuration(nanos)
}

const TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** Reads RFC 3339; undefined when the text is none. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  if (!TIME.test(text) || text.slice(17, 19) === '60') return undefined
  try {
    const nanos = Temporal.Instant.from(text.toUpperCase()).epochNanoseconds
    return nanos < EARLIEST || nanos > LATEST ? undefined : new CelTimestamp(nanos)
  } catch {
    return undefined
  }
}

/** Reads a date (`2026-11-16`) as its midnight in UTC; undefined when the text is none. */
export function parseDate(text: string): CelTimestamp | undefined {
  return DATE.test(text) ? parseTimestamp(`${text}T00:00:00Z`) : undefined
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
}
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y

/** Reads a Go duration exactly; undefined when the text is none. */
export function parseDurationText(text: string): CelDuration | undefined {
  const isNegative = text.startsWith('-')
  let at = /^[+-]/.test(text) ? 1 : 0
  if (text.slice(at) === '0') return new CelDuration(0n)
  if (at === text.length) return undefined
  let nanos = 0n
  while (at < text.length) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (!match || (match[1] === '' && (match[2] ?? '') === '')) return undefined
    const unit = UNITS[match[3]!]!
    const fraction = match[2] ?? ''
    nanos += BigInt(match[1] || '0') * unit + (BigInt(fraction || '0') * unit) / 10n ** BigInt(fraction.length)
    at = PART.lastIndex
  }
  const signed = isNegative ? -nanos : nanos
  return signed > MAX_INT || signed < MIN_INT ? undefined : new CelDuration(signed)
}

function inZone(value: CelTimestamp, zone = 'UTC'): Temporal.ZonedDateTime {
  // Temporal wants a sign before an offset, CEL does not.
  const name = /^\d{2}:\d{2}$/.test(zone) ? `+${zone}` : zone
  try {
    return Temporal.Instant.fromEpochNanoseconds(value.nanos).toZonedDateTimeISO(name)
  } catch {
    throw new CelFailure(`unknown time zone ${zone}`)
  }
}

const PARTS: Readonly<Record<string, (time: Temporal.ZonedDateTime) => number>> = {
  getFullYear: (time) => time.year,
  getMonth: (time) => time.month - 1,
  getDate: (time) => time.day,
  getDayOfMonth: (time) => time.day - 1,
  getDayOfWeek: (time) => time.dayOfWeek % 7,
  getDayOfYear: (time) => time.dayOfYear - 1,
  getHours: (time) => time.hour,
  getMinutes: (time) => time.minute,
  getSeconds: (time) => time.second,
  getMilliseconds: (time) => time.millisecond,
}

const DURATION_PARTS: Readonly<Record<string, (nanos: bigint) => bigint>> = {
  getHours: (nanos) => nanos / UNITS['h']!,
  getMinutes: (nanos) => nanos / UNITS['m']!,
  getSeconds: (nanos) => nanos / UNITS['s']!,
  getMilliseconds: (nanos) => (nanos / UNITS['ms']!) % 1000n,
}

/** The accessors of timestamps and durations. */
export const TIME_LIBRARY: readonly Overload[] = [
  ...Object.entries(PARTS).flatMap(([name, part]) =>
    library({
      [`timestamp_${name}`]: [`timestamp::${name}(): int`, (time: CelTimestamp) => BigInt(part(inZone(time)))],
      [`timestamp_${name}_with_tz`]: [
        `timestamp::${name}(string): int`,
        (time: CelTimestamp, zone: string) => BigInt(part(inZone(time, zone))),
      ],
    }),
  ),
  ...Object.entries(DURATION_PARTS).flatMap(([name, part]) =>
    library({ [`duration_${name}`]: [`duration::${name}(): int`, (span: CelDuration) => part(span.nanos)] }),
  ),
]
