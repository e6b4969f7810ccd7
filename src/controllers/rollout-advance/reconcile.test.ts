import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import type { GatheredRollout } from '../../plan/rollout/rollout-input.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import { createRosterCache } from './roster-cache.ts'
import type { RolloutAdvancePorts } from './ports.ts'
import { createPassPace } from './pass-pace.ts'
import { restOf, rolloutAdvanceReconciler } from './reconcile.ts'

const set = digestOf('x')
const release = build(Release, 'ns/hello-g2', {
  spec: { bundles: [{ name: 'hello', generation: 2, set, placement: 'p' }] },
})
const rollout = (name = 'hello-g2', status?: Rollout['status']) =>
  build(Rollout, `ns/${name}`, {
    spec: { release: name, rings: [{ name: 'all', concurrency: 1 }], paused: false },
    ...(status ? { status } : {}),
  })

const cluster = (state?: BundleStateName): RolloutCluster => ({
  availability: { state: 'Available', reason: 'Seen', message: '' },
  assigned: new Map(),
  reported: new Map<string, { generation: number; set: Digest; state: BundleStateName }>(
    state ? [['ns/hello', { generation: 2, set, state }]] : [],
  ),
})

function fixture(clusters: Record<string, RolloutCluster>, overrides: Partial<GatheredRollout> = {}) {
  const clock = createVirtualClock()
  const rosterCache = createRosterCache()
  const gathered: GatheredRollout = {
    release,
    selectedBy: () => Object.keys(clusters),
    clusterOf: (name) => clusters[name],
    inputsOf: () => undefined,
    holds: { of: () => undefined, until: () => undefined },
    windows: undefined,
    selectionStamp: (placement) => gathered.selectedBy(placement) && 'complete',
    selects: (placement, name) => gathered.selectedBy(placement)!.includes(name),
    isHolder: (bundle, name) => [...gathered.holdersOf(bundle)].includes(name),
    groupsOf: () => [],
    rolloutsOf: () => [],
    hasBundle: () => true,
    holdersOf: () => [],
    approvals: [],
    gateAnswerOf: () => undefined,
    readinessOf: () => undefined,
    removal: undefined,
    ...overrides,
  }
  const pace = createPassPace(clock)
  const ports: RolloutAdvancePorts = {
    gather: () => gathered,
    askGates: () => {},
    statusThrottle: createKeyedThrottle(clock, 1000),
    pace,
    rosterCache,
  }
  const report = (name: string, state?: BundleStateName) => {
    clusters[name] = cluster(state)
    rosterCache.note(name)
  }
  return { clock, reconciler: rolloutAdvanceReconciler(ports), report, pace }
}

test('an admission is recorded in the status, and only there', async () => {
  const { clock, reconciler } = fixture({ a: cluster(), b: cluster() })
  const pass = await reconcileOnce(reconciler, rollout(), clock)
  assert.equal(pass.commit, 'Status')
  assert.deepEqual(pass.draft.next.status?.admissions, [
    { bundle: 'hello', cluster: 'a', ring: 'all', admittedAt: '2026-01-01T00:00:00Z' },
  ])
  assert.equal(pass.condition('Held'), '-')
})

test('every decision has its conditions', async () => {
  const closed = rollout('hello-g1', {
    conditions: [
      {
        type: 'Superseded',
        status: 'True',
        reason: 'NewerRelease',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
  })
  const table: [string, Record<string, RolloutCluster>, Partial<GatheredRollout>, string, string[]][] = [
    ['complete', { a: cluster('Ready') }, {}, 'True RolledOut', []],
    ['admit', { a: cluster() }, {}, 'False Progressing', ['Reconciling']],
    ['wait', { a: cluster() }, { selectedBy: () => undefined }, 'False PlacementPending', ['Held', 'Reconciling']],
    ['fail', { a: cluster('Failed') }, {}, 'False FailuresStopIt', ['Held', 'Stalled']],
    [
      'supersede',
      { a: cluster() },
      { rolloutsOf: () => [{ rollout: rollout('hello-g3'), generation: 3, release }] },
      'False Superseded',
      ['Superseded'],
    ],
    [
      'an older one still open',
      { a: cluster() },
      { rolloutsOf: () => [{ rollout: rollout('hello-g1'), generation: 1, release }] },
      'False PredecessorOpen',
      ['Held', 'Reconciling'],
    ],
    [
      'an older one closed',
      { a: cluster() },
      { rolloutsOf: () => [{ rollout: closed, generation: 1, release }] },
      'False Progressing',
      ['Reconciling'],
    ],
    ['bundle deleted', { a: cluster() }, { hasBundle: () => false }, 'False BundleDeleted', ['Held', 'Reconciling']],
  ]
  for (const [name, clusters, overrides, ready, types] of table) {
    const { clock, reconciler } = fixture(clusters, overrides)
    const pass = await reconcileOnce(reconciler, rollout(), clock)
    assert.ok(pass.condition('Ready').startsWith(`${ready}:`), `${name}: ${pass.condition('Ready')}`)
    const there = ['Held', 'Reconciling', 'Stalled', 'Superseded'].filter((type) => pass.condition(type) !== '-')
    assert.deepEqual(there, types, name)
  }
})

test('counts alone are saved up for a second; an admission never waits', async () => {
  const clusters: Record<string, RolloutCluster> = { a: cluster(), b: cluster() }
  const { clock, reconciler, report } = fixture(clusters)
  const generation = { ...rollout(), metadata: { ...rollout().metadata, generation: 1 } }
  const first = await reconcileOnce(reconciler, generation, clock)
  first.draft.next.status!.observedGeneration = 1
  const second = await reconcileOnce(reconciler, first.draft.next, clock)
  assert.deepEqual([second.commit, second.result], ['Nothing', { requeueAfterMs: 1000, unchanged: true }])
  report('a', 'Ready')
  const third = await reconcileOnce(reconciler, first.draft.next, clock)
  assert.deepEqual(
    third.draft.next.status?.admissions?.map((admission) => admission.cluster),
    ['b'],
  )
  await clock.advance(1000)
  report('a', 'Progressing')
  assert.equal((await reconcileOnce(reconciler, third.draft.next, clock)).commit, 'Status')
})

test('a burst of reports about a large fleet is one look; what a person changes is seen at once', async () => {
  const clusters = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`c${i}`, cluster()]))
  const { clock, reconciler, report, pace } = fixture(clusters)
  const made = { ...rollout(), metadata: { ...rollout().metadata, generation: 1 } }
  const first = await reconcileOnce(reconciler, made, clock)
  first.draft.next.status!.observedGeneration = 1
  report('c0', 'Ready')
  assert.equal(restOf(first.draft.next, pace), 50)
  const edited = { ...first.draft.next, metadata: { ...made.metadata, generation: 2 } }
  assert.equal(restOf(edited, pace), 0)
  const third = await reconcileOnce(reconciler, { ...edited, spec: { ...made.spec, paused: true } }, clock)
  assert.equal(third.draft.next.status?.phase, 'Paused')
  await clock.advance(50)
  assert.equal(restOf(first.draft.next, pace), 0)
  const fourth = await reconcileOnce(reconciler, first.draft.next, clock)
  assert.deepEqual(
    fourth.draft.next.status?.admissions?.map((admission) => admission.cluster),
    ['c1'],
  )
})

test('those who run it without being selected are named', async () => {
  const { clock, reconciler } = fixture({ a: cluster('Ready') }, { holdersOf: () => ['a', 'x', 'y'] })
  const pass = await reconcileOnce(reconciler, rollout(), clock)
  assert.equal(pass.condition('Ready'), 'True RolledOut: 1 of 1 ready. x, y are no longer selected, and kept as it is.')
})
