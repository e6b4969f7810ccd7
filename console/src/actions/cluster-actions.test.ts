import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCluster } from '../../../src/testing/fixtures/builders.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import type { Asking } from './action.ts'
import { clusterActions, decommissionActions } from './cluster-actions.ts'

const ana: Asking = { username: 'ana', groups: [], reason: 'audit', nowMs: Date.parse('2026-01-01T10:00:00Z') }
const at = '2026-01-01T10:00:00Z'
const held = { reason: 'audit', since: at, by: 'ana' }

function cluster(spec: Partial<Cluster['spec']>): Cluster {
  const made = buildCluster('a')
  return { ...made, spec: { ...made.spec, ...spec } }
}

const offered = (spec: Partial<Cluster['spec']>) =>
  clusterActions(cluster(spec)).map(({ title, asks, right, change }) => [
    title,
    asks,
    right.verb,
    (change(ana).body as { spec: object }).spec,
  ])

test('each action writes what the CLI writes', () => {
  const refused = { verdict: 'Rejected' as const, at, reason: 'audit' }
  assert.deepEqual(offered({ accepted: false }), [
    ['Accept', 'reason', 'accept', { accepted: true, refused: null }],
    ['Reject', 'reason', 'patch', { accepted: false, refused }],
  ])
  assert.deepEqual(offered({ accepted: true }), [
    ['Hold', 'requiredReason', 'patch', { hold: held }],
    ['Cordon', 'requiredReason', 'patch', { cordon: held }],
  ])
  assert.deepEqual(offered({ accepted: true, hold: held }), [
    ['Release', 'none', 'patch', { hold: null }],
    ['Cordon', 'requiredReason', 'patch', { cordon: held }],
  ])
  assert.deepEqual(offered({ accepted: true, refused }), [])
})

test('a cluster is decommissioned after its name was typed, and only an offline one without its agent', () => {
  const offline = {
    type: 'Available',
    status: 'False',
    reason: 'Offline',
    message: '',
    lastTransitionTime: at,
  } as const
  const made = cluster({ accepted: true })
  const ways = (status?: Cluster['status']) =>
    decommissionActions({ ...made, status }).map(({ command, typed, effect, change }) => [
      command,
      typed,
      effect.endsWith('until it is back.'),
      (change(ana).body as { spec: { decommission: object } }).spec.decommission,
    ])
  assert.deepEqual(ways(), [
    ['flotilla cluster decommission a --orphan', 'a', false, { policy: 'Orphan', at, reason: 'audit' }],
    ['flotilla cluster decommission a --remove', 'a', false, { policy: 'Remove', at, reason: 'audit' }],
  ])
  assert.deepEqual(ways({ conditions: [offline] }).slice(1), [
    ['flotilla cluster decommission a --remove', 'a', true, { policy: 'Remove', at, reason: 'audit' }],
    [
      'flotilla cluster decommission a --orphan --force-unreachable',
      'a',
      false,
      { policy: 'Orphan', at, forceUnreachable: true, reason: 'audit' },
    ],
  ])
  const leaving = cluster({ accepted: true, decommission: { policy: 'Orphan', at } })
  assert.deepEqual(decommissionActions(leaving), [])
  assert.deepEqual(offered(leaving.spec), [['Cancel the decommissioning', 'none', 'patch', { decommission: null }]])
})
