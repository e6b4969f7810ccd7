/** Several bundles in one Rollout: what moves together, what is taken over, and who fails alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { latestRetryFor } from './retry.ts'
import { planRollout } from './plan-rollout.ts'
import type { ReleaseBundle, RolloutCluster } from './bundle-on-cluster.ts'
import type { RolloutFacts, RolloutInput } from './types.ts'
import type { ClusterContent } from '../release/variants.ts'

const bundle = (name: string, generation = 2): ReleaseBundle => ({
  name,
  generation,
  set: digestOf(`${name}${generation}`),
  placement: 'p',
})

type Says = Readonly<Record<string, readonly [BundleStateName, number]>>

function input(
  clusters: Readonly<Record<string, Says>>,
  rollout: Partial<RolloutFacts> = {},
  extra: Partial<RolloutInput> = {},
): RolloutInput {
  const known = new Map(
    Object.entries(clusters).map(([name, says]): [string, RolloutCluster] => {
      const rows = Object.entries(says).map(([key, [state, generation]]) => {
        return [`ns/${key}`, { generation, set: digestOf(`${key}${generation}`), state }] as const
      })
      const availability = { state: 'Available', reason: 'Seen', message: '' } as const
      return [name, { availability, assigned: new Map(rows), reported: new Map(rows) }]
    }),
  )
  return {
    rollout: { namespace: 'ns', rings: [{ name: 'all', concurrency: 1 }], paused: false, admissions: [], ...rollout },
    release: { bundles: [bundle('x'), bundle('y')] },
    decisions: new Map([['p', Object.keys(clusters)]]),
    clusterOf: (name) => known.get(name),
    predecessors: [],
    now: Date.parse('2026-11-16T12:00:00Z'),
    ...extra,
  }
}

const slot = (of: string, cluster: string) => ({ bundle: of, cluster, ring: 'all', admittedAt: '2026-11-16T11:59:00Z' })
const slots = (decision: ReturnType<typeof planRollout>) =>
  decision.admissions.map((one) => `${one.bundle}@${one.cluster}`).join(' ')

test('the bundles of one commit reach a cluster together: slots are clusters', () => {
  const first = planRollout(input({ a: {}, b: {} }))
  assert.equal(slots(first), 'x@a y@a')
  const half = planRollout(input({ a: { x: ['Ready', 2] }, b: {} }, { admissions: first.admissions }))
  assert.equal(slots(half), 'y@a', 'the cluster is busy until all of it is well')
  const next = planRollout(input({ a: { x: ['Ready', 2], y: ['Ready', 2] }, b: {} }, { admissions: half.admissions }))
  assert.equal(slots(next), 'x@b y@b')
})

test('a newer rollout takes over exactly the bundles it carries; the others go on here', () => {
  const newer = new Map([['x', 'r3']])
  const decision = planRollout(input({ a: {}, b: {} }, { admissions: [slot('x', 'a'), slot('y', 'a')] }, { newer }))
  assert.deepEqual(decision.superseded, [{ bundle: 'x', by: 'r3' }])
  assert.equal(slots(decision), 'x@a y@a', 'what is in flight stays counted')
  assert.match(decision.message, / Bundle "x" continues in rollout r3\.$/)
  const recorded = { superseded: decision.superseded ?? [], admissions: [] }
  assert.equal(slots(planRollout(input({ a: {}, b: {} }, recorded))), 'y@a', 'no cluster is admitted for x any more')
  const both = planRollout(input({ a: {} }, recorded, { newer: new Map([['y', 'r4']]) }))
  assert.deepEqual([both.kind, both.phase, both.superseded?.length], ['Supersede', 'Superseded', 2])
  assert.match(both.message, /^Superseded by rollouts r3, r4; /)
})

test('the newer rollout waits for the older one to let go of its bundle, and counts what that has in flight', () => {
  const older = { name: 'r1', bundle: 'x', generation: 1, admissions: [slot('x', 'b')] }
  const release = { bundles: [bundle('x')] }
  const waits = planRollout(input({ a: {}, b: {} }, {}, { release, predecessors: [{ ...older, closed: false }] }))
  assert.equal(waits.kind === 'Wait' && waits.hold.reason, 'PredecessorOpen')
  const moves = planRollout(input({ a: {}, b: {} }, {}, { release, predecessors: [{ ...older, closed: true }] }))
  assert.equal(slots(moves), 'x@b')
})

test('a deleted bundle leaves; the others go on', () => {
  const decision = planRollout(input({ a: {} }, {}, { deletedBundles: ['x'] }))
  assert.equal(slots(decision), 'y@a')
  assert.match(decision.message, / Bundle "x" was deleted; a separate Rollout removes it\.$/)
  const none = planRollout(input({ a: {} }, {}, { deletedBundles: ['x', 'y'] }))
  assert.equal(none.kind === 'Wait' && none.hold.reason, 'BundleDeleted')
})

test('a bad value for one site fails only that site, and the true reason is shown', () => {
  const contentOf = (name: string): ClusterContent =>
    name === 'b' ? { kind: 'Problem', problem: 'values.till is missing' } : { kind: 'Set', set: digestOf('x2') }
  const release = { bundles: [{ ...bundle('x'), contentOf }] }
  const rings = [
    { name: 'one', count: 2, concurrency: 1, maxFailed: 0 },
    { name: 'rest', concurrency: 1 },
  ]
  const begins = planRollout(input({ a: {}, b: {}, c: {} }, { rings }, { release }))
  assert.equal(slots(begins), 'x@a')
  assert.deepEqual([begins.counts?.failed, begins.counts?.pending, begins.counts?.progressing], [1, 2, 0])
  const passes = planRollout(input({ a: { x: ['Ready', 2] }, b: {}, c: {} }, { rings }, { release }))
  assert.equal(passes.kind, 'Pass', 'the next ring is not held by it')
  const ringStates = [{ name: 'one', upTo: 'b', passedAt: '2026-11-16T11:59:00Z' }]
  const well: Says = { x: ['Ready', 2] }
  const done = planRollout(input({ a: well, b: {}, c: well }, { rings, ringStates }, { release }))
  assert.deepEqual(
    [done.phase, done.message],
    [
      'Completed',
      '2 of 3 ready. Bundle "x" cannot be rendered for b; the cluster keeps its present content. Cause: values.till is missing.',
    ],
  )
  const alone = planRollout(input({ b: {} }, {}, { release }))
  assert.equal(alone.kind === 'Wait' && alone.hold.reason, 'NotRendered', 'but a ring in which no cluster can is held')
})

test('failures within maxFailed do not stop the rest, of this ring or the next; one more does', () => {
  const rings = [
    { name: 'one', count: 3, concurrency: 1, maxFailed: 1 },
    { name: 'rest', concurrency: 1 },
  ]
  const release = { bundles: [bundle('x')] }
  const failed: Says = { x: ['Failed', 2] }
  const well: Says = { x: ['Ready', 2] }
  const plan = (clusters: Record<string, Says>, more: Partial<RolloutFacts> = {}) =>
    planRollout(input(clusters, { rings, admissions: [slot('x', 'a')], ...more }, { release }))
  const goes = plan({ a: failed, b: {}, c: {}, d: {} })
  assert.equal(slots(goes), 'x@a x@b')
  assert.equal(goes.admissions[0]?.failedAt, '2026-11-16T12:00:00Z', 'the failure is written down')
  assert.equal(plan({ a: failed, b: well, c: well, d: {} }).kind, 'Pass')
  const ringStates = [{ name: 'one', upTo: 'c', passedAt: '2026-11-16T11:59:00Z' }]
  assert.equal(slots(plan({ a: failed, b: well, c: well, d: {} }, { ringStates })), 'x@a x@d')
  const ends = plan({ a: failed, b: well, c: well, d: well }, { ringStates })
  assert.deepEqual([ends.phase, ends.message], ['Completed', '3 of 4 ready; a failed.'])
  const stops = plan({ a: failed, b: failed, c: {}, d: {} }, { admissions: [slot('x', 'a'), slot('x', 'b')] })
  assert.match(
    stops.message,
    /^2 clusters failed \(a, b\), more than the 1 that maxFailed allows, so no further cluster is admitted\./,
  )
})

test('a failed cluster tries again on request: admitted anew, as the budget allows, and a failure counts again', () => {
  const release = { bundles: [bundle('x')] }
  const rings = [{ name: 'all', concurrency: 1, maxFailed: 0 }]
  const admissions = [{ ...slot('x', 'a'), failedAt: '2026-11-16T11:59:30Z' }]
  const failed: Says = { x: ['Failed', 2] }
  const stopped = planRollout(input({ a: failed, b: {} }, { rings, admissions }, { release }))
  assert.equal(stopped.kind, 'Fail')
  const attemptOf = latestRetryFor([{ n: 3, clusters: ['a'] }])
  const again = planRollout(input({ a: failed, b: {} }, { rings, admissions, attemptOf }, { release }))
  assert.equal(slots(again), 'x@a')
  assert.deepEqual(
    [again.admissions[0]?.attempt, again.admissions[0]?.failedAt, again.phase],
    [3, undefined, 'Progressing'],
  )
  const next = { rings, admissions: again.admissions, attemptOf }
  const waits = planRollout(input({ a: failed, b: {} }, next, { release }))
  assert.equal(waits.kind, 'Wait', 'what it said before it tried again does not count')
  const other = planRollout(
    input(
      { a: failed, b: {} },
      { rings, admissions, attemptOf: latestRetryFor([{ n: 1, clusters: ['b'] }]) },
      { release },
    ),
  )
  assert.equal(other.kind, 'Fail', 'another cluster was meant')
})
