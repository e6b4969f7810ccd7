import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHubHealth, notReadyReason, parseHubHealth } from './hub-health.ts'
import type { HubHealth } from './hub-health.ts'

const HEALTH: HubHealth = {
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
}

test('the health of a hub is read as it was written, and another form is not read', () => {
  assert.deepEqual(parseHubHealth(formatHubHealth(HEALTH)), HEALTH)
  for (const text of [
    '',
    '[]',
    '{"startedAt":1,"parts":[]}',
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
