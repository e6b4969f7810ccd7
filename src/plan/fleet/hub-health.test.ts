import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authorityProblem, formatHubHealth, hubsWithoutTrust, notReadyReason, parseHubHealth } from './hub-health.ts'
import type { HubHealth } from './hub-health.ts'

const HEALTH: HubHealth = {
  version: '0.1.0',
  storage: { freeBytes: 12_000_000_000, databaseBytes: 340_000_000, lastBackup: '2026-01-01T00:00:00Z' },
  startedAt: '2026-01-01T00:00:00Z',
  parts: [
    { name: 'api', state: 'Running', restarts: 0 },
    {
      name: 'gateway',
      state: 'Down',
      restarts: 2,
      last: { cause: 'memory', message: 'the gateway thread ended: heap out of memory', at: '2026-01-01T00:01:00Z' },
    },
    { name: 'controllers', state: 'Unstable', restarts: 3 },
  ],
  authorities: [{ name: 'transport', notAfter: '2036-01-01T00:00:00Z' }],
}

test('the health of a hub is read as it was written, and another form is not read', () => {
  assert.deepEqual(parseHubHealth(formatHubHealth(HEALTH)), HEALTH)
  for (const text of [
    '',
    '[]',
    '{"startedAt":1,"parts":[]}',
    '{"startedAt":"x","parts":[],"authorities":[{"name":"kitchen","notAfter":"x"}]}',
    '{"startedAt":"x","parts":[],"storage":{"freeBytes":-1}}',
    '{"startedAt":"x","parts":[],"storage":{"freeBytes":1,"databaseBytes":"2"}}',
    '{"startedAt":"x","parts":[],"version":1}',
    '{"startedAt":"x","parts":[{"name":"kitchen","state":"Running","restarts":0}]}',
    '{"startedAt":"x","parts":[{"name":"api","state":"Fine","restarts":0}]}',
    '{"startedAt":"x","parts":[{"name":"api","state":"Down","restarts":1.5}]}',
    '{"startedAt":"x","parts":[{"name":"api","state":"Down","restarts":1,"last":{"cause":"luck"}}]}',
  ]) {
    assert.equal(parseHubHealth(text), undefined, text)
  }
})

test('a hub is ready while all of its parts run', () => {
  assert.equal(notReadyReason([HEALTH.parts[0]!]), undefined)
  assert.equal(
    notReadyReason(HEALTH.parts),
    'the gateway thread does not run; the hub starts it again (restarts: 2); the loop of the controllers ended repeatedly (restarts: 3)',
  )
})

test('a CA is a problem from 90 days before its end', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  const problem = (days: number) =>
    authorityProblem({ name: 'transport', notAfter: new Date(now + days * 86_400_000).toISOString() }, now)
  assert.equal(problem(91), undefined)
  assert.equal(problem(90), 'the transport CA expires in 90d; replace it with "flotilla trust rotate ca"')
  assert.equal(problem(-3), 'the transport CA expired 3d ago; replace it with "flotilla trust rotate ca"')
  const unknown = authorityProblem({ name: 'api', notAfter: 'soon' }, now)
  assert.equal(unknown, 'the end of the api CA is unknown')
})

test('the health of a hub of an earlier version has no CAs', () => {
  const { authorities: _, ...earlier } = HEALTH
  assert.deepEqual(parseHubHealth(formatHubHealth(earlier)), earlier)
})

test('a hub that has an older trust is waited for while it runs', () => {
  const now = Date.parse('2026-11-19T04:00:00Z')
  const hub = (name: string, fields: object) => ({
    name,
    health: { startedAt: '2026-11-19T03:00:00Z', parts: [], ...fields },
  })
  const at = '2026-11-19T03:59:30Z'
  const hubs = [
    hub('behind', { at, trust: 2 }),
    hub('current', { at, trust: 3 }),
    hub('silent', { at: '2026-11-19T03:50:00Z', trust: 2 }),
    hub('of-an-earlier-version', { at }),
    { name: 'unreadable', health: undefined },
  ]
  assert.deepEqual(hubsWithoutTrust(hubs, 3, now), ['behind'])
})
