import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { createLivenessCache } from './liveness-cache.ts'
import type { PlacedBundle } from './placed-bundles.ts'
import type { ClusterAvailabilityPorts } from './ports.ts'
import { clusterAvailabilityReconciler } from './reconcile.ts'

const revision = { bundle: 'ns/b', generation: 1, set: digestOf('x') }
const assignment = build(Assignment, 'a', {
  spec: {
    clusterId: 'c-a',
    epoch: 1,
    revision: 1,
    document: digestOf('d'),
    entries: [{ ...revision, rollout: 'ns/r' }],
  },
})
const report = (state: BundleStateName) =>
  build(ClusterReport, 'a', {
    spec: {
      clusterId: 'c-a',
      epoch: 1,
      revision: 1,
      receivedAt: '2026-01-01T00:00:00Z',
      bundles: [{ ...revision, state }],
    },
  })

function fixture(overrides: Partial<ClusterAvailabilityPorts> = {}) {
  const clock = createVirtualClock()
  const book = createLivenessCache(clock)
  const world: { assignment?: Assignment; report?: ClusterReport; placed?: readonly PlacedBundle[] } = {}
  const reconciler = clusterAvailabilityReconciler({
    viewsOf: book.viewsOf,
    assignmentOf: () => world.assignment,
    reportOf: () => world.report,
    placedOn: () => world.placed ?? [],
    havingAlias: () => [],
    settleMs: 1000,
    ...overrides,
  })
  return { clock, book, world, reconciler }
}

test('from pending to available to offline, and nothing written in between', async () => {
  const { clock, book, reconciler } = fixture()
  const pending = await reconcileOnce(reconciler, buildCluster('a', { spec: { accepted: false } }), clock)
  assert.equal(pending.condition('Accepted'), 'False NotAccepted: Waits for a person: flotilla cluster accept a')
  assert.equal(pending.draft.next.status?.state, 'Pending')

  const accepted = buildCluster('a', { status: pending.draft.next.status })
  book.note('g', { up: 500, seen: { 'c-a': 4 } })
  const available = await reconcileOnce(reconciler, accepted, clock)
  assert.match(available.condition('Available'), /^True Seen.* lastSeen is updated only with other changes/, 'D45')
  assert.equal(available.draft.next.status?.lastSeen, '2025-12-31T23:59:56Z')

  for (let age = 10; age < 120; age += 10) {
    book.note('g', { up: 500 + age, seen: { 'c-a': age } })
    assert.equal((await reconcileOnce(reconciler, available.draft.next, clock)).commit, 'Nothing')
  }
  book.note('g', { up: 900, seen: { 'c-a': 120 } })
  const gone = await reconcileOnce(reconciler, available.draft.next, clock)
  assert.match(gone.condition('Available'), /^False Silent/)
  assert.deepEqual([gone.commit, gone.draft.next.status?.state], ['Status', 'Offline'])
  assert.equal(gone.draft.next.status?.lastSeen, '2025-12-31T23:58:00Z')
  assert.equal(gone.draft.next.status?.since, '2025-12-31T23:58:00Z', 'offline since it was last heard')
})

test('since is the time of the state, and badges are those a person set', async () => {
  const { clock, book, reconciler } = fixture()
  book.note('g', { up: 500, seen: { 'c-a': 4 } })
  const first = await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual(
    [first.draft.next.status?.since, first.draft.next.status?.badges],
    ['2026-01-01T00:00:00Z', undefined],
  )
  await clock.advance(60_000)
  const hold = { reason: 'audit', since: '2026-01-01T00:01:00Z' }
  const spec = { ...first.draft.next.spec, hold }
  const held = await reconcileOnce(reconciler, { ...first.draft.next, spec }, clock)
  const { since, badges } = held.draft.next.status!
  assert.deepEqual([held.commit, since, badges], ['Status', '2026-01-01T00:00:00Z', 'Held'])
  const released = await reconcileOnce(reconciler, { ...held.draft.next, spec: first.draft.next.spec }, clock)
  assert.deepEqual([released.commit, released.draft.next.status?.badges], ['Status', undefined])
})

test('an offline cluster is tainted for newcomers, once, and untainted when it is back', async () => {
  const { clock, book, reconciler } = fixture()
  book.note('g', { up: 900, seen: { 'c-a': 200 } })
  const own = { key: 'old', effect: 'NoSelect' } as const
  const gone = await reconcileOnce(reconciler, buildCluster('a', { spec: { taints: [own] } }), clock)
  assert.deepEqual(gone.draft.next.spec.taints, [own], 'the status first')
  const tainted = await reconcileOnce(reconciler, gone.draft.next, clock)
  assert.equal(tainted.commit, 'Object')
  const taint = { key: 'flotilla.dev/unreachable', effect: 'NoSelectIfNew', timeAdded: '2026-01-01T00:00:00Z' }
  assert.deepEqual(tainted.draft.next.spec.taints, [own, taint])
  assert.equal((await reconcileOnce(reconciler, tainted.draft.next, clock)).commit, 'Nothing')
  book.note('g', { up: 910, seen: { 'c-a': 1 } })
  const back = await reconcileOnce(reconciler, tainted.draft.next, clock)
  assert.match(back.condition('Available'), /^True/)
  const clean = await reconcileOnce(reconciler, back.draft.next, clock)
  assert.deepEqual(clean.draft.next.spec.taints, [own])
})

test('bundle counts settle: a move that is over within a second is one write, or none', async () => {
  const { clock, book, world, reconciler } = fixture()
  book.note('g', { up: 500, seen: { 'c-a': 1 } })
  world.assignment = assignment
  world.report = report('Ready')
  const first = await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual(first.draft.next.status?.bundles, { total: 1, ready: 1 })

  world.report = report('Progressing')
  const moving = await reconcileOnce(reconciler, first.draft.next, clock)
  assert.deepEqual([moving.commit, moving.result], ['Nothing', { requeueAfterMs: 1000 }])
  world.report = report('Ready')
  await clock.advance(500)
  assert.equal((await reconcileOnce(reconciler, first.draft.next, clock)).commit, 'Nothing')

  world.report = report('Failed')
  await reconcileOnce(reconciler, first.draft.next, clock)
  await clock.advance(1000)
  const settled = await reconcileOnce(reconciler, first.draft.next, clock)
  assert.deepEqual([settled.commit, settled.draft.next.status?.state], ['Status', 'Failed'])
})

test('a cluster that reported is available before any summary names it', async () => {
  const { clock, world, reconciler } = fixture()
  world.report = report('Ready')
  const pass = await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.match(pass.condition('Available'), /^True Seen/)
})

test('the book keeps silent gateways, growing old, and forgets them after a day', async () => {
  const clock = createVirtualClock()
  const book = createLivenessCache(clock)
  book.note('g1', { up: 10, seen: { x: 2 } })
  await clock.advance(5000)
  book.note('g2', { up: 20, seen: {} })
  assert.deepEqual(book.viewsOf('x'), [
    { continuityMs: 10_000, sinceObservedMs: 5000, ageMs: 2000 },
    { continuityMs: 20_000, sinceObservedMs: 0 },
  ])
  await clock.advance(25 * 3600 * 1000)
  book.note('g2', { up: 20, seen: {} })
  assert.equal(book.viewsOf('x').length, 1)
})

test('a cluster that no bundle reaches is NotSelected, never Ready', async () => {
  const { clock, world, reconciler } = fixture()
  world.report = build(ClusterReport, 'a', {
    spec: { clusterId: 'c-a', epoch: 0, revision: 0, receivedAt: '2026-01-01T00:00:00Z', bundles: [] },
  })
  const shown = async (cluster = buildCluster('a')) => {
    const { status } = (await reconcileOnce(reconciler, cluster, clock)).draft.next
    return [status?.state, status?.waitsFor, status?.message]
  }
  assert.deepEqual(await shown(), [
    'NotSelected',
    undefined,
    'No bundle reaches the cluster: no Placement that a Bundle uses selects it.',
  ])
  world.placed = [{ bundle: 'ns/b' }]
  assert.deepEqual(await shown(), [
    'Pending',
    'rollout',
    '1 bundle is placed on the cluster; no Rollout has admitted it yet.',
  ])
  world.placed = [{ bundle: 'ns/b', problem: 'no till' }]
  assert.deepEqual(await shown(), [
    'Failed',
    undefined,
    'Of 1 bundle: 1 Failed. Not rendered for this cluster: no till',
  ])
})

test('a cluster that was turned away has a badge and no state', async () => {
  const { clock, world, reconciler } = fixture()
  world.report = report('Ready')
  world.assignment = assignment
  const refused = { verdict: 'Revoked' as const, at: '2026-01-02T00:00:00Z', reason: 'stolen' }
  const before = {
    state: 'Pending' as const,
    waitsFor: 'acceptance' as const,
    message: 'x',
    since: '2026-01-01T00:00:00Z',
  }
  const { status } = (await reconcileOnce(reconciler, buildCluster('a', { spec: { refused }, status: before }), clock))
    .draft.next
  assert.deepEqual([status?.state, status?.waitsFor, status?.badges], [undefined, undefined, 'Revoked'])
  assert.match(status?.message ?? '', /^Revoked at 2026-01-02T00:00:00Z: stolen\. To let it in again: /)
})
