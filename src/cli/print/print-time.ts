/** Times for people: relative to now, or in the time zone of this machine. `-o json` keeps RFC 3339. */
import { humanAge, parseTime } from '../../core/time/time.ts'

const MINUTES = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
} as const

/** `2m ago` or `in 36h`. A text that is no time stays as it is. */
export function relativeTime(time: string | number, nowMs: number): string {
  const at = typeof time === 'number' ? time : parseTime(time)
  if (at === undefined) return String(time)
  return at > nowMs ? `in ${humanAge(at - nowMs)}` : `${humanAge(nowMs - at)} ago`
}

/** `2026-12-01 06:00`, in the zone of this machine. A text that is no time stays as it is. */
export function localTime(time: string | number, { seconds = false }: { readonly seconds?: boolean } = {}): string {
  const at = typeof time === 'number' ? time : parseTime(time)
  if (at === undefined) return String(time)
  // The Swedish locale writes dates as in ISO 8601.
  return new Intl.DateTimeFormat('sv-SE', seconds ? { ...MINUTES, second: '2-digit' } : MINUTES).format(at)
}

/** `2026-12-01 06:00 (in 36h)`. */
export function timeWithDistance(time: string | number, nowMs: number): string {
  return `${localTime(time)} (${relativeTime(time, nowMs)})`
}

/** A message of the hub with its RFC 3339 times in the zone of this machine. */
export function withLocalTimes(message: string): string {
  return message.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => localTime(time))
}
