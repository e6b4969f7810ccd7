/** Windows and freezes as days of a calendar, in one time zone. */
import { dayAfter, momentOfWallTime, wallTimeAt } from '../../../src/core/time/time.ts'
import { spanAt } from '../../../src/plan/windows/window.ts'
import type { TimeSpan } from '../../../src/plan/windows/window.ts'
import { compileWindow } from '../../../src/plan/windows/window-rules.ts'
import type { WindowObject } from '../../../src/plan/windows/window-rules.ts'

/** What happens on a day. */
export interface DayEntry {
  readonly name: string
  readonly mode: 'Open' | 'Freeze'
  /** `02:00`; `00:00` if it goes on from the day before. */
  readonly from: string
  /** `06:00`; `24:00` if it goes on to the next day. */
  readonly until: string
  readonly reason: string
}

export interface CalendarDay {
  /** `2026-11-20`. */
  readonly date: string
  readonly day: number
  readonly isToday: boolean
  readonly entries: readonly DayEntry[]
  /** Entries that are not in the list. */
  readonly more: number
}

export interface CalendarQuestion {
  /** Zone of the calendar, and of windows without a zone of their own. */
  readonly zone: string
  readonly nowMs: number
  readonly weeks: number
}

const MAX_ENTRIES = 6
const MAX_OCCURRENCES = 400

/** Whole weeks from the Monday of this week. */
export function calendarDays(
  windows: readonly WindowObject[],
  { zone, nowMs, weeks }: CalendarQuestion,
): readonly CalendarDay[] {
  const today = wallTimeAt(nowMs, zone)
  const { weekday } = dayAfter(today, 0)
  const offset = -((weekday + 6) % 7)
  const starts = Array.from({ length: 7 * weeks + 1 }, (_, index) => {
    const date = dayAfter(today, offset + index)
    return { date, ms: momentOfWallTime({ ...date, hour: 0, minute: 0 }, zone) }
  })
  const fromMs = starts[0]!.ms
  const untilMs = starts.at(-1)!.ms
  const found = windows.flatMap((object) => {
    const { name, spans } = compileWindow(object)
    return spans
      .flatMap((span) => occurrences(span, object.spec.zone ?? zone, { fromMs, untilMs }))
      .map((times) => ({ ...times, name, mode: object.spec.mode, reason: object.spec.reason }))
  })
  return starts.slice(0, -1).map(({ date, ms }, index) => {
    const endMs = starts[index + 1]!.ms
    const entries = found
      .filter((one) => one.sinceMs < endMs && one.untilMs > ms)
      .toSorted((a, b) => (a.mode === b.mode ? a.sinceMs - b.sinceMs : a.mode === 'Freeze' ? -1 : 1))
      .map(({ name, mode, reason, sinceMs, untilMs: lastMs }) => ({
        name,
        mode,
        reason,
        from: sinceMs <= ms ? '00:00' : clock(sinceMs, zone),
        until: lastMs >= endMs ? '24:00' : clock(lastMs, zone),
      }))
    return {
      date: `${date.year}-${two(date.month)}-${two(date.day)}`,
      day: date.day,
      isToday: index === -offset,
      entries: entries.slice(0, MAX_ENTRIES),
      more: Math.max(0, entries.length - MAX_ENTRIES),
    }
  })
}

/** When a span is active between two moments. */
function occurrences(
  span: TimeSpan,
  zone: string,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): readonly { readonly sinceMs: number; readonly untilMs: number }[] {
  const found: { sinceMs: number; untilMs: number }[] = []
  let atMs = fromMs
  while (atMs < untilMs && found.length < MAX_OCCURRENCES) {
    const state = spanAt(span, zone, atMs)
    if (state.isIn) {
      found.push({ sinceMs: state.sinceMs, untilMs: state.untilMs })
      atMs = state.untilMs
    } else if (state.nextMs !== undefined && state.nextMs > atMs) atMs = state.nextMs
    else break
  }
  return found
}

function clock(ms: number, zone: string): string {
  const { hour, minute } = wallTimeAt(ms, zone)
  return `${two(hour)}:${two(minute)}`
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

/** When a window is active now or next, in its own zone or the given one; undefined when it is over. */
export function windowMoment(
  object: WindowObject,
  zone: string,
  nowMs: number,
): { readonly isActive: boolean; readonly atMs: number } | undefined {
  const states = compileWindow(object).spans.map((span) => spanAt(span, object.spec.zone ?? zone, nowMs))
  const ends = states.flatMap((state) => (state.isIn ? [state.untilMs] : []))
  if (ends.length > 0) return { isActive: true, atMs: Math.max(...ends) }
  const nexts = states.flatMap((state) => (!state.isIn && state.nextMs !== undefined ? [state.nextMs] : []))
  return nexts.length > 0 ? { isActive: false, atMs: Math.min(...nexts) } : undefined
}
