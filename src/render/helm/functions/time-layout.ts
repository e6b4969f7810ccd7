/** Go's reference-time layouts: `2006-01-02 15:04:05`. */
import { civilOf, daysOfDate, fixedZone, pad, UTC } from './go-time.ts'
import type { Civil, GoTime, Zone } from './go-time.ts'

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

// Longer ones first where one begins another; Jan and Mon only where no small letter follows.
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
  return layout.replace(PART, (part, at: number) => {
    // A fraction counts only behind seconds.
    if (/^[.,][09]/.test(part) && !/(?:05|5)$/.test(layout.slice(0, at)) && !isFraction(layout, at)) return part
    return formatPart(part, civil)
  })
}

function isFraction(layout: string, at: number): boolean {
  return !/\d/.test(layout[at + 1 + (/^[09]+/.exec(layout.slice(at + 1))?.[0].length ?? 0)] ?? '')
}

interface Reading {
  year: number
  month: number
  day: number
  yearDay: number
  hour: number
  minute: number
  second: number
  nanos: number
  pm: boolean | undefined
  offset: number | undefined
  abbreviation: string
}

/** time.ParseInLocation; undefined when the text does not fit the layout. */
export function parseLayout(layout: string, text: string, local: Zone): GoTime | undefined {
  const reading: Reading = {
    year: 0,
    month: -1,
    day: -1,
    yearDay: -1,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    pm: undefined,
    offset: undefined,
    abbreviation: '',
  }
  let rest = text
  let last = 0
  for (const match of layout.matchAll(PART)) {
    const literal = layout.slice(last, match.index)
    if (!rest.startsWith(literal)) return undefined
    last = match.index + match[0].length
    const after = readPart(match[0], rest.slice(literal.length), reading)
    if (after === undefined) return undefined
    rest = after
    // Seconds may have a fraction that the layout does not mention.
    if ((match[0] === '05' || match[0] === '5') && !/^[.,][09]/.test(layout.slice(last))) {
      const found = /^[.,](\d+)/.exec(rest)
      if (found) {
        reading.nanos = Number(found[1]!.slice(0, 9).padEnd(9, '0'))
        rest = rest.slice(found[0].length)
      }
    }
  }
  if (rest !== layout.slice(last)) return undefined
  return assemble(reading, local)
}

function readPart(part: string, text: string, reading: Reading): string | undefined {
  const number = (pattern: RegExp, set: (value: number) => void): string | undefined => {
    const found = pattern.exec(text)
    if (!found) return undefined
    set(Number(found[0].trim()))
    return text.slice(found[0].length)
  }
  const word = (words: readonly string[], length: number, set: (index: number) => void): string | undefined => {
    const index = words.findIndex((name) => {
      const wanted = length > 0 ? name.slice(0, length) : name
      return text.slice(0, wanted.length).toLowerCase() === wanted.toLowerCase()
    })
    if (index < 0) return undefined
    set(index)
    return text.slice(length > 0 ? length : words[index]!.length)
  }
  switch (part) {
    case 'January':
      return word(MONTHS, 0, (index) => (reading.month = index + 1))
    case 'Jan':
      return word(MONTHS, 3, (index) => (reading.month = index + 1))
    case 'Monday':
      return word(DAYS, 0, () => {})
    case 'Mon':
      return word(DAYS, 3, () => {})
    case '2006':
      return number(/^\d{4}/, (value) => (reading.year = value))
    case '06':
      return number(/^\d{2}/, (value) => (reading.year = value >= 69 ? value + 1900 : value + 2000))
    case '01':
      return number(/^\d{2}/, (value) => (reading.month = value))
    case '1':
      return number(/^\d{1,2}/, (value) => (reading.month = value))
    case '02':
      return number(/^\d{2}/, (value) => (reading.day = value))
    case '2':
    case '_2':
      return number(part === '2' ? /^\d{1,2}/ : /^ ?\d{1,2}/, (value) => (reading.day = value))
    case '002':
    case '__2':
      return number(/^[ \d]{2}\d/, (value) => (reading.yearDay = value))
    case '15':
      return number(/^\d{2}/, (value) => (reading.hour = value))
    case '03':
    case '3':
      return number(part === '03' ? /^\d{2}/ : /^\d{1,2}/, (value) => (reading.hour = value))
    case '04':
    case '4':
      return number(part === '04' ? /^\d{2}/ : /^\d{1,2}/, (value) => (reading.minute = value))
    case '05':
    case '5':
      return number(part === '05' ? /^\d{2}/ : /^\d{1,2}/, (value) => (reading.second = value))
    case 'PM':
    case 'pm':
      if (!/^[ap]m/i.test(text)) return undefined
      reading.pm = /^p/i.test(text)
      return text.slice(2)
    case 'MST':
      return readAbbreviation(text, reading)
    default:
      return /^[.,]/.test(part) ? readFraction(part, text, reading) : readOffset(part, text, reading)
  }
}

function readFraction(part: string, text: string, reading: Reading): string | undefined {
  const found = /^[.,](\d+)/.exec(text)
  if (part[1] === '9') {
    if (!found) return text
  } else if (found?.[1]?.length !== part.length - 1) return undefined
  reading.nanos = Number(found[1]!.slice(0, 9).padEnd(9, '0'))
  return text.slice(found[0].length)
}

function readOffset(part: string, text: string, reading: Reading): string | undefined {
  if (part.startsWith('Z') && text.startsWith('Z')) {
    reading.offset = 0
    return text.slice(1)
  }
  const digits = part.replace(/[^0-9]/g, '').length
  const separator = part.includes(':') ? ':' : ''
  const pattern = new RegExp(
    `^([+-])(\\d{2})${digits >= 4 ? `${separator}(\\d{2})` : '()'}${digits >= 6 ? `${separator}(\\d{2})` : '()'}`,
  )
  const found = pattern.exec(text)
  if (!found || Number(found[2]) > 24 || Number(found[3]) > 60 || Number(found[4]) > 60) return undefined
  const size = Number(found[2]) * 3600 + Number(found[3] || 0) * 60 + Number(found[4] || 0)
  reading.offset = found[1] === '-' ? -size : size
  return text.slice(found[0].length)
}

function readAbbreviation(text: string, reading: Reading): string | undefined {
  const found = /^(?:UTC|[A-Z]{3,4}(?:T|(?![A-Z]))|[+-]\d{2}(?:\d{2})?)/.exec(text)
  if (!found) return undefined
  reading.abbreviation = found[0]
  if (found[0] === 'UTC') reading.offset = 0
  return text.slice(found[0].length)
}

function assemble(reading: Reading, local: Zone): GoTime | undefined {
  let { hour, month, day } = reading
  if (reading.pm !== undefined) {
    if (reading.pm && hour < 12) hour += 12
    else if (!reading.pm && hour === 12) hour = 0
  }
  const { year, minute, second } = reading
  if (reading.yearDay >= 0) {
    const start = daysOfDate(year, 1, 1)
    const date = civilOf({ nanos: BigInt(start + reading.yearDay - 1) * 86_400_000_000_000n, zone: UTC })
    ;({ month, day } = date)
  } else {
    if (month < 0) month = 1
    if (day < 0) day = 1
  }
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const wall = BigInt(daysOfDate(year, month, day)) * 86_400n + BigInt(hour * 3600 + minute * 60 + second)
  const zone = zoneOf(reading, wall, local)
  const offset = zone.at(wall).offset
  return { nanos: (wall - BigInt(offset)) * 1_000_000_000n + BigInt(reading.nanos), zone }
}

function zoneOf({ offset, abbreviation }: Reading, wall: bigint, local: Zone): Zone {
  if (offset !== undefined) {
    if (offset === 0 && (abbreviation === '' || abbreviation === 'UTC')) return UTC
    const here = local.at(wall - BigInt(offset))
    return here.offset === offset && (abbreviation === '' || here.abbreviation === abbreviation)
      ? local
      : fixedZone(abbreviation, offset)
  }
  // A name that the local zone does not have is taken for a zone at zero.
  if (abbreviation !== '' && local.at(wall).abbreviation !== abbreviation) return fixedZone(abbreviation, 0)
  return local
}

function daysIn(year: number, month: number): number {
  return daysOfDate(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1) - daysOfDate(year, month, 1)
}
