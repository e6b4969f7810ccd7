import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { rollbackRings, rolloutRings } from './rollout-rings.ts'

const plan = build(RolloutPlan, 'ns/careful', {
  spec: {
    start: 'Manual',
    progressDeadline: '2h',
    rings: [
      { name: 'canary', count: 1, concurrency: 1, soak: '1h', approvals: { count: 1, noSelfApproval: false } },
      { name: 'rest', concurrency: '25%', maxFailed: 2 },
    ],
  },
})

test('without a plan there is one ring with the concurrency of the Bundle, 10 by default', () => {
  assert.deepEqual(rolloutRings(undefined, undefined), { rings: [{ name: 'all', concurrency: 10 }], paused: false })
  assert.deepEqual(rolloutRings({ concurrency: '50%' }, undefined).rings, [{ name: 'all', concurrency: '50%' }])
})

test('the rings of a plan are a copy, and a manual start is a pause', () => {
  const rings = rolloutRings({ plan: 'careful' }, plan)
  assert.deepEqual(rings, { rings: plan.spec.rings, paused: true, plan: 'careful', progressDeadline: '2h' })
  assert.notEqual(rings.rings[0], plan.spec.rings[0])
})

test('a plan that does not exist leaves the rings of the last Rollout', () => {
  const last = { release: 'r', rings: plan.spec.rings, paused: true, progressDeadline: '3h' }
  assert.deepEqual(rolloutRings({ plan: 'gone' }, undefined, last), {
    rings: plan.spec.rings,
    paused: false,
    progressDeadline: '3h',
  })
})

test('a rollback of all clusters goes in one ring with the budget of the last; of single clusters it keeps the rings', () => {
  const rings = rolloutRings({ plan: 'careful' }, plan)
  const back = { of: 'r', by: 'kim' }
  assert.deepEqual(rollbackRings(rings, { ...back, scope: 'All' }), {
    ...rings,
    rings: [{ name: 'back', concurrency: '25%', maxFailed: 2 }],
    paused: false,
  })
  assert.equal(rollbackRings(rings, { ...back, scope: 'Clusters' }), rings)
})
