import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addonClusterOf, rollOutAddon } from './addon-rollout.ts'
import type { AddonCluster } from './addon-rollout.ts'
import type { OcmRolloutStrategy } from '../rollout/next-clusters.ts'

const NOW = 1_000_000
const MINUTE = 60_000
const GROUPS = [
  { name: 'canary', index: 0, clusters: ['c2', 'c1'] },
  { name: '', index: 1, clusters: ['c3', 'c4', 'c5'] },
]
const progressing = (ago = 0): AddonCluster => ({ state: 'Progressing', since: NOW - ago })
const done = (ago = 2 * MINUTE): AddonCluster => ({ state: 'Succeeded', since: NOW - ago })
const failed: AddonCluster = { state: 'Failed' }

function next(strategy: OcmRolloutStrategy, states: Readonly<Record<string, AddonCluster>> = {}) {
  const stateOf = (cluster: string): AddonCluster => states[cluster] ?? { state: 'Waiting' }
  return rollOutAddon({ strategy, groups: GROUPS, stateOf, now: NOW })
}

test('All admits every cluster, and no failure stops it', () => {
  assert.deepEqual(next({ type: 'All' }, { c1: failed }).admitted, ['c2', 'c3', 'c4', 'c5'])
  assert.equal(next({}, { c1: failed, c2: failed }).stopped, false)
})

test('Progressive keeps to its concurrency, by name, and a failure frees its place', () => {
  const strategy = (more: object): OcmRolloutStrategy => ({ type: 'Progressive', progressive: more })
  const two = strategy({ maxConcurrency: 2, maxFailures: 1 })
  assert.deepEqual(next(two).admitted, ['c1', 'c2'])
  assert.deepEqual(next(two, { c1: progressing() }).admitted, ['c2'])
  assert.deepEqual(next(two, { c1: progressing(), c2: progressing() }).admitted, [])
  assert.deepEqual(next(two, { c1: failed, c2: progressing() }).admitted, ['c3'])
  const stopped = next(two, { c1: failed, c2: failed })
  assert.deepEqual([stopped.admitted, stopped.stopped, stopped.failed], [[], true, 2])
  assert.deepEqual(next(strategy({ maxConcurrency: '40%' })).admitted, ['c1', 'c2'])
  assert.equal(next(strategy({})).admitted.length, 5)
  // A number above the number of clusters is no 0.
  const many = strategy({ maxConcurrency: 1, maxFailures: 100 })
  assert.deepEqual(next(many, { c1: failed, c2: failed, c3: failed }).admitted, ['c4'])
})

test('a success keeps its place for minSuccessTime, and a late cluster counts as a failure', () => {
  const progressive = { maxConcurrency: 1, minSuccessTime: '5m', progressDeadline: '10m', maxFailures: 1 }
  const strategy = { type: 'Progressive', progressive }
  const soaking = next(strategy, { c1: done() })
  assert.deepEqual([soaking.admitted, soaking.recheckAfterMs], [[], 3 * MINUTE])
  assert.deepEqual(next(strategy, { c1: done(5 * MINUTE) }).admitted, ['c2'])
  const waits = next(strategy, { c1: progressing(4 * MINUTE) })
  assert.deepEqual([waits.admitted, waits.recheckAfterMs], [[], 6 * MINUTE])
  const late = next(strategy, { c1: progressing(10 * MINUTE) })
  assert.deepEqual([late.admitted, late.late, late.stopped], [['c2'], 1, false])
  const stopped = next(strategy, { c1: progressing(10 * MINUTE), c2: failed })
  assert.deepEqual([stopped.admitted, stopped.stopped], [[], true])
  assert.deepEqual(next(strategy, { c1: { state: 'Progressing' } }).recheckAfterMs, 10 * MINUTE)
})

test('ProgressivePerGroup goes group by group, and mandatory groups go first and tolerate no failure', () => {
  const perGroup = { type: 'ProgressivePerGroup', progressivePerGroup: { maxFailures: '50%' } }
  assert.deepEqual(next(perGroup).admitted, ['c1', 'c2'])
  assert.deepEqual(next(perGroup, { c1: done(), c2: progressing() }).admitted, [])
  assert.deepEqual(next(perGroup, { c1: done(), c2: failed }).admitted, ['c3', 'c4', 'c5'])
  assert.equal(next(perGroup, { c1: failed, c2: failed }).stopped, true)
  const mandatoryDecisionGroups = [{ groupName: 'canary' }]
  const first = { type: 'Progressive', progressive: { maxConcurrency: 1, maxFailures: 2, mandatoryDecisionGroups } }
  assert.deepEqual(next(first).admitted, ['c1', 'c2'])
  assert.deepEqual(next(first, { c1: done(), c2: failed }).admitted, [])
  assert.deepEqual(next(first, { c1: done(), c2: done() }).admitted, ['c3'])
  const byIndex = { type: 'ProgressivePerGroup', progressivePerGroup: { mandatoryDecisionGroups: [{ groupIndex: 1 }] } }
  assert.deepEqual(next(byIndex).admitted, ['c3', 'c4', 'c5'])
})

test('a field that cannot be read admits nothing and has a sentence', () => {
  for (const [strategy, problem] of [
    [{ type: 'Progressive', progressive: { progressDeadline: '2d' } }, /^progressDeadline: invalid timeout format$/],
    [{ type: 'Progressive', progressive: { minSuccessTime: 'soon' } }, /^minSuccessTime: /],
    [{ type: 'Progressive', progressive: { maxConcurrency: '5' } }, /maxConcurrency: '5' is an invalid maximum/],
    [{ type: 'ProgressivePerGroup', progressivePerGroup: { maxFailures: 'x%' } }, /maxFailures: strconv/],
  ] as const) {
    const { admitted, problem: found = '' } = next(strategy)
    assert.deepEqual(admitted, [])
    assert.match(found, problem)
  }
})

test('a cluster has arrived only with the configurations that it should have', () => {
  const references = [{ resource: 'addontemplates', name: 'web', desiredConfig: { name: 'web', specHash: 'b' } }]
  const desired = { template: {} as never, settings: [], references, digest: 'sha256:b' }
  const addon = (specHash: string, reason: string, annotations: Readonly<Record<string, string>> = {}) => {
    const status = reason === 'Progressing' ? ('True' as const) : ('False' as const)
    const lastTransitionTime = '1970-01-01T00:00:01Z'
    return {
      metadata: { name: 'web', namespace: 'c1', annotations },
      status: {
        configReferences: [
          { ...references[0]!, desiredConfig: { name: 'web', specHash }, lastAppliedConfig: { name: 'web', specHash } },
        ],
        conditions: [{ type: 'Progressing', status, reason, message: '', lastTransitionTime }],
      },
    }
  }
  const admission = { 'ocm.flotilla.dev/rollout': 'sha256:b', 'ocm.flotilla.dev/rollout-since': '1970-01-01T00:00:09Z' }
  assert.equal(addonClusterOf(undefined, desired).state, 'Waiting')
  assert.equal(addonClusterOf(addon('a', 'Completed'), desired).state, 'Waiting')
  assert.deepEqual(addonClusterOf(addon('a', 'Completed', admission), desired), { state: 'Progressing', since: 9000 })
  assert.deepEqual(addonClusterOf(addon('b', 'Progressing', admission), desired), { state: 'Progressing', since: 9000 })
  assert.deepEqual(addonClusterOf(addon('b', 'Completed'), desired), { state: 'Succeeded', since: 1000 })
  assert.equal(addonClusterOf(addon('b', 'Failed', admission), desired).state, 'Failed')
  assert.equal(addonClusterOf(addon('b', 'Completed'), { problem: 'missing' }).state, 'Failed')
})
