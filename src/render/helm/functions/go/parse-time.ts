/** Go's time.Parse: text by a layout of the reference time, with Go's complaints. Both are read byte by byte. */
import { GoError } from '../../../gotemplate/function.ts'
import { goBytes } from '../../../gotemplate/go-string.ts'
import { daysOfDate, fixedZone, UTC } from './go-time.ts'
import type { GoTime, Zone } from './go-time.ts'
import { DAYS, MONTHS, nextPart } from './time-layout.ts'

interface Reading {
  year: number
  month: number
  day: number
  yearDay: number
  hour: number
  minute: number
  second: number
  nanos: number
  isPm: boolean | undefined
  zone: Zone | undefined
  offset: number | undefined
  abbreviation: string
}

/** What a part was read as, and the rest; undefined when it does not fit. A sentence says what is out of range. */
type Read = { readonly rest: string; readonly problem?: string } | undefined

/** How the time package quotes: every byte that is not plain ASCII by its number. */
export function timeQuote(text: string): string {
  return quoteBytes(byteText(text))
}

function byteText(text: string): string {
  return Array.from(goBytes(text), (byte) => String.fromCharCode(byte)).join('')
}

function quoteBytes(text: string): string {
  const escaped = text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^ -\u007f]/g, (byte) => {
    return `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return `"${escaped}"`
}

/** time.ParseInLocation; throws GoError with its words. */
export function parseLayout(layoutText: string, text: string, local: Zone): GoTime {
  const [layout, value] = [byteText(layoutText), byteText(text)]
  const shown = `parsing time ${quoteBytes(value)}`
  const unfit = (at: string, wanted: string) =>
    new GoError(`${shown} as ${quoteBytes(layout)}: cannot parse ${quoteBytes(at)} as ${quoteBytes(wanted)}`)
  const reading: Reading = {
    year: 0,
    month: -1,
    day: -1,
    yearDay: -1,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    isPm: undefined,
    zone: undefined,
    offset: undefined,
    abbreviation: '',
  }
  let rest = value
  for (let left = layout; ;) {
    const { before, part, after } = nextPart(left)
    const skipped = skip(rest, before)
    if (skipped.failed) throw unfit(skipped.rest, before)
    rest = skipped.rest
    if (part === '') break
    left = after
    const read = readPart(part, rest, { reading, after })
    if (!read) throw unfit(rest, part)
    if (read.problem !== undefined) throw new GoError(`${shown}: ${read.problem} out of range`)
    rest = read.rest
  }
  if (rest !== '') throw new GoError(`${shown}: extra text: ${quoteBytes(rest)}`)
  const problem = settleDay(reading)
  if (problem !== undefined) throw new GoError(`${shown}: ${problem}`)
  return assemble(reading, local)
}

/** time.Parse without an error: undefined when the text does not match. */
export function tryLayout(layout: string, text: string, local: Zone): GoTime | undefined {
  try {
    return parseLayout(layout, text, local)
  } catch (error) {
    if (error instanceof GoError) return undefined
    throw error
  }
}

/** Spaces fit any number of spaces, also none at the end. */
function skip(text: string, prefix: string): { readonly rest: string; readonly failed: boolean } {
  let [rest, wanted] = [text, prefix]
  while (wanted !== '') {
    if (wanted.startsWith(' ')) {
      if (rest !== '' && !rest.startsWith(' ')) return { rest, failed: true }
      wanted = wanted.replace(/^ +/, '')
      rest = rest.replace(/^ +/, '')
      continue
    }
    if (rest[0] !== wanted[0]) return { rest, failed: true }
    rest = rest.slice(1)
    wanted = wanted.slice(1)
  }
  return { rest, failed: false }
}

type Field = 'year' | 'month' | 'day' | 'yearDay' | 'hour' | 'minute' | 'second'

function readPart(part: string, text: string, { reading, after }: { reading: Reading; after: string }): Read {
  const number = (pattern: RegExp, field: Field, limits?: readonly [number, number, string]): Read => {
    const found = pattern.exec(text)
    if (!found) return undefined
    reading[field] = Number(found[1])
    const rest = text.slice(found[0].length)
    if (!limits) return { rest }
    const isFine = reading[field] >= limits[0] && reading[field] <= limits[1]
    return isFine ? { rest } : { rest, problem: limits[2] }
  }
  switch (part) {
    case 'January':
      return word(MONTHS, text, (index) => (reading.month = index + 1))
    case 'Jan':
      return word(shortened(MONTHS), text, (index) => (reading.month = index + 1))
    case 'Monday':
      return word(DAYS, text, () => {})
    case 'Mon':
      return word(shortened(DAYS), text, () => {})
    case '2006':
      return number(/^(\d{4})/, 'year')
    case '06': {
      if (!/^[+\-\d]\d/.test(text)) return undefined
      const year = Number(text.slice(0, 2))
      reading.year = year + (year >= 69 ? 1900 : 2000)
      return { rest: text.slice(2) }
    }
    case '01':
    case '1':
      return number(part === '01' ? /^(\d{2})/ : /^(\d{1,2})/, 'month', [1, 12, 'month'])
    case '02':
      return number(/^(\d{2})/, 'day')
    case '2':
    case '_2':
      return number(part === '2' ? /^(\d{1,2})/ : /^ ?(\d{1,2})/, 'day')
    case '002':
      return number(/^(\d{3})/, 'yearDay')
    case '__2':
      return number(/^ {0,2}(\d{1,3})/, 'yearDay')
    case '15':
      return number(/^(\d{1,2})/, 'hour', [0, 23, 'hour'])
    case '03':
    case '3':
      return number(part === '03' ? /^(\d{2})/ : /^(\d{1,2})/, 'hour', [0, 12, 'hour'])
    case '04':
    case '4':
      return number(part === '04' ? /^(\d{2})/ : /^(\d{1,2})/, 'minute', [0, 59, 'minute'])
    case '05':
    case '5': {
      const read = number(part === '05' ? /^(\d{2})/ : /^(\d{1,2})/, 'second', [0, 59, 'second'])
      // Seconds may have a fraction that the layout does not mention.
      if (!read || read.problem !== undefined || /^[.,]/.test(nextPart(after).part)) return read
      return readFraction(/^[.,]\d+/.exec(read.rest)?.[0] ?? '', read.rest, reading)
    }
    case 'PM':
    case 'pm': {
      const half = text.slice(0, 2)
      if (half !== part && half !== (part === 'PM' ? 'AM' : 'am')) return undefined
      reading.isPm = half === part
      return { rest: text.slice(2) }
    }
    case 'MST':
      return readAbbreviation(text, reading)
    default:
      if (part[0] !== '.' && part[0] !== ',') return readOffset(part, text, reading)
      if (part[1] === '9') return readFraction(/^[.,]\d+/.exec(text)?.[0] ?? '', text, reading)
      return text.length < part.length ? undefined : readFraction(text.slice(0, part.length), text, reading)
  }
}

const shortened = (names: readonly string[]) => names.map((name) => name.slice(0, 3))

function word(names: readonly string[], text: string, set: (index: number) => void): Read {
  const index = names.findIndex((name) => text.slice(0, name.length).toLowerCase() === name.toLowerCase())
  if (index < 0) return undefined
  set(index)
  return { rest: text.slice(names[index]!.length) }
}

/** A point or comma and digits, of which nine count; nothing is nothing. */
function readFraction(fraction: string, text: string, reading: Reading): Read {
  const rest = text.slice(fraction.length)
  if (fraction === '') return { rest }
  const digits = fraction.slice(1, 10)
  if (!/^[.,]/.test(fraction) || !/^[+-]?\d*$/.test(digits)) return undefined
  if (/^-0*[1-9]/.test(digits)) return { rest, problem: 'fractional second' }
  reading.nanos = Number(digits.replace(/^[+-]/, '0').padEnd(9, '0'))
  return { rest }
}

function readOffset(part: string, text: string, reading: Reading): Read {
  if (part.startsWith('Z') && text.startsWith('Z')) {
    reading.zone = UTC
    return { rest: text.slice(1) }
  }
  const digits = part.replace(/[^0-9]/g, '').length
  const colon = part.includes(':') ? ':' : ''
  const pattern = [
    '',
    '',
    '^(.)(\\d\\d)',
    '',
    `^(.)(\\d\\d)${colon}(\\d\\d)`,
    '',
    `^(.)(\\d\\d)${colon}(\\d\\d)${colon}(\\d\\d)`,
  ][digits]!
  const found = new RegExp(pattern, 's').exec(text)
  if (!found) return undefined
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(2).map(Number)
  const rest = text.slice(found[0].length)
  if (seconds > 60) return { rest, problem: 'time zone offset second' }
  if (minutes > 60) return { rest, problem: 'time zone offset minute' }
  if (hours > 24) return { rest, problem: 'time zone offset hour' }
  if (found[1] !== '+' && found[1] !== '-') return undefined
  const size = (hours * 60 + minutes) * 60 + seconds
  reading.offset = found[1] === '-' ? -size : size
  return { rest }
}

/** Capitals that look like a zone: three, four or five that end in T, some of their own, or an offset for a name. */
function readAbbreviation(text: string, reading: Reading): Read {
  if (text.startsWith('UTC')) {
    reading.zone = UTC
    return { rest: text.slice(3) }
  }
  const name =
    /^(?:ChST|MeST)/.exec(text)?.[0] ??
    /^GMT(?:[+-](?:0*(?:1?\d|2[0-3])(?!\d)))?/.exec(text)?.[0] ??
    /^[+-]0*(?:1?\d|2[0-3])(?!\d)/.exec(text)?.[0] ??
    /^(?:[A-Z]{4}T|[A-Z]{3}T|WITA|[A-Z]{3})(?![A-Z])/.exec(text)?.[0]
  if (name === undefined || text.length < 3) return undefined
  reading.abbreviation = name
  return { rest: text.slice(name.length) }
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Makes a day of the year a date, and says what is wrong with the date. */
function settleDay(reading: Reading): string | undefined {
  const { year, yearDay } = reading
  if (yearDay >= 0) {
    if (yearDay < 1 || yearDay > (isLeap(year) ? 366 : 365)) return 'day-of-year out of range'
    let month = 1
    let day = yearDay
    for (; day > daysIn(year, month); month++) day -= daysIn(year, month)
    if (reading.month >= 0 && reading.month !== month) return 'day-of-year does not match month'
    if (reading.day >= 0 && reading.day !== day) return 'day-of-year does not match day'
    reading.month = month
    reading.day = day
  }
  if (reading.month < 0) reading.month = 1
  if (reading.day < 0) reading.day = 1
  return reading.day < 1 || reading.day > daysIn(year, reading.month) ? 'day out of range' : undefined
}

function assemble(reading: Reading, local: Zone): GoTime {
  const { year, month, day, minute, second, isPm } = reading
  let { hour } = reading
  if (isPm === true && hour < 12) hour += 12
  else if (isPm === false && hour === 12) hour = 0
  const wall = BigInt(daysOfDate(year, month, day)) * 86_400n + BigInt(hour * 3600 + minute * 60 + second)
  const zone = reading.zone ?? zoneOf(reading, wall, local)
  // A zone by a foreign name is only shown: what was read passes for UTC.
  const isShown = reading.offset === undefined && reading.abbreviation !== '' && zone !== local
  const offset = isShown ? 0 : zone.at(wall).offset
  return { nanos: (wall - BigInt(offset)) * 1_000_000_000n + BigInt(reading.nanos), zone }
}

function zoneOf({ offset, abbreviation }: Reading, wall: bigint, local: Zone): Zone {
  if (offset !== undefined) {
    const here = local.at(wall - BigInt(offset))
    const isHere = here.offset === offset && (abbreviation === '' || here.abbreviation === abbreviation)
    return isHere ? local : fixedZone(abbreviation, offset)
  }
  // A name that the local zone does not have is taken for a zone at zero, unless it says how far from Greenwich it is.
  if (abbreviation === '' || local.at(wall).abbreviation === abbreviation) return local
  return fixedZone(abbreviation, Number(/^GMT([+-]\d+)$/.exec(abbreviation)?.[1] ?? 0) * 3600)
}

function daysIn(year: number, month: number): number {
  return daysOfDate(month === 12 ? year + 1 : year, month === 12 ? 1 : month + 1, 1) - daysOfDate(year, month, 1)
}
