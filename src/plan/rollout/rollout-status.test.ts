import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build } from '../../testing/fixtures/builders.ts'
import {
  isClosed,
  isClosedFor,
  onlyCountsDiffer,
  recordDecision,
  rollbackOnFailure,
  unsettledClusters,
} from './rollout-status.ts'
import type { RolloutDecision } from './types.ts'

const rollout = (spec: Partial<Rollout['spec']> = {}, status: Rollout['status'] = {}): Rollout =>
  build(Rollout, 'ns/app-g1', { spec: { release: 'app-g1', rings: [], paused: false, ...spec }, status })

const failed: RolloutDecision = {
  kind: 'Fail',
  phase: 'Failed',
  admissions: [],
  freed: [],
  ring: 'canary',
  message: '2 clusters failed.',
  hold: { reason: 'TooManyFailures', detail: '2 clusters failed' } as never,
}

test('a Rollout is closed by its Superseded condition, and closed for the Bundles that it lists', () => {
  const at = { lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'NewerRelease', message: '' }
  const closed = rollout({}, { conditions: [{ type: 'Superseded', status: 'True', ...at }] })
  assert.deepEqual([isClosed(closed), isClosedFor(closed, 'app')], [true, true])
  const partly = rollout({}, { superseded: [{ bundle: 'app', by: 'app-g2' }] })
  assert.deepEqual([isClosed(partly), isClosedFor(partly, 'app'), isClosedFor(partly, 'other')], [false, true, false])
})

test('a removal is unsettled on the clusters that it has not settled', () => {
  const removal = { bundle: 'app', cause: 'unplaced', policy: 'Delete', clusters: ['a', 'b'], reason: 'x' } as const
  assert.deepEqual(unsettledClusters(rollout({ removal: { ...removal, clusters: ['a', 'b'] } }, { settled: ['a'] })), [
    'b',
  ])
  assert.deepEqual(unsettledClusters(rollout()), [])
})

test('a failure is rolled back once, where the plan says so, and in its ring where the plan says that', () => {
  assert.equal(rollbackOnFailure(rollout(), failed, 0), undefined)
  assert.equal(rollbackOnFailure(rollout({ onFailure: 'Pause' }), failed, 0), undefined)
  const all = { at: '1970-01-01T00:00:00Z', reason: '2 clusters failed.' }
  assert.deepEqual(rollbackOnFailure(rollout({ onFailure: 'RollBackAll' }), failed, 0), all)
  const ring = rollout({ onFailure: 'RollBackRing' })
  assert.deepEqual(rollbackOnFailure(ring, failed, 0), { ...all, ring: 'canary' })
  assert.equal(rollbackOnFailure(rollout(ring.spec, { rollBack: all }), failed, 0), undefined)
})

test('a recorded decision differs only in counts from itself with other counts, and not with other admissions', () => {
  const counts = { total: 2, ready: 1, progressing: 0, pending: 0, failed: 1, offline: 0 }
  const decision: RolloutDecision = {
    ...failed,
    counts,
    rings: [{ name: 'canary' }],
    ringCounts: [{ members: 2, ready: 1, failed: 1, excused: 0, tolerated: 0, spared: 0 }],
    unringed: ['z', 'z'],
  }
  const recorded = rollout()
  recorded.metadata.generation = 3
  recorded.status!.observedGeneration = 3
  assert.equal(onlyCountsDiffer(recorded, decision), false)
  recordDecision(recorded.status!, decision)
  assert.deepEqual(recorded.status?.rings, [{ name: 'canary', members: 2, ready: 1, failed: 1, excused: 0 }])
  assert.deepEqual(recorded.status?.unringed, ['z'])
  const later: RolloutDecision = { ...decision, counts: { ...counts, ready: 2 }, message: 'other' }
  assert.equal(onlyCountsDiffer(recorded, later), true)
  const admission = { bundle: 'app', cluster: 'a', ring: 'canary', admittedAt: '2026-01-01T00:00:00Z' }
  assert.equal(onlyCountsDiffer(recorded, { ...later, admissions: [admission] }), false)
  recorded.metadata.generation = 4
  assert.equal(onlyCountsDiffer(recorded, later), false)
})
