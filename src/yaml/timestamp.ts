/** Timestamps as go-yaml recognises them: Go's time.Parse with four layouts, of which three have optional parts. */
import { isDigit } from './chars.ts'

/** A point in time as written: no clock is asked and no zone is looked up. */
export interface Timestamp {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly nanosecond: number
  readonly offsetSeconds: number
}

/** The timestamp that a plain scalar is, or undefined. */
export function parseTimestamp(text: string): Timestamp | undefined {
  if (!startsWithYear(text)) return undefined
  const reader = new DateReader(text)
  const date = reader.date()
  if (!date) return undefined
  const midnight = { ...date, hour: 0, minute: 0, second: 0, nanosecond: 0, offsetSeconds: 0 }
  if (reader.atEnd()) return midnight
  const zoned = reader.take('T') || reader.take('t')
  if (!zoned && !reader.spaces()) return undefined
  const time = reader.time()
  if (!time) return undefined
  const offsetSeconds = zoned ? reader.zone() : 0
  if (offsetSeconds === undefined || !reader.atEnd()) return undefined
  return { ...date, ...time, offsetSeconds }
}

/** The timestamp as Go's RFC3339Nano, or undefined where Go's JSON refuses it. */
export function formatTimestamp(t: Timestamp): string | undefined {
  const offset = Math.abs(t.offsetSeconds) / 60
  if (offset >= 24 * 60) return undefined
  const fraction = t.nanosecond === 0 ? '' : `.${String(t.nanosecond).padStart(9, '0').replace(/0+$/, '')}`
  const sign = t.offsetSeconds < 0 ? '-' : '+'
  const zone = t.offsetSeconds === 0 ? 'Z' : `${sign}${two(Math.trunc(offset / 60))}:${two(offset % 60)}`
  const date = `${String(t.year).padStart(4, '0')}-${two(t.month)}-${two(t.day)}`
  return `${date}T${two(t.hour)}:${two(t.minute)}:${two(t.second)}${fraction}${zone}`
}

function two(n: number): string {
  return String(n).padStart(2, '0')
}

function startsWithYear(text: string): boolean {
  for (let i = 0; i < 4; i++) if (!isDigit(text.charCodeAt(i))) return false
  return text.charAt(4) === '-'
}

function daysIn(month: number, year: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

class DateReader {
  readonly #text: string
  #at = 5

  constructor(text: string) {
    this.#text = text
  }

  atEnd(): boolean {
    return this.#at === this.#text.length
  }

  take(char: string): boolean {
    if (this.#text.charAt(this.#at) !== char) return false
    this.#at++
    return true
  }

  spaces(): boolean {
    const start = this.#at
    while (this.take(' '));
    return this.#at > start
  }

  // One or two digits, or -1.
  #number(): number {
    if (!isDigit(this.#text.charCodeAt(this.#at))) return -1
    let value = this.#text.charCodeAt(this.#at++) - 0x30
    if (isDigit(this.#text.charCodeAt(this.#at))) value = value * 10 + this.#text.charCodeAt(this.#at++) - 0x30
    return value
  }

  date(): { year: number; month: number; day: number } | undefined {
    const year = Number(this.#text.slice(0, 4))
    const month = this.#number()
    if (month < 1 || month > 12 || !this.take('-')) return undefined
    const day = this.#number()
    return day < 1 || day > daysIn(month, year) ? undefined : { year, month, day }
  }

  time(): { hour: number; minute: number; second: number; nanosecond: number } | undefined {
    const hour = this.#number()
    if (hour < 0 || hour >= 24 || !this.take(':')) return undefined
    const minute = this.#number()
    if (minute < 0 || minute >= 60 || !this.take(':')) return undefined
    const second = this.#number()
    if (second < 0 || second >= 60) return undefined
    return { hour, minute, second, nanosecond: this.#fraction() }
  }

  // Digits after nine are read and dropped.
  #fraction(): number {
    const mark = this.#text.charAt(this.#at)
    if ((mark !== '.' && mark !== ',') || !isDigit(this.#text.charCodeAt(this.#at + 1))) return 0
    const start = ++this.#at
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++
    return Number(this.#text.slice(start, Math.min(this.#at, start + 9)).padEnd(9, '0'))
  }

  // `Z`, or `+hh:mm`, in seconds.
  zone(): number | undefined {
    if (this.take('Z')) return 0
    const match = /^([+-])(\d\d):(\d\d)/.exec(this.#text.slice(this.#at, this.#at + 6))
    if (!match) return undefined
    const hours = Number(match[2])
    const minutes = Number(match[3])
    if (hours > 24 || minutes > 60) return undefined
    this.#at += 6
    const seconds = (hours * 60 + minutes) * 60
    return match[1] === '-' ? -seconds || 0 : seconds
  }
}
