import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../../src/core/time/time.ts'
import type { WindowObject } from '../../../src/plan/windows/window-rules.ts'
import { calendarDays, windowMoment } from './calendar.ts'

const at = (text: string): number => parseTime(text)!
const window = (name: string, spec: Partial<WindowObject['spec']>): WindowObject => ({
  metadata: { name },
  spec: { mode: 'Open', times: [], reason: `reason of ${name}`, ...spec },
})
const NIGHT = window('at-night', { times: [{ schedule: '0 22 * * *', duration: '4h' }] })
const FREEZE = window('black-friday', {
  mode: 'Freeze',
  times: [{ from: '2026-11-20T00:00:00+01:00', until: '2026-12-01T06:00:00+01:00' }],
})
const QUESTION = { zone: 'Europe/Berlin', nowMs: at('2026-11-19T12:00:00Z'), weeks: 2 }

test('weeks begin on Monday; a span over midnight is on both days', () => {
  const days = calendarDays([NIGHT], QUESTION)
  assert.equal(days.length, 14)
  assert.equal(days[0]?.date, '2026-11-16')
  assert.deepEqual(
    days.filter(({ isToday }) => isToday).map(({ date }) => date),
    ['2026-11-19'],
  )
  assert.deepEqual(
    days[3]?.entries.map(({ from, until }) => `${from}–${until}`),
    ['00:00–02:00', '22:00–24:00'],
  )
})

test('a freeze is first, and goes on through whole days, in the zone of the calendar', () => {
  const days = calendarDays([NIGHT, FREEZE], QUESTION)
  const on = (date: string) =>
    days.find((one) => one.date === date)!.entries.map(({ name, from, until }) => [name, from, until])
  assert.deepEqual(on('2026-11-19')[0], ['at-night', '00:00', '02:00'])
  assert.deepEqual(on('2026-11-20')[0], ['black-friday', '00:00', '24:00'])
  const tokyo = calendarDays([FREEZE], { ...QUESTION, zone: 'Asia/Tokyo' })
  assert.deepEqual(tokyo.find(({ entries }) => entries.length > 0)?.entries[0]?.from, '08:00')
})

test('the day on which clocks are set back has 25 hours and one window', () => {
  const days = calendarDays([NIGHT], { ...QUESTION, nowMs: at('2026-10-25T12:00:00Z'), weeks: 1 })
  assert.equal(days.at(-1)?.date, '2026-10-25')
  assert.deepEqual(
    days.at(-1)?.entries.map(({ from, until }) => `${from}–${until}`),
    // Four hours after 22:00, the clock shows 02:00 for the first time.
    ['00:00–02:00', '22:00–24:00'],
  )
})

test('a day lists a bounded number of entries, and a broken span ends', () => {
  const busy = window('busy', { times: [{ schedule: '0 * * * *', duration: '10m' }] })
  const [day] = calendarDays([busy], QUESTION)
  assert.deepEqual([day?.entries.length, day?.more], [6, 18])
  const broken = window('broken', { times: [{ schedule: 'x', duration: '1h' }] })
  assert.equal(calendarDays([broken], QUESTION).flatMap(({ entries }) => entries).length, 0)
})

test('a window is active until its end, comes next, or is over', () => {
  const { zone } = QUESTION
  assert.deepEqual(windowMoment(FREEZE, zone, at('2026-11-25T00:00:00Z')), {
    isActive: true,
    atMs: at('2026-12-01T05:00:00Z'),
  })
  assert.deepEqual(windowMoment(FREEZE, zone, QUESTION.nowMs), { isActive: false, atMs: at('2026-11-19T23:00:00Z') })
  assert.equal(windowMoment(FREEZE, zone, at('2027-01-01T00:00:00Z')), undefined)
})
