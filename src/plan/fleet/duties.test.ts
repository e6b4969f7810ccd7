import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { countDuties, dutyState, nextDeadlineMs, nextDuty, parseWithin } from './duties.ts'
import type { Duty, Heard } from './duties.ts'

const START = parseTime('2026-11-01T00:00:00Z')!
const HOUR = 3_600_000
const demand = { binding: 'production', withinMs: 24 * HOUR }
const at = (hours: number) => formatTime(START + hours * HOUR)
const next = (before: Duty | undefined, hours: number, state: Heard['state'], since?: string) =>
  nextDuty(before, { clustername: 'a', demand, heard: { state, since } }, START + hours * HOUR)
const shown = (duty: Duty, hours: number) => dutyState(duty, START + hours * HOUR)

test('a duty is open until its deadline, then overdue, and met or late when the cluster complies', () => {
  const open = next(undefined, 0, 'NonCompliant', at(-5))
  assert.deepEqual(open, { clustername: 'a', binding: 'production', since: at(0), deadline: at(24) })
  assert.deepEqual([shown(open, 24), shown(open, 25)], ['Open', 'Overdue'])
  const met = next(open, 10, 'Compliant', at(9))
  assert.equal(met.compliedAt, at(9))
  assert.equal(shown(met, 100), 'Met')
  assert.deepEqual(next(met, 11, 'Compliant', at(11)), met)
  const late = next(open, 30, 'Compliant', at(29))
  assert.equal(shown(late, 30), 'Late')
  // A cluster that complied offline and reports later was in time, by its signed report.
  assert.equal(shown(next(open, 30, 'Compliant', at(20)), 30), 'Met')
})

test('a cluster that is offline or unknown neither complies nor loses what it proved', () => {
  const open = next(undefined, 0, undefined)
  assert.equal(shown(next(open, 30, undefined), 30), 'Overdue')
  const met = next(open, 10, 'Compliant', at(9))
  assert.deepEqual(next(met, 40, undefined), met)
})

test('a cluster that ceases to comply has the whole time again', () => {
  const met = next(next(undefined, 0, 'NonCompliant'), 10, 'Compliant', at(9))
  const broken = next(met, 50, 'NonCompliant', at(49))
  assert.deepEqual([broken.since, broken.deadline, broken.compliedAt], [at(49), at(73), undefined])
  assert.equal(next(broken, 51, 'Pending', at(51)).deadline, at(73))
})

test('an agent whose clock is wrong cannot comply before the duty, or in the future', () => {
  const open = next(undefined, 30, 'NonCompliant')
  assert.equal(next(open, 40, 'Compliant', at(-999)).compliedAt, at(30))
  assert.equal(next(open, 40, 'Compliant', at(999)).compliedAt, at(40))
  assert.equal(next(open, 40, 'Compliant', 'yesterday').compliedAt, at(40))
})

test('another time of the binding moves the deadline, and counts tell when the next one passes', () => {
  const open = next(undefined, 0, 'NonCompliant')
  const longer = nextDuty(open, { clustername: 'a', demand: { ...demand, withinMs: 48 * HOUR }, heard: { state: undefined, since: undefined } }, START + HOUR) // prettier-ignore
  assert.equal(longer.deadline, at(48))
  const duties = [open, longer, next(open, 2, 'Compliant')]
  assert.deepEqual(countDuties(duties, START + 30 * HOUR), { Overdue: 1, Open: 1, Late: 0, Met: 1 })
  assert.equal(nextDeadlineMs(duties, START + 30 * HOUR), 18 * HOUR + 1)
  assert.equal(nextDeadlineMs(duties, START + 60 * HOUR), undefined)
})

test('times are durations, days and weeks', () => {
  assert.deepEqual(['24h', '7d', '1w', '90m'].map(parseWithin), [24 * HOUR, 168 * HOUR, 168 * HOUR, 1.5 * HOUR])
  assert.deepEqual(['', '0', '-1h', 'soon', '99999d', '1d2h'].map(parseWithin), [undefined, undefined, undefined, undefined, undefined, undefined]) // prettier-ignore
})
