/** Times: how long ago or how far ahead, with the exact moment and its zone on hover. */
import { humanAge, parseTime } from '../../../src/core/time/time.ts'
import { useNow } from '../data/use-live.ts'

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** Milliseconds of a time of the API, or of seconds since 1970. */
function msOf(at: string | number | undefined): number | undefined {
  if (at === undefined || at === 0 || at === '') return undefined
  return typeof at === 'number' ? at * 1000 : parseTime(at)
}

/** `3m`; nothing for an unknown time. */
export function Age({ at, suffix = '' }: { readonly at: string | number | undefined; readonly suffix?: string }) {
  const now = useNow()
  const ms = msOf(at)
  if (ms === undefined) return <span className="quiet">–</span>
  const date = new Date(ms)
  const text = ms > now + 1_000 ? `in ${humanAge(ms - now)}` : `${humanAge(Math.max(0, now - ms))}${suffix}`
  return (
    <time dateTime={date.toISOString()} title={EXACT.format(date)}>
      {text}
    </time>
  )
}

// With the zone: people on one call are often in several.
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: 'long' })
const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const DAY_MS = 86_400_000

/** `14:03:05 GMT+1 (3m ago)`, with the day where it is further away than one. */
export function Moment({ at }: { readonly at: string }) {
  const now = useNow()
  const ms = msOf(at)
  if (ms === undefined) return <>{at}</>
  const isNear = Math.abs(now - ms) < DAY_MS
  return (
    <>
      {(isNear ? TIME_OF_DAY : DAY_AND_TIME).format(ms)} (<Ago at={at} />)
    </>
  )
}

/** `3m ago`, or `in 3m`. */
export function Ago({ at }: { readonly at: string | number | undefined }) {
  return <Age at={at} suffix=" ago" />
}
