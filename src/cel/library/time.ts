/** Timestamps and durations: reading, writing, and their parts in a time zone. */
import { parseDurationNanos, UNIT_NANOS } from '../../core/time/duration.ts'
import { CelDuration, CelFailure, CelTimestamp, MAX_INT, MIN_INT } from '../values.ts'
import { parseOverloads } from './overload.ts'
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

/** Reads a Go duration exactly; undefined when the text is none. */
export function parseDurationText(text: string): CelDuration | undefined {
  const nanos = parseDurationNanos(text)
  return nanos === undefined || nanos > MAX_INT || nanos < MIN_INT ? undefined : new CelDuration(nanos)
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
  getHours: (nanos) => nanos / UNIT_NANOS.h,
  getMinutes: (nanos) => nanos / UNIT_NANOS.m,
  getSeconds: (nanos) => nanos / UNIT_NANOS.s,
  getMilliseconds: (nanos) => (nanos / UNIT_NANOS.ms) % 1000n,
}

/** The accessors of timestamps and durations. */
export const TIME_LIBRARY: readonly Overload[] = [
  ...Object.entries(PARTS).flatMap(([name, part]) =>
    parseOverloads({
      [`timestamp_${name}`]: [`timestamp::${name}(): int`, (time: CelTimestamp) => BigInt(part(inZone(time)))],
      [`timestamp_${name}_with_tz`]: [
        `timestamp::${name}(string): int`,
        (time: CelTimestamp, zone: string) => BigInt(part(inZone(time, zone))),
      ],
    }),
  ),
  ...Object.entries(DURATION_PARTS).flatMap(([name, part]) =>
    parseOverloads({ [`duration_${name}`]: [`duration::${name}(): int`, (span: CelDuration) => part(span.nanos)] }),
  ),
]
