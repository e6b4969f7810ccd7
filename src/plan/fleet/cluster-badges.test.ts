import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apartBadge, badgesOfCluster, countFleet, stateOfCluster } from './cluster-badges.ts'
import type { BadgedCluster } from './cluster-badges.ts'

const held = { reason: 'audit', since: '2026-11-16T00:00:00Z' }

test('every badge a cluster has, the one that lasts longest first', () => {
  const cases: readonly (readonly [BadgedCluster['spec'], string, BadgedCluster['status']?])[] = [
    [{}, ''],
    [{ hold: held }, 'Held'],
    [{ cordon: held, hold: held }, 'Cordoned Held'],
    [{ refused: { verdict: 'Rejected', at: '2026-01-01T00:00:00Z' } }, 'Rejected'],
    [{ decommission: {} }, 'Leaving'],
    [{ decommission: {}, hold: held }, 'Leaving Held', { decommission: { phase: 'Cleared' } }],
    [
      { decommission: {}, refused: { verdict: 'Revoked', at: '2026-01-01T00:00:00Z' } },
      'Left',
      { decommission: { phase: 'Revoked' } },
    ],
    [
      { decommission: {}, refused: { verdict: 'Revoked', at: '2026-01-01T00:00:00Z' } },
      'Leaving Revoked',
      { decommission: { phase: 'Leaving' } },
    ],
    [{}, '', { decommission: { phase: 'Revoked' } }],
  ]
  for (const [spec, wanted, status] of cases) {
    assert.equal(badgesOfCluster({ metadata: { name: 'a' }, spec, status }).join(' '), wanted)
  }
  const labelled = { metadata: { name: 'a', labels: { maintenance: 'frozen' } }, spec: {} }
  assert.deepEqual(badgesOfCluster(labelled), ['Frozen'])
})

test('clusters that left or were turned away have no state and are counted apart', () => {
  const refused = (verdict: 'Rejected' | 'Revoked') => ({ verdict, at: '2026-01-01T00:00:00Z' })
  const of = (spec: BadgedCluster['spec'], status?: BadgedCluster['status']): BadgedCluster => ({
    metadata: { name: 'a' },
    spec,
    status,
  })
  const fleet = [
    of({}, { state: 'Ready' }),
    of({}, { state: 'NotSelected' }),
    // What 0.1 wrote about a revoked cluster.
    of({ refused: refused('Revoked') }, { state: 'Pending' }),
    of({ refused: refused('Rejected') }),
    of({ refused: refused('Revoked'), decommission: {} }, { decommission: { phase: 'Revoked' } }),
    of({ decommission: {} }, { state: 'Progressing', decommission: { phase: 'Leaving' } }),
    of({}),
  ]
  assert.deepEqual(fleet.map(stateOfCluster), [
    'Ready',
    'NotSelected',
    undefined,
    undefined,
    undefined,
    'Progressing',
    'Pending',
  ])
  assert.deepEqual(fleet.map(apartBadge).filter(Boolean), ['Revoked', 'Rejected', 'Left'])
  assert.deepEqual(countFleet(fleet), {
    total: 4,
    states: { Ready: 1, Progressing: 1, Pending: 1, NotSelected: 1 },
    apart: { Left: 1, Rejected: 1, Revoked: 1 },
  })
})
