import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localTime, relativeTime, timeWithDistance, withLocalTimes } from './print-time.ts'

const NOON = '2026-11-16T12:00:00Z'
const NOW = Date.parse(NOON)

test('times are relative to now', () => {
  assert.equal(relativeTime('2026-11-16T11:58:00Z', NOW), '2m ago')
  assert.equal(relativeTime(NOW + 36 * 3_600_000, NOW), 'in 36h')
  assert.equal(relativeTime('-', NOW), '-')
})

test('times are in the zone of this machine', () => {
  assert.match(localTime(NOON), /^2026-11-1[67] \d\d:\d\d$/)
  assert.match(localTime(NOON, { seconds: true }), /^2026-11-1[67] \d\d:\d\d:00$/)
  assert.equal(Date.parse(localTime(NOON)), NOW, 'read as local time')
  assert.equal(localTime('never'), 'never')
  assert.equal(timeWithDistance(NOW + 3_600_000, NOW), `${localTime(NOW + 3_600_000)} (in 60m)`)
})

test('times in a message of the hub become local', () => {
  assert.equal(
    withLocalTimes(`Frozen until ${NOON}. Since 2026-11-16T11:00:00.123Z.`),
    `Frozen until ${localTime(NOON)}. Since ${localTime('2026-11-16T11:00:00Z')}.`,
  )
})
