/** Sprig's dates. `now` is a draw: frozen once, replayed later. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { GoInt, goInt, goInt64, GoNamed, GoStruct, plainValue } from '../../gotemplate/value.ts'
import type { RandomDraws } from '../frozen-random.ts'
import { civilOf, daysOfDate, durationText, loadZone, parseDuration, UTC } from './go/go-time.ts'
import type { GoTime, Zone } from './go/go-time.ts'
import { formatLayout } from './go/time-layout.ts'
import { parseLayout, timeQuote, tryLayout } from './go/parse-time.ts'

const SECOND = 1_000_000_000n
const MAX_DURATION = 2n ** 63n - 1n
const FULL = '2006-01-02 15:04:05.999999999 -0700 MST'
/** How a time is written in JSON. */
export const RFC3339_NANO = '2006-01-02T15:04:05.999999999Z07:00'
/** The year one, which is Go's zero time. */
const ZERO_TIME: GoTime = { nanos: -62_135_596_800n * SECOND, zone: UTC }

const times = new WeakMap<GoStruct, GoTime>()

function duration(nanos: bigint): GoNamed {
  const method = (call: () => unknown) => goFunction([], call)
  return new GoNamed(goInt64(nanos), {
    type: 'time.Duration',
    print: () => durationText(nanos),
    methods: new Map<string, GoFunction>([
      ['String', method(() => durationText(nanos))],
      ['Seconds', method(() => Number(nanos) / 1e9)],
      ['Minutes', method(() => Number(nanos) / 6e10)],
      ['Hours', method(() => Number(nanos) / 3.6e12)],
      ['Milliseconds', method(() => goInt64(nanos / 1_000_000n))],
      ['Nanoseconds', method(() => goInt64(nanos))],
    ]),
  })
}

function named(type: string, value: number, print: string): GoNamed {
  return new GoNamed(goInt(value), {
    type,
    print: () => print,
    methods: new Map([['String', goFunction([], () => print)]]),
  })
}

/** A time.Time as templates see it. */
export function timeStruct(time: GoTime): GoStruct {
  const part = (read: (civil: ReturnType<typeof civilOf>) => unknown) => goFunction([], () => read(civilOf(time)))
  const withTime = (call: (other: GoTime) => unknown) =>
    goFunction(['time.Time'], ([other]) => call(times.get(other as GoStruct)!))
  const again = (change: Partial<GoTime>) => timeStruct({ ...time, ...change })
  const by = (change: (amount: bigint) => bigint) =>
    goFunction(['time.Duration'], ([amount]) => again({ nanos: change((plainValue(amount) as GoInt).value) }))
  const unix = time.nanos / SECOND
  const struct = new GoStruct('time.Time', [], {
    print: () => formatLayout(FULL, time),
    json: () => jsonTime(time),
    methods: new Map<string, GoFunction>([
      ['Format', goFunction(['string'], ([layout]) => formatLayout(layout as string, time))],
      ['String', goFunction([], () => formatLayout(FULL, time))],
      ['Unix', goFunction([], () => goInt64(unix))],
      ['UnixMilli', goFunction([], () => goInt64(time.nanos / 1_000_000n))],
      ['UnixMicro', goFunction([], () => goInt64(time.nanos / 1000n))],
      ['UnixNano', goFunction([], () => goInt64(time.nanos))],
      ['Year', part(({ year }) => goInt(year))],
      ['Month', part(({ month }) => named('time.Month', month, formatLayout('January', time)))],
      ['Day', part(({ day }) => goInt(day))],
      ['Hour', part(({ hour }) => goInt(hour))],
      ['Minute', part(({ minute }) => goInt(minute))],
      ['Second', part(({ second }) => goInt(second))],
      ['Nanosecond', part(({ nanos }) => goInt(nanos))],
      ['YearDay', part(({ yearDay }) => goInt(yearDay))],
      ['Weekday', part(({ weekday }) => named('time.Weekday', weekday, formatLayout('Monday', time)))],
      ['UTC', goFunction([], () => again({ zone: UTC }))],
      ['Local', goFunction([], () => again({ zone: UTC }))],
      ['IsZero', goFunction([], () => time.nanos === ZERO_TIME.nanos)],
      ['Equal', withTime((other) => other.nanos === time.nanos)],
      ['Before', withTime((other) => time.nanos < other.nanos)],
      ['After', withTime((other) => time.nanos > other.nanos)],
      ['Compare', withTime((other) => goInt(time.nanos < other.nanos ? -1 : time.nanos > other.nanos ? 1 : 0))],
      ['Sub', withTime((other) => duration(clamp(time.nanos - other.nanos)))],
      ['Add', by((amount) => time.nanos + amount)],
      ['Round', by((unit) => roundedTime(time, unit, true))],
      ['Truncate', by((unit) => roundedTime(time, unit, false))],
      ['Location', goFunction([], () => locationStruct(time.zone))],
      [
        'AddDate',
        goFunction(['int', 'int', 'int'], ([years, months, days]) =>
          again({ nanos: addDate(time, [years, months, days]) }),
        ),
      ],
    ]),
  })
  times.set(struct, time)
  return struct
}

function locationStruct({ name }: Zone): GoStruct {
  return new GoStruct('*time.Location', [], {
    print: () => name,
    methods: new Map([['String', goFunction([], () => name)]]),
  })
}

/** RFC 3339 has no zone that is a whole day away. */
function jsonTime(time: GoTime): string {
  if (Math.abs(civilOf(time).offset) < 86_400) return formatLayout(RFC3339_NANO, time)
  const problem = 'Time.MarshalJSON: timezone hour outside of range [0,23]'
  throw new GoError(`json: error calling MarshalJSON for type time.Time: ${problem}`)
}

/** The time of a time.Time; undefined if the value has a different type. */
export function goTimeOf(value: unknown): GoTime | undefined {
  return value instanceof GoStruct ? times.get(value) : undefined
}

function addDate(time: GoTime, change: readonly unknown[]): bigint {
  const [years, months, days] = change.map((value) => Number((value as GoInt).value)) as [number, number, number]
  const civil = civilOf(time)
  const monthIndex = civil.month - 1 + months
  const year = civil.year + years + Math.floor(monthIndex / 12)
  const month = (((monthIndex % 12) + 12) % 12) + 1
  const start = daysOfDate(year, month, 1) + civil.day - 1 + days
  const before = daysOfDate(civil.year, civil.month, civil.day)
  return time.nanos + BigInt(start - before) * 86_400n * SECOND
}

/** The time package's rounding of what is since the year one: down, or to the nearest, half of it up. */
function roundedTime({ nanos }: GoTime, unit: bigint, nearest: boolean): bigint {
  if (unit <= 0n) return nanos
  const since = nanos - ZERO_TIME.nanos
  const over = ((since % unit) + unit) % unit
  return nearest && over + over >= unit ? nanos + unit - over : nanos - over
}

function clamp(nanos: bigint): bigint {
  if (nanos > MAX_DURATION) return MAX_DURATION
  return nanos < -MAX_DURATION - 1n ? -MAX_DURATION - 1n : nanos
}

/** time.Duration.Round to whole seconds: half away from zero. */
function roundToSecond(nanos: bigint): bigint {
  const size = nanos < 0n ? -nanos : nanos
  const rounded = ((size + SECOND / 2n) / SECOND) * SECOND
  return nanos < 0n ? -rounded : rounded
}

const SIZES: readonly (readonly [string, bigint])[] = [
  ['y', 365n * 86_400n * SECOND],
  ['mo', 30n * 86_400n * SECOND],
  ['d', 86_400n * SECOND],
  ['h', 3600n * SECOND],
  ['m', 60n * SECOND],
  ['s', SECOND],
]

function durationRound(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos
  const found = SIZES.find(([, unit]) => size > unit)
  return found ? `${size / found[1]}${found[0]}` : '0s'
}

/** Dates. */
export function dateFunctions(draws: RandomDraws, localName = 'UTC'): Record<string, GoFunction> {
  const local: Zone = { ...(loadZone(localName) ?? UTC), name: 'Local' }
  const now = (): GoTime => ({
    nanos: BigInt(draws.draw('now', (entropy) => String(BigInt(Math.round(entropy.now() * 1000)) * 1000n))),
    zone: local,
  })
  const timeOf = (value: unknown, integers: readonly string[]): GoTime => {
    const known = goTimeOf(value)
    if (known) return known
    if (value instanceof GoInt && integers.includes(value.type)) return { nanos: value.value * SECOND, zone: local }
    return now()
  }
  const inZone = (layout: string, value: unknown, zoneName: string): string => {
    const zone = zoneName === 'Local' ? local : (loadZone(zoneName) ?? UTC)
    return formatLayout(layout, { ...timeOf(value, ['int64', 'int', 'int32']), zone })
  }
  const modify = (must: boolean) =>
    goFunction(['string', 'time.Time'], ([change, date]) => {
      const amount = parseDuration(change as string)
      const time = times.get(date as GoStruct)!
      if (amount === undefined) {
        if (must) throw new GoError(`time: invalid duration ${timeQuote(change as string)}`)
        return date
      }
      return timeStruct({ ...time, nanos: time.nanos + amount })
    })
  const toDate = (must: boolean) =>
    goFunction(['string', 'string'], ([layout, text]) => {
      const parse = must ? parseLayout : tryLayout
      return timeStruct(parse(layout as string, text as string, local) ?? ZERO_TIME)
    })
  const dateInZone = goFunction(['string', 'any', 'string'], ([layout, value, zone]) =>
    inZone(layout as string, value, zone as string),
  )
  const [dateModify, mustDateModify] = [modify(false), modify(true)]
  return {
    now: goFunction([], () => timeStruct(now())),
    date: goFunction(['string', 'any'], ([layout, value]) => inZone(layout as string, value, 'Local')),
    date_in_zone: dateInZone,
    dateInZone,
    htmlDate: goFunction(['any'], ([value]) => inZone('2006-01-02', value, 'Local')),
    htmlDateInZone: goFunction(['any', 'string'], ([value, zone]) => inZone('2006-01-02', value, zone as string)),
    date_modify: dateModify,
    dateModify,
    must_date_modify: mustDateModify,
    mustDateModify,
    toDate: toDate(false),
    mustToDate: toDate(true),
    unixEpoch: goFunction(['time.Time'], ([date]) => String(times.get(date as GoStruct)!.nanos / SECOND)),
    ago: goFunction(['any'], ([value]) => {
      const since = timeOf(value, ['int64', 'int'])
      return durationText(roundToSecond(clamp(now().nanos - since.nanos)))
    }),
    duration: goFunction(['any'], ([value]) => {
      const text = typeof value === 'string' && /^[+-]?\d+$/.test(value) ? clamp(BigInt(value)) : 0n
      const seconds = value instanceof GoInt && value.type === 'int64' ? value.value : text
      return durationText(BigInt.asIntN(64, seconds * SECOND))
    }),
    durationRound: goFunction(['any'], ([value]) => {
      if (typeof value === 'string') return durationRound(parseDuration(value) ?? 0n)
      if (value instanceof GoInt && value.type === 'int64') return durationRound(value.value)
      const known = goTimeOf(value)
      return durationRound(known ? clamp(now().nanos - known.nanos) : 0n)
    }),
  }
}
