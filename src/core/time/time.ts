/** The only file that knows `Date`: RFC 3339 in and out, as Kubernetes writes it. */

/** `2026-11-16T00:20:50Z`: seconds, as in metadata and conditions. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / 1000)
  // A server asks for the present second again and again.
  if (second !== lastSecond) [lastSecond, lastText] = [second, `${new Date(ms).toISOString().slice(0, 19)}Z`]
  return lastText
}

let lastSecond = Number.NaN
let lastText = ''

/** `2026-11-16T00:20:50.123000Z`: microseconds, as in Leases and Events. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/

/** Milliseconds since 1970, or undefined when the text is not an RFC 3339 time. */
export function parseTime(text: string): number | undefined {
  if (!RFC3339.test(text)) return undefined
  const ms = Date.parse(text.toUpperCase())
  return Number.isNaN(ms) ? undefined : ms
}

/** Milliseconds since 1970 of a `date` header, or undefined when it is not in HTTP's form. */
export function parseHttpDate(text: string): number | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** The Date object of a moment, for libraries that take no number. */
export function toDate(ms: number): Date {
  return new Date(ms)
}

/** The age as kubectl prints it: `5s`, `3m12s`, `2h`, `4d3h`. */
export function humanAge(ms: number): string {
  if (ms < 0) return '<invalid>'
  const seconds = Math.floor(ms / 1000)
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return hours % 24 === 0 ? `${days}d` : `${days}d${hours % 24}h`
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  if (years < 8) return days % 365 === 0 ? `${years}y` : `${years}y${days % 365}d`
  return `${years}y`
}

/** A day and a time of day as a clock on a wall shows them. */
export interface WallTime {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}

/** Whether a text names a time zone of the IANA database, or UTC. */
export function isTimeZone(zone: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone)
    return !/^[+-]/.test(zone)
  } catch {
    return false
  }
}

/** What a clock in a zone shows at a moment. */
export function wallTimeAt(ms: number, zone: string): WallTime {
  const { year, month, day, hour, minute } = Temporal.Instant.fromEpochMilliseconds(Math.floor(ms)).toZonedDateTimeISO(
    zone,
  )
  return { year, month, day, hour, minute }
}

/**
 * The moment a clock in a zone shows a time: the first one when it does so twice, the next moment after a gap it is in.
 */
export function momentOfWallTime(wall: WallTime, zone: string): number {
  return Temporal.ZonedDateTime.from({ ...wall, timeZone: zone }, { disambiguation: 'compatible' }).epochMilliseconds
}

/** A day so many days later (or earlier), and its day of the week: 0 is Sunday. */
export function dayAfter(
  { year, month, day }: Pick<WallTime, 'year' | 'month' | 'day'>,
  days: number,
): Pick<WallTime, 'year' | 'month' | 'day'> & { readonly weekday: number } {
  const date = Temporal.PlainDate.from({ year, month, day }).add({ days })
  return { year: date.year, month: date.month, day: date.day, weekday: date.dayOfWeek % 7 }
}
