import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maintenanceData, parseMaintenance, unconfirmedHubs } from './hub-maintenance.ts'

const since = '2026-11-19T03:00:00Z'

test('what the command writes is read back', () => {
  const maintenance = { since, reason: 'upgrade of etcd' }
  assert.deepEqual(parseMaintenance(maintenanceData(maintenance)), maintenance)
  assert.equal(parseMaintenance(maintenanceData(undefined)), undefined)
})

const DATA: readonly (readonly [data: Record<string, string> | undefined, reason: string | undefined])[] = [
  [undefined, undefined],
  [{}, undefined],
  [{ state: 'off' }, undefined],
  [{ state: 'on' }, undefined],
  [{ state: 'On' }, 'no reason given'],
  [{ state: 'On', reason: ' \u001B[2J\n' }, '[2J'],
  [{ state: 'On', reason: 'x'.repeat(9000) }, 'x'.repeat(300)],
]

for (const [data, reason] of DATA) {
  test(`a ConfigMap with ${(JSON.stringify(data) ?? 'that is missing').slice(0, 40)}`, () => {
    assert.equal(parseMaintenance(data)?.reason, reason)
  })
}

test('a time that is none is no time', () => {
  assert.equal(parseMaintenance({ state: 'On', since: 'yesterday' })?.since, 'unknown')
})

const NOW = Date.parse(since) + 3_600_000
const hub = (fields: object) => ({ name: 'a', health: { startedAt: since, parts: [], ...fields } })
const recently = '2026-11-19T03:59:00Z'
const HUBS: readonly (readonly [what: string, hub: Parameters<typeof unconfirmedHubs>[0][number], isLate: boolean])[] =
  [
    ['has confirmed', hub({ maintenance: since, at: recently }), false],
    ['has not confirmed', hub({ at: recently }), true],
    ['has confirmed an earlier one', hub({ maintenance: '2026-01-01T00:00:00Z' }), true],
    ['is silent', hub({ at: since }), false],
    ['is embedded and has not confirmed', hub({}), true],
    ['is of a version that this program cannot read', { name: 'a', health: undefined }, true],
  ]

for (const [what, one, isLate] of HUBS) {
  test(`a hub that ${what} is ${isLate ? '' : 'not '}waited for`, () => {
    assert.deepEqual(unconfirmedHubs([one], { since, reason: 'x' }, NOW), isLate ? ['a'] : [])
  })
}

test('the end of a maintenance is confirmed by a hub that says none', () => {
  assert.deepEqual(unconfirmedHubs([hub({})], undefined, NOW), [])
  assert.deepEqual(unconfirmedHubs([hub({ maintenance: since })], undefined, NOW), ['a'])
})
