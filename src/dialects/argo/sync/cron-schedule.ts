// Tested by src/dialects/argo/sync/sync-windows.test.ts.
/** Cron schedules as Argo CD's sync windows read them: five fields, no short forms, `TZ=` in front. */
import { isTimeZone, momentOfWallTime, toDate, wallTimeAt } from '../../../core/time/time.ts'

/** A schedule. */
export interface CronSchedule {
  /** The first start after a moment; undefined when there is none within five years. */
  next(afterMs: number): number | undefined
}

interface Field {
  readonly values: ReadonlySet<number>
  readonly isStar: boolean
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const BOUNDS: readonly { readonly min: number; readonly max: number; readonly names?: readonly string[] }[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 6, names: DAYS },
]
const DAY_MS = 86_400_000
const MAX_DAYS = 5 * 366
const MAX_LENGTH = 1024

/** A schedule that cannot be read. */
export class ScheduleError extends Error {
  override readonly name = 'ScheduleError'
}

/** Reads a schedule. */
export function readSchedule(text: string): CronSchedule {
  if (text.length > MAX_LENGTH) throw new ScheduleError(`must have at most ${MAX_LENGTH} characters`)
  const [, zone, rest] = /^(?:CRON_)?TZ=(\S*)\s+(.*)$/s.exec(text) ?? [undefined, undefined, text]
  if (zone !== undefined && !isZone(zone)) throw new ScheduleError(`provided bad location ${zone}`)
  if (rest.startsWith('@')) throw new ScheduleError(`parser does not accept descriptors: ${rest}`)
  const words = rest.split(/\s+/).filter((word) => word !== '')
  if (words.length !== BOUNDS.length) {
    throw new ScheduleError(`expected exactly 5 fields, found ${words.length}: [${words.join(' ')}]`)
  }
  const [minutes, hours, days, months, weekdays] = words.map((word, at) => readField(word, BOUNDS[at]!)) as [
    Field,
    Field,
    Field,
    Field,
    Field,
  ]
  const matchesDay = (date: ReturnType<typeof toDate>): boolean => {
    if (!months.values.has(date.getUTCMonth() + 1)) return false
    const [byDay, byWeekday] = [days.values.has(date.getUTCDate()), weekdays.values.has(date.getUTCDay())]
    return days.isStar || weekdays.isStar ? byDay && byWeekday : byDay || byWeekday
  }
  const nextWall = (afterMs: number): number | undefined => {
    const first = Math.floor(afterMs / 1000) * 1000 + 1000
    const day = Math.floor(first / DAY_MS) * DAY_MS
    for (let at = 0; at <= MAX_DAYS; at++) {
      const start = day + at * DAY_MS
      if (!matchesDay(toDate(start))) continue
      for (const hour of sorted(hours)) {
        for (const minute of sorted(minutes)) {
          const moment = start + hour * 3_600_000 + minute * 60_000
          if (moment >= first) return moment
        }
      }
    }
    return undefined
  }
  return { next: zone === undefined || zone === '' ? nextWall : (afterMs) => nextInZone(afterMs, zone, nextWall) }
}

function nextInZone(
  afterMs: number,
  zone: string,
  nextWall: (afterMs: number) => number | undefined,
): number | undefined {
  const wall = nextWall(afterMs + zoneOffset(zone, afterMs))
  if (wall === undefined) return undefined
  const at = toDate(wall)
  return momentOfWallTime(
    {
      year: at.getUTCFullYear(),
      month: at.getUTCMonth() + 1,
      day: at.getUTCDate(),
      hour: at.getUTCHours(),
      minute: at.getUTCMinutes(),
    },
    zone,
  )
}

/** The milliseconds by which a zone is before UTC at a moment; an unknown zone is UTC. */
export function zoneOffset(zone: string, atMs: number): number {
  if (!isZone(zone) || zone === '' || zone === 'UTC' || zone === 'Local') return 0
  const wall = wallTimeAt(atMs, zone)
  const minuteMs = Math.floor(atMs / 60_000) * 60_000
  return momentOfWallTime(wall, 'UTC') - minuteMs
}

/** Whether Go knows a zone of this name, which it reads from files: letters must be as there. */
function isZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true
  return name.split('/').every((part) => /^[A-Z]/.test(part)) && isTimeZone(name)
}

function sorted({ values }: Field): number[] {
  return [...values].toSorted((a, b) => a - b)
}

function readField(text: string, bounds: (typeof BOUNDS)[number]): Field {
  const values = new Set<number>()
  let isStar = false
  for (const part of text.split(',').filter((one) => one !== '')) {
    const { from, to, step, star } = readRange(part, bounds)
    for (let value = from; value <= to; value += step) values.add(value)
    isStar ||= star
  }
  return { values, isStar }
}

function readRange(
  text: string,
  { min, max, names }: (typeof BOUNDS)[number],
): { readonly from: number; readonly to: number; readonly step: number; readonly star: boolean } {
  const [range = '', stepText, ...moreSteps] = text.split('/')
  const [low = '', high, ...moreEnds] = range.split('-')
  if (moreSteps.length > 0) throw new ScheduleError(`too many slashes: ${text}`)
  const isAny = low === '*' || low === '?'
  let from = min
  let to = max
  if (!isAny) {
    if (moreEnds.length > 0) throw new ScheduleError(`too many hyphens: ${text}`)
    from = readValue(low, names)
    to = high === undefined ? from : readValue(high, names)
  }
  let step = 1
  if (stepText !== undefined) {
    step = readValue(stepText, undefined)
    if (high === undefined) to = max
  }
  if (from < min) throw new ScheduleError(`beginning of range (${from}) below minimum (${min}): ${text}`)
  if (to > max) throw new ScheduleError(`end of range (${to}) above maximum (${max}): ${text}`)
  if (from > to) throw new ScheduleError(`beginning of range (${from}) beyond end of range (${to}): ${text}`)
  if (step === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`)
  return { from, to, step, star: isAny && step === 1 }
}

function readValue(word: string, names: readonly string[] | undefined): number {
  const named = names?.indexOf(word.toLowerCase()) ?? -1
  if (named >= 0) return names === MONTHS ? named + 1 : named
  if (!/^\+?\d{1,9}$/.test(word)) throw new ScheduleError(`failed to parse int from ${word}`)
  return Number(word)
}
