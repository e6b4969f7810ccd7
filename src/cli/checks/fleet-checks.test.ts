import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatTime } from '../../core/time/time.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { HubStorage } from '../../plan/fleet/hub-health.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import { agentVersionsCheck, storageChecks, stuckRolloutsCheck } from './fleet-checks.ts'

const NOW = 1_800_000_000_000
const MB = 1024 * 1024
const HOUR = 3_600_000
const ago = (ms: number): string => formatTime(NOW - ms)

test('the disk of a hub needs room, and an embedded hub a backup of the last seven days', () => {
  const lines = (storage: HubStorage) =>
    storageChecks('0', storage, NOW).map(({ id, result, text }) => `${result} ${id}: ${text}`)
  const well = { freeBytes: 9_000 * MB, databaseBytes: 300 * MB, lastBackup: ago(24 * HOUR) }
  assert.deepEqual(lines(well), [
    'ok hub-storage: hub "0": the database has 300.0 MB, 9000.0 MB free',
    'ok last-backup: hub "0": the newest backup is 24h old',
  ])
  assert.equal(lines({ ...well, freeBytes: 3000 * MB, databaseBytes: 3000 * MB })[0]!.split(':')[0], 'ok hub-storage')
  assert.equal(
    lines({ ...well, freeBytes: 3000 * MB, databaseBytes: 4000 * MB })[0],
    'warning hub-storage: hub "0": the database has 4000.0 MB, 3000.0 MB free, which is less than the database has',
  )
  assert.match(lines({ ...well, freeBytes: 2047 * MB })[0]!, /^warning hub-storage/)
  assert.match(lines({ ...well, freeBytes: 255 * MB })[0]!, /^failed hub-storage/)
  assert.equal(
    lines({ ...well, lastBackup: ago(8 * 24 * HOUR) })[1],
    'warning last-backup: hub "0": the newest backup is 8d old',
  )
  const { lastBackup: _never, ...without } = well
  assert.equal(lines(without)[1], 'warning last-backup: hub "0": no backup was noted')
  // A new hub has some days for its first backup.
  assert.equal(
    lines({ ...without, createdAt: ago(24 * HOUR) })[1],
    'ok last-backup: hub "0": no backup was noted; the database was created 24h ago',
  )
  assert.match(lines({ ...without, createdAt: ago(8 * 24 * HOUR) })[1]!, /^warning last-backup/)
  // On a kube-apiserver, the objects are backed up with etcd, and the disk holds caches.
  assert.deepEqual(lines({ freeBytes: 9000 * MB }), ['ok hub-storage: hub "0": 9000.0 MB free in the data directory'])
})

type Status = NonNullable<Rollout['status']>

function rollout(status: Partial<Status>, spec: object = {}): Rollout {
  const metadata = { name: 'web-g1', namespace: 'shop' }
  return { metadata, spec, status: { phase: 'Progressing', ...status } } as unknown as Rollout
}

const admission = (cluster: string, ms: number, more: object = {}) =>
  ({ bundle: 'web', cluster, ring: 'canary', admittedAt: ago(ms), ...more }) as NonNullable<
    Status['admissions']
  >[number]

test('a Rollout is stuck when a cluster or a gate does not answer for an hour', () => {
  const text = (...rollouts: Rollout[]) => {
    const { result, text } = stuckRolloutsCheck(rollouts, NOW)
    return result === 'ok' ? 'ok' : text
  }
  const old = admission('store-1', 2 * HOUR)
  assert.equal(text(), 'ok')
  assert.equal(text(rollout({ admissions: [admission('store-1', HOUR - 1)] })), 'ok')
  assert.equal(
    text(rollout({ admissions: [old, admission('store-2', 3 * HOUR)] })),
    '1 Rollout waits for more than 60m: shop/web-g1 (neither Ready nor failed: store-1, store-2)',
  )
  assert.equal(text(rollout({ admissions: [admission('store-1', 2 * HOUR, { failedAt: ago(HOUR) })] })), 'ok')
  for (const phase of ['Paused', 'Failed', 'Completed'] as const)
    assert.equal(text(rollout({ phase, admissions: [old] })), 'ok')
  // A deadline ends the wait; an hour more, and it did not.
  assert.equal(text(rollout({ admissions: [old] }, { progressDeadline: '2h' })), 'ok')
  assert.match(text(rollout({ admissions: [admission('store-1', 4 * HOUR)] }, { progressDeadline: '2h' })), /store-1/)
  const ring = (state: 'Unknown' | 'Waiting', ms: number): Partial<Status> => ({
    ring: 'canary',
    rings: [{ name: 'canary', gates: [{ name: 'slo', state, since: ago(ms), message: 'no answer' }] }],
  })
  assert.equal(
    text(rollout(ring('Unknown', 2 * HOUR))),
    '1 Rollout waits for more than 60m: shop/web-g1 (gate slo of ring canary: no answer)',
  )
  assert.equal(text(rollout(ring('Unknown', HOUR / 2))), 'ok')
  assert.equal(text(rollout(ring('Waiting', 2 * HOUR))), 'ok')
  assert.equal(stuckRolloutsCheck(undefined, NOW).text, 'not checked: you may not list rollouts')
})

test('agents of another minor version than the hub are counted by version', () => {
  const cluster = (name: string, agentVersion: string | undefined, accepted = true) => {
    const made = buildCluster(name)
    return { ...made, spec: { ...made.spec, accepted }, status: agentVersion === undefined ? {} : { agentVersion } }
  }
  const fleet = [cluster('a', '0.2.0'), cluster('b', '0.2.9'), cluster('c', undefined)]
  assert.deepEqual(agentVersionsCheck(fleet, '0.2.3'), {
    id: 'agent-versions',
    result: 'ok',
    text: '2 agents of version 0.2, as the hub',
  })
  const mixed = [
    ...fleet,
    cluster('d', '0.1.0'),
    cluster('e', '0.1.0'),
    cluster('f', '0.3.0'),
    cluster('g', '0.1.0', false),
  ]
  assert.deepEqual(agentVersionsCheck(mixed, '0.2.3'), {
    id: 'agent-versions',
    result: 'warning',
    text: 'the hub has version 0.2.3: 2 agents of version 0.1.0 (d, e), 1 agent of version 0.3.0 (f)',
  })
  assert.equal(agentVersionsCheck(fleet, undefined), undefined, 'a hub that does not say its version')
  assert.equal(agentVersionsCheck(undefined, '0.2.3')?.result, 'warning')
})
