/** Go's reference-time layouts: `2006-01-02 15:04:05`. */
import { civilOf, pad } from './go-time.ts'
import type { Civil, GoTime } from './go-time.ts'

/** Names of months. */
export const MONTHS = 'January February March April May June July August September October November December'.split(' ')
/** Names of days of the week. */
export const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

// A longer element precedes its prefix; Jan and Mon count only where no small letter follows.
const PART =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|002|01|02|03|04|05|06|15|-07:00:00|-070000|-07:00|-0700|-07|Z07:00:00|Z070000|Z07:00|Z0700|Z07|PM|pm|_2(?!006)|[.,]0+(?!\d)|[.,]9+(?!\d)|1(?!5)|2|3|4|5/g

function zoneText(part: string, offset: number): string {
  if (part.startsWith('Z') && offset === 0) return 'Z'
  const sign = offset < 0 ? '-' : '+'
  const size = Math.abs(offset)
  const [hours, minutes, seconds] = [Math.floor(size / 3600), Math.floor(size / 60) % 60, size % 60]
  const separator = part.includes(':') ? ':' : ''
  const digits = part.replace(/[^0-9]/g, '').length
  let text = sign + pad(hours, 2)
  if (digits >= 4) text += separator + pad(minutes, 2)
  if (digits >= 6) text += separator + pad(seconds, 2)
  return text
}

function formatPart(part: string, time: Civil): string {
  const hour12 = time.hour % 12 === 0 ? 12 : time.hour % 12
  switch (part) {
    case 'January':
      return MONTHS[time.month - 1]!
    case 'Jan':
      return MONTHS[time.month - 1]!.slice(0, 3)
    case '01':
      return pad(time.month, 2)
    case '1':
      return String(time.month)
    case 'Monday':
      return DAYS[time.weekday]!
    case 'Mon':
      return DAYS[time.weekday]!.slice(0, 3)
    case '02':
      return pad(time.day, 2)
    case '_2':
      return String(time.day).padStart(2, ' ')
    case '2':
      return String(time.day)
    case '002':
      return pad(time.yearDay, 3)
    case '__2':
      return String(time.yearDay).padStart(3, ' ')
    case '15':
      return pad(time.hour, 2)
    case '03':
      return pad(hour12, 2)
    case '3':
      return String(hour12)
    case '04':
      return pad(time.minute, 2)
    case '4':
      return String(time.minute)
    case '05':
      return pad(time.second, 2)
    case '5':
      return String(time.second)
    case '2006':
      return pad(time.year, 4)
    case '06':
      return pad(((time.year % 100) + 100) % 100, 2)
    case 'PM':
      return time.hour >= 12 ? 'PM' : 'AM'
    case 'pm':
      return time.hour >= 12 ? 'pm' : 'am'
    case 'MST':
      return time.abbreviation === '' ? zoneText('-0700', time.offset) : time.abbreviation
    default:
      return /^[.,]/.test(part) ? fraction(part, time.nanos) : zoneText(part, time.offset)
  }
}

function fraction(part: string, nanos: number): string {
  const digits = pad(nanos, 9).slice(0, part.length - 1)
  if (part[1] === '0') return part[0]! + digits
  const trimmed = digits.replace(/0+$/, '')
  return trimmed === '' ? '' : part[0]! + trimmed
}

/** time.Format. */
export function formatLayout(layout: string, time: GoTime): string {
  const civil = civilOf(time)
  return layout.replace(PART, (part) => formatPart(part, civil))
}

/** The first element of a layout, and the text around it; no element when the rest is plain text. */
export function nextPart(layout: string): { readonly before: string; readonly part: string; readonly after: string } {
  const at = layout.search(PART)
  if (at < 0) return { before: layout, part: '', after: '' }
  const part = new RegExp(PART.source).exec(layout.slice(at))![0]
  return { before: layout.slice(0, at), part, after: layout.slice(at + part.length) }
}
