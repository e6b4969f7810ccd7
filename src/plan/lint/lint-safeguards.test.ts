import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { lintGuard, lintPlan, lintRollout } from './lint-safeguards.ts'

const plan = (...rings: object[]) =>
  build(RolloutPlan, 'ns/plan', { spec: { rings: rings as RolloutPlan['spec']['rings'], start: 'Automatic' } })
const found = (findings: readonly { readonly check: string; readonly message: string }[]) =>
  findings.map(({ check, message }) => `${check}: ${message}`)

const ROLLOUTS: readonly [string, Bundle['spec']['rollout'], RolloutPlan | undefined, string[]][] = [
  [
    'no strategy',
    undefined,
    undefined,
    [
      'no-rollout-strategy: Bundle b has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time',
    ],
  ],
  [
    'only a history',
    { history: 3 },
    undefined,
    [
      'no-rollout-strategy: Bundle b has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time',
    ],
  ],
  ['some at a time', { concurrency: '25%' }, undefined, []],
  [
    'all at once',
    { concurrency: '100%' },
    undefined,
    ['no-rollout-strategy: Bundle b changes all its clusters at once (spec.rollout.concurrency is 100%)'],
  ],
  ['an unknown plan', { plan: 'plan' }, undefined, []],
  ['a plan with soak', { plan: 'plan' }, plan({ name: 'canary', count: 1, concurrency: 1, soak: '1h' }), []],
]

test('a Bundle without a rollout strategy is found', () => {
  for (const [name, rollout, planned, expected] of ROLLOUTS) {
    const { rollout: _rollout, ...spec } = buildBundle('ns/b').spec
    const bundle = { ...buildBundle('ns/b'), spec: { ...spec, ...(rollout ? { rollout } : {}) } }
    assert.deepEqual(found(lintRollout(bundle, planned)), expected, name)
  }
})

test('a plan is found when nothing stands between its rings, or its only ring is the fleet', () => {
  const ring = { name: 'all', concurrency: 10 }
  assert.deepEqual(found(lintPlan(plan(ring))), [
    'plan-without-gate: RolloutPlan plan has no gate: no ring has a soak time, a gate or an approval',
  ])
  assert.deepEqual(found(lintPlan(plan({ ...ring, concurrency: '100%' }))), [
    'no-rollout-strategy: RolloutPlan plan changes all clusters at once: its only ring, all, has concurrency 100%',
  ])
  assert.deepEqual(lintPlan(plan({ ...ring, approvals: { count: 1 } })), [])
  assert.deepEqual(lintPlan(plan({ ...ring, gates: [{ name: 'g', bundleReady: { bundle: 'x' } }] })), [])
  assert.equal(lintPlan(plan({ ...ring, gates: [] })).length, 1)
})

test('a Placement whose guard lets everything go is found', () => {
  const placement = (guard?: object) =>
    build(Placement, 'ns/p', { spec: { clusterSelector: {}, ...(guard ? { guard } : {}) } })
  assert.deepEqual(lintGuard(placement()), [])
  assert.deepEqual(lintGuard(placement({ maxDropped: '50%' })), [])
  assert.deepEqual(found(lintGuard(placement({ maxDropped: '100%' }))), [
    'unguarded-placement: Placement p has no guard: spec.guard.maxDropped is 100%, so one change can deselect all clusters',
  ])
})
