import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../../core/time/time.ts'
import { readSchedule, ScheduleError } from './cron-schedule.ts'
import { activeWindows, canSync, matchingWindows, SyncWindowError, windowsProblem } from './sync-windows.ts'
import type { SyncWindow } from './sync-windows.ts'

const DENY: SyncWindow = { kind: 'deny', schedule: '0 22 * * *', duration: '1h', applications: ['*'] }
const ALLOW: SyncWindow = { ...DENY, kind: 'allow' }
const at = (time: string): number => parseTime(`2026-06-03T${time}Z`)!
const can = (
  windows: readonly SyncWindow[],
  time: string,
  more: { isManual?: boolean; startedMs?: number } = {},
): boolean => canSync(windows, { atMs: at(time), isManual: false, ...more })

test('a window is open after its first instant and before its end', () => {
  const open = (time: string): boolean => activeWindows([DENY], at(time)).length > 0
  assert.deepEqual([open('22:00:00'), open('22:00:01'), open('22:59:59'), open('23:00:00')], [false, true, true, false])
})

test('deny forbids inside, allow forbids outside; manualSync lets a person through', () => {
  assert.equal(can([DENY], '22:30:00'), false)
  assert.equal(can([DENY], '21:30:00'), true)
  assert.equal(can([ALLOW], '22:30:00'), true)
  assert.equal(can([ALLOW], '21:30:00'), false)
  assert.equal(can([{ ...DENY, manualSync: true }], '22:30:00', { isManual: true }), true)
  assert.equal(can([], '22:30:00'), true)
})

test('a sync that was allowed goes on with syncOverrun', () => {
  const startedMs = at('21:59:00')
  assert.equal(can([DENY], '22:30:00', { startedMs }), false)
  assert.equal(can([{ ...DENY, syncOverrun: true }], '22:30:00', { startedMs }), true)
})

test('windows match by name, cluster or namespace, or by all with andOperator', () => {
  const window: SyncWindow = { applications: ['web'], namespaces: ['prod'] }
  const other = { name: 'api', destination: { namespace: 'prod' } }
  assert.equal(matchingWindows([window], other).length, 1)
  assert.equal(matchingWindows([{ ...window, andOperator: true }], other).length, 0)
})

test('time zones, and an unknown one is UTC', () => {
  assert.equal(can([{ ...DENY, timeZone: 'Asia/Tokyo' }], '13:30:00'), false)
  assert.equal(can([{ ...DENY, timeZone: 'Mars/Olympus' }], '22:30:00'), false)
  assert.equal(readSchedule('TZ=Asia/Tokyo 0 22 * * *').next(at('00:00:00')), at('13:00:00'))
})

test('what cannot be read is an error', () => {
  for (const text of ['@daily', '* * * *', '60 * * * *', '0 0 L * *', '*/0 * * * *', `${'1,'.repeat(600)}1 * * * *`]) {
    assert.throws(() => readSchedule(text), ScheduleError, text)
  }
  assert.throws(() => can([{ ...DENY, duration: '1d' }], '22:00:00'), SyncWindowError)
  assert.match(windowsProblem([DENY, DENY]) ?? '', /already exists/)
  assert.match(windowsProblem([{ ...DENY, kind: 'block' }]) ?? '', /can only be allow or deny/)
  assert.match(windowsProblem([{ ...DENY, applications: [] }]) ?? '', /requires one of/)
  assert.equal(windowsProblem([DENY]), undefined)
})

test('a schedule that never comes ends its search', () => {
  assert.equal(readSchedule('0 0 30 2 *').next(at('00:00:00')), undefined)
})
