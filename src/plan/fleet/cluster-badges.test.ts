import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badgesOfCluster } from './cluster-badges.ts'
import type { BadgedCluster } from './cluster-badges.ts'

const held = { reason: 'audit', since: '2026-11-16T00:00:00Z' }

test('every badge a cluster has, the one that lasts longest first', () => {
  const cases: readonly (readonly [BadgedCluster['spec'], string, BadgedCluster['status']?])[] = [
    [{}, ''],
    [{ hold: held }, 'Held'],
    [{ cordon: held, hold: held }, 'Cordoned Held'],
    [{ refused: { verdict: 'Rejected' } }, 'Rejected'],
    [{ decommission: {} }, 'Leaving'],
    [{ decommission: {}, hold: held }, 'Leaving Held', { decommission: { phase: 'Cleared' } }],
    [{ decommission: {}, refused: { verdict: 'Revoked' } }, 'Left', { decommission: { phase: 'Revoked' } }],
    [{ decommission: {}, refused: { verdict: 'Revoked' } }, 'Leaving Revoked', { decommission: { phase: 'Leaving' } }],
    [{}, '', { decommission: { phase: 'Revoked' } }],
  ]
  for (const [spec, wanted, status] of cases) {
    assert.equal(badgesOfCluster({ metadata: { name: 'a' }, spec, status }).join(' '), wanted)
  }
  const labelled = { metadata: { name: 'a', labels: { maintenance: 'frozen' } }, spec: {} }
  assert.deepEqual(badgesOfCluster(labelled), ['Frozen'])
})
