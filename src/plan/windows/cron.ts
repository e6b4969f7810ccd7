/** Schedules in cron's five fields, with lists, ranges, steps, names and short forms like `@daily`. */

/** A schedule in wall-clock time. */
export interface Cron {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  /** As in every cron: when both day fields are restricted, a date must match one of them. */
  matchesDay(date: { readonly month: number; readonly day: number; readonly weekday: number }): boolean
}

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 7, names: DAYS },
]
const SHORT: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** Parses a schedule, or describes the problem. */
export function parseCron(
  text: string,
): { readonly ok: true; readonly cron: Cron } | { readonly ok: false; readonly problem: string } {
  const parts = (SHORT[text.trim().toLowerCase()] ?? text).trim().split(/\s+/)
  if (parts.length !== FIELDS.length) {
    return {
      ok: false,
      problem: `schedule ${JSON.stringify(text)} has ${parts.length} fields; want minute, hour, day of month, month, day of week`,
    }
  }
  const sets: (readonly number[])[] = []
  for (const [index, field] of FIELDS.entries()) {
    const values = parseField(parts[index]!, field)
    if (!values) {
      return {
        ok: false,
        problem: `schedule ${JSON.stringify(text)}: ${JSON.stringify(parts[index])} is not a valid ${field.name} (${field.min} to ${field.max})`,
      }
    }
    sets.push(values)
  }
  const [minutes, hours, days, months, weekdays] = sets as [number[], number[], number[], number[], number[]]
  const isAny = (part: string | undefined) => part === '*' || part === '?'
  const [anyDay, anyWeekday] = [isAny(parts[2]), isAny(parts[4])]
  const matchesDay: Cron['matchesDay'] = ({ month, day, weekday }) => {
    if (!months.includes(month)) return false
    const [byDay, byWeekday] = [days.includes(day), weekdays.includes(weekday)]
    return anyDay || anyWeekday ? byDay && byWeekday : byDay || byWeekday
  }
  return { ok: true, cron: { minutes, hours, matchesDay } }
}

function parseField(text: string, field: Field): number[] | undefined {
  const found = new Set<number>()
  for (const part of text.split(',')) {
    const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(part)
    const range = match && rangeOf(match[1]!, field, match[2] !== undefined)
    const step = match?.[2] === undefined ? 1 : Number(match[2])
    if (!range || step === 0) return undefined
    for (let value = range[0]; value <= range[1]; value += step) found.add(field.max === 7 ? value % 7 : value)
  }
  return [...found].toSorted((a, b) => a - b)
}

function rangeOf(text: string, field: Field, hasStep: boolean): readonly [number, number] | undefined {
  if (text === '*' || text === '?') return [field.min, field.max === 7 ? 6 : field.max]
  const [from, to, ...more] = text.split('-').map((word) => valueOf(word, field))
  if (from === undefined || more.length > 0 || (text.includes('-') && to === undefined)) return undefined
  const end = to ?? (hasStep ? field.max : from)
  return end < from ? undefined : [from, end]
}

function valueOf(word: string, field: Field): number | undefined {
  const named = field.names?.indexOf(word.toLowerCase()) ?? -1
  if (named >= 0) return named + field.min
  const value = /^\d{1,2}$/.test(word) ? Number(word) : undefined
  return value !== undefined && value >= field.min && value <= field.max ? value : undefined
}
