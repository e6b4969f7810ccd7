/** Go's time.Time: instants in nanoseconds, Go's layouts in and out, durations. */
import { parseDurationNanos } from '../../../../core/time/duration.ts'

/** An instant and the zone it is shown in. */
export interface GoTime {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint
  readonly zone: Zone
}

/** A zone: its offset and abbreviation at an instant. */
export interface Zone {
  readonly name: string
  readonly at: (seconds: bigint) => { readonly offset: number; readonly abbreviation: string }
}

const SECOND = 1_000_000_000n

/** UTC. */
export const UTC: Zone = { name: 'UTC', at: () => ({ offset: 0, abbreviation: 'UTC' }) }

/** A zone that is always the same. */
export function fixedZone(abbreviation: string, offset: number): Zone {
  return { name: abbreviation, at: () => ({ offset, abbreviation }) }
}

/** time.LoadLocation through the runtime's own zone data; undefined when it does not know the name. */
export function loadZone(name: string): Zone | undefined {
  if (name === '' || name === 'UTC') return UTC
  if (!/^[A-Za-z0-9_+\-/]+$/.test(name)) return undefined
  let offsets: Intl.DateTimeFormat
  let names: Intl.DateTimeFormat
  try {
    offsets = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
    names = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'short' })
  } catch {
    return undefined
  }
  const part = (format: Intl.DateTimeFormat, seconds: bigint) =>
    format.formatToParts(Number(seconds) * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return {
    name,
    at: (seconds) => {
      const match = /GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?/.exec(part(offsets, seconds))
      const size = match?.[1] ? Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0) : 0
      const offset = match?.[1] === '-' ? -size : size
      const short = part(names, seconds)
      const known = KNOWN_NAMES[name]?.(offset)
      // Zones without letters of their own are shown as their offset.
      return { offset, abbreviation: known ?? (/^(GMT|UTC)[+-]/.test(short) ? numericName(offset) : short) }
    },
  }
}

function numericName(offset: number): string {
  const sign = offset < 0 ? '-' : '+'
  const minutes = Math.floor(Math.abs(offset) / 60)
  const text = sign + pad(Math.floor(minutes / 60), 2)
  return minutes % 60 === 0 ? text : text + pad(minutes % 60, 2)
}

const central = (offset: number) => (offset === 7200 ? 'CEST' : 'CET')
const eastern = (offset: number) => (offset === 10_800 ? 'EEST' : 'EET')

// American English has no short names for these, the zone data has.
const KNOWN_NAMES: Readonly<Record<string, (offset: number) => string>> = {
  ...Object.fromEntries(
    'Amsterdam Berlin Brussels Budapest Copenhagen Madrid Oslo Paris Prague Rome Stockholm Vienna Warsaw Zurich'
      .split(' ')
      .map((city) => [`Europe/${city}`, central]),
  ),
  ...Object.fromEntries(
    'Athens Bucharest Helsinki Kiev Kyiv Riga Sofia Tallinn Vilnius'
      .split(' ')
      .map((city) => [`Europe/${city}`, eastern]),
  ),
  'Europe/London': (offset) => (offset === 3600 ? 'BST' : 'GMT'),
  'Europe/Dublin': (offset) => (offset === 3600 ? 'IST' : 'GMT'),
  'Europe/Lisbon': (offset) => (offset === 3600 ? 'WEST' : 'WET'),
  'Asia/Tokyo': () => 'JST',
  'Asia/Seoul': () => 'KST',
  'Asia/Shanghai': () => 'CST',
  'Asia/Hong_Kong': () => 'HKT',
  'Asia/Kolkata': () => 'IST',
  'Asia/Calcutta': () => 'IST',
  'Australia/Sydney': (offset) => (offset === 39_600 ? 'AEDT' : 'AEST'),
}

/** The parts of a time in its zone. */
export interface Civil {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanos: number
  readonly weekday: number
  readonly yearDay: number
  readonly offset: number
  readonly abbreviation: string
}

/** Calendar parts of an instant (proleptic Gregorian). */
export function civilOf({ nanos, zone }: GoTime): Civil {
  const seconds = floorDiv(nanos, SECOND)
  const { offset, abbreviation } = zone.at(seconds)
  const local = Number(seconds) + offset
  const days = Math.floor(local / 86_400)
  const rest = local - days * 86_400
  const { year, month, day } = dateOfDays(days)
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor(rest / 60) % 60,
    second: rest % 60,
    nanos: Number(nanos - seconds * SECOND),
    weekday: (((days + 4) % 7) + 7) % 7,
    yearDay: days - daysOfDate(year, 1, 1) + 1,
    offset,
    abbreviation,
  }
}

function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

/** Days since 1970 of a date. */
export function daysOfDate(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function dateOfDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

/** Pads a number with zeros. */
export function pad(value: number, width: number): string {
  return value < 0 ? `-${String(-value).padStart(width, '0')}` : String(value).padStart(width, '0')
}

/** time.Duration's String: `1h2m3.5s`. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const sign = nanos < 0n ? '-' : ''
  const size = nanos < 0n ? -nanos : nanos
  if (size < SECOND) {
    if (size < 1000n) return `${sign}${size}ns`
    const [unit, scale] = size < 1_000_000n ? (['µs', 1000n] as const) : (['ms', 1_000_000n] as const)
    return sign + decimal(size, scale) + unit
  }
  const hours = size / (3600n * SECOND)
  const minutes = (size / (60n * SECOND)) % 60n
  const seconds = `${decimal(size % (60n * SECOND), SECOND)}s`
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : sign + seconds
}

function decimal(value: bigint, scale: bigint): string {
  const width = String(scale).length - 1
  const fraction = String(value % scale)
    .padStart(width, '0')
    .replace(/0+$/, '')
  return fraction === '' ? String(value / scale) : `${value / scale}.${fraction}`
}

const MAX_DURATION = 2n ** 63n - 1n

/** time.ParseDuration; undefined when it is none. */
export function parseDuration(text: string): bigint | undefined {
  const nanos = parseDurationNanos(text)
  return nanos === undefined || nanos > MAX_DURATION || nanos < -MAX_DURATION ? undefined : nanos
}
