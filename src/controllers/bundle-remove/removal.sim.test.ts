/** How bundles leave clusters: the controllers together, on the real engine and the real embedded API. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

const KEY = { namespace: 'default', name: 'hello' }
const BUNDLE = 'default/hello'

async function running(t: TestContext, names: readonly string[], spec: Partial<Bundle['spec']> = {}) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of names) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const rings = [
    { name: 'canary', count: 1, concurrency: 1 },
    { name: 'rest', concurrency: 5 },
  ]
  await hub.create(build(RolloutPlan, 'default/careful', { spec: { rings, start: 'Automatic' } }), RolloutPlan)
  const placement = buildPlacement('default/everywhere', { tier: 'store' })
  // The guard has tests of its own, in placement-decide/.
  placement.spec.guard = { maxDropped: '100%' }
  await hub.create(placement, Placement)
  await hub.create(buildBundle(BUNDLE, { manifests: configMapManifest('hello', { a: '1' }), ...spec }), Bundle)
  await hub.clock.advance(3000)
  for (let round = 0; round < 3; round++) await reportAll(hub, names)
  assert.deepEqual(
    await held(hub, names),
    names.map((name) => `${name} 1`),
  )
  return hub
}

async function reportAll(hub: ControllersHome, names: readonly string[]): Promise<void> {
  for (const name of names) await hub.report(name, 'Ready')
  await hub.clock.advance(3000)
}

/** What documents have of the bundle: its generation, or that of its tombstone with a cross. */
async function held(hub: ControllersHome, names: readonly string[]): Promise<string[]> {
  const lines: string[] = []
  for (const name of names) {
    const assignment = await hub.find(Assignment, name)
    const entry = assignment?.spec.entries.find(({ bundle }) => bundle === BUNDLE)
    const grave = assignment?.spec.tombstones?.find(({ bundle }) => bundle === BUNDLE)
    lines.push(`${name} ${entry?.generation ?? ''}${grave ? `†${grave.generation}` : ''}`.trim())
  }
  return lines
}

async function relabel(hub: ControllersHome, name: string, labels: Record<string, string>): Promise<void> {
  const cluster = await hub.client.get(Cluster, { name })
  await hub.client.update(Cluster, { ...cluster, metadata: { ...cluster.metadata, labels } })
  await hub.clock.advance(3000)
}

const receipt = (): NonNullable<ClusterReport['spec']['removals']> => [
  { bundle: BUNDLE, generation: 1, state: 'Removed', deleted: 1 },
]

async function removals(hub: ControllersHome): Promise<Rollout[]> {
  const { items } = await hub.client.list(Rollout, { namespace: 'default' })
  return items.filter(({ spec }) => spec.removal)
}

const readyOf = (rollout: Rollout | undefined) =>
  rollout?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '-'

test('a cluster that loses its label loses the bundle: a tombstone, until its receipt is stored', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await relabel(hub, 'b', {})
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b †1'])
  const document = await hub.documentOf('b')
  assert.deepEqual(document.content, {
    entries: [],
    tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete', cause: 'unplaced' }],
  })
  const [removal] = await removals(hub)
  assert.deepEqual(removal?.spec.removal?.clusters, ['b'])
  assert.match(
    removal.spec.removal.reason,
    /^Placement everywhere no longer selects these clusters; b: no longer selected/,
  )
  assert.equal(readyOf(removal), 'Waits for the report of b; 0 of 1 removed.')

  await hub.report('b', 'Ready', undefined, [{ ...receipt()[0]!, state: 'Removing' }])
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['b']), ['b †1'], 'not before the receipt')
  await hub.report('b', 'Ready', undefined, receipt())
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b'])
  assert.equal(readyOf((await removals(hub))[0]), '1 of 1 removed.')
  const [page] = (await hub.client.list(PlacementDecision, { namespace: 'default' })).items
  assert.deepEqual(
    page?.spec.decisions.map(({ cluster, state }) => `${cluster} ${state}`),
    ['a Selected'],
  )

  // And it may come again, to be kept: the removal is over.
  await relabel(hub, 'b', { tier: 'store' })
  assert.deepEqual(await held(hub, ['b']), ['b 1'])
  await hub.restart()
  await hub.clock.advance(10_000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b 1'])
  const before = hub.writes.length
  await hub.clock.advance(60_000)
  assert.equal(hub.writes.length, before, 'and then nothing is written')
})

test('a taint, silence and a deleted Placement remove nothing', async (t) => {
  const hub = await running(t, ['a', 'b', 'c'])
  const a = await hub.client.get(Cluster, { name: 'a' })
  const taints = [{ key: 'broken', effect: 'NoSelect' as const, timeAdded: '2026-01-01T00:00:00Z' }]
  await hub.client.update(Cluster, { ...a, spec: { ...a.spec, taints } })
  await hub.clock.advance(3_600_000)
  await hub.client.delete(Placement, { namespace: 'default', name: 'everywhere' })
  await hub.clock.advance(10_000)
  assert.deepEqual(await held(hub, ['a', 'b', 'c']), ['a 1', 'b 1', 'c 1'])
  assert.deepEqual(await removals(hub), [])
})

test('a deleted Bundle goes through its rings, and its object does not wait for them', async (t) => {
  const names = ['a', 'b', 'c']
  const hub = await running(t, names, { rollout: { plan: 'careful' } })
  await hub.client.delete(Bundle, KEY)
  await hub.clock.advance(3000)
  assert.equal(await hub.find(Bundle, BUNDLE), undefined)
  assert.deepEqual(await held(hub, names), ['a †1', 'b 1', 'c 1'], 'the canary first')
  const [removal] = await removals(hub)
  assert.equal(removal?.spec.removal?.cause, 'bundleDeleted')
  await hub.report('a', 'Ready', undefined, receipt())
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, names), ['a', 'b †1', 'c †1'])
  for (const name of ['b', 'c']) await hub.report(name, 'Ready', undefined, receipt())
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, names), names)
  assert.equal(readyOf((await removals(hub))[0]), '3 of 3 removed.')
})

test('a Bundle that is made again while it is removed is kept where its tombstone is not out yet', async (t) => {
  const names = ['a', 'b', 'c']
  const hub = await running(t, names, { rollout: { plan: 'careful' } })
  await hub.client.delete(Bundle, KEY)
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, names), ['a †1', 'b 1', 'c 1'])
  const manifests = configMapManifest('hello', { a: '2' })
  await hub.create(buildBundle(BUNDLE, { manifests, rollout: { concurrency: 10 } }), Bundle)
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, names), ['a 2', 'b 2', 'c 2'], 'a newer generation takes the place of the tombstone')
  assert.deepEqual((await removals(hub))[0]?.status?.settled, names, 'and the removal is over')
})

test('a deletion that concerns more than the guard allows waits for a person', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const hub = await running(t, names, { delete: { bundleDeleted: 'Orphan' } })
  await hub.client.delete(Bundle, KEY)
  await hub.clock.advance(3000)
  assert.deepEqual(
    await held(hub, names),
    names.map((name) => `${name} 1`),
  )
  const [removal] = await removals(hub)
  assert.equal(removal?.spec.paused, true)
  assert.equal(
    readyOf(removal),
    'The change would drop 7 of 7 clusters; at most 5 can be dropped at once. No cluster is admitted before a person resumes the rollout.',
  )
  await hub.client.update(Rollout, { ...removal, spec: { ...removal.spec, paused: false } })
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['g']), ['g †1'])
  assert.equal((await hub.documentOf('a')).content.tombstones[0]?.policy, 'Orphan')
})

test('a Bundle that moves to another Placement leaves the clusters of the former one', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await relabel(hub, 'a', { tier: 'store', region: 'north' })
  await hub.create(buildPlacement('default/north', { region: 'north' }), Placement)
  const bundle = await hub.client.get(Bundle, KEY)
  assert.deepEqual(bundle.metadata.finalizers, [REMOVAL_FINALIZER])
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, placement: 'north' } })
  await hub.clock.advance(5000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b 1'], 'it is the only one on b, so a person is asked')
  const [removal] = await removals(hub)
  assert.equal(
    readyOf(removal),
    'The change would drop 1 of 2 clusters. No Bundle would be left on b. No cluster is admitted before a person resumes the rollout.',
  )
  await hub.client.update(Rollout, { ...removal!, spec: { ...removal!.spec, paused: false } })
  await hub.clock.advance(5000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b †1'])
})

test('who is selected again before its turn keeps the bundle', async (t) => {
  const names = ['a', 'b', 'c']
  const hub = await running(t, names, { rollout: { concurrency: 1 } })
  const placement = await hub.client.get(Placement, { namespace: 'default', name: 'everywhere' })
  const none = { ...placement.spec, clusterSelector: { matchLabels: { tier: 'none' } } }
  await hub.client.update(Placement, { ...placement, spec: none })
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, names), ['a †1', 'b 1', 'c 1'])
  const now = await hub.client.get(Placement, { namespace: 'default', name: 'everywhere' })
  await hub.client.update(Placement, { ...now, spec: placement.spec })
  await hub.clock.advance(3000)
  await hub.report('a', 'Ready', undefined, receipt())
  await hub.clock.advance(5000)
  assert.deepEqual(await held(hub, names), ['a 1', 'b 1', 'c 1'], 'b and c kept it, a has it again')
  const [over] = await removals(hub)
  assert.deepEqual([over?.status?.settled, over?.status?.kept], [names, ['b', 'c']])
  assert.equal(readyOf(over), '1 of 1 removed, 2 kept because they are selected again.')
  await hub.restart()
  await hub.clock.advance(10_000)
  assert.equal(
    readyOf((await removals(hub))[0]),
    '1 of 1 removed, 2 kept because they are selected again.',
    'and says so after a restart',
  )
})

async function hold(hub: ControllersHome, name: string, on: boolean): Promise<void> {
  const why = on ? { reason: 'works', since: '2026-01-01T00:00:00Z' } : null
  await hub.client.patch(Cluster, { name }, { type: 'merge', body: { spec: { hold: why } } })
  await hub.clock.advance(3000)
}

async function taint(hub: ControllersHome, name: string, effect: 'NoSelect' | 'NoSelectIfNew'): Promise<void> {
  const taints = [{ key: 'broken', effect, timeAdded: '2026-01-01T00:00:00Z' }]
  await hub.client.patch(Cluster, { name }, { type: 'merge', body: { spec: { taints } } })
  await hub.clock.advance(3000)
}

test('who was kept because it was wanted again loses the bundle all the same when it is let go once more', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await hold(hub, 'b', true)
  for (const round of [1, 2]) {
    await relabel(hub, 'b', {})
    assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b 1'], 'it waits')
    await relabel(hub, 'b', { tier: 'store' })
    const settled = (await removals(hub)).map(({ status }) => status?.settled)
    assert.deepEqual(
      settled,
      Array.from({ length: round }, () => ['b']),
    )
  }
  await relabel(hub, 'b', {})
  await hold(hub, 'b', false)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b †1'])
  await hub.report('b', 'Ready', undefined, receipt())
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b'])
})

test('a cluster that is selected again before its turn keeps the bundle, also where a taint keeps new or all clusters out', async (t) => {
  for (const effect of ['NoSelectIfNew', 'NoSelect'] as const) {
    const hub = await running(t, ['a', 'b'])
    await hold(hub, 'b', true)
    await relabel(hub, 'b', {})
    await taint(hub, 'b', effect)
    assert.deepEqual(
      (await removals(hub)).map(({ status }) => status?.settled ?? []),
      [[]],
      'it waits',
    )
    await relabel(hub, 'b', { tier: 'store' })
    await hold(hub, 'b', false)
    await hub.clock.advance(600_000)
    assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b 1'], effect)
    assert.deepEqual(
      (await removals(hub)).map(({ status }) => status?.settled),
      [['b']],
    )
  }
})

test('a Bundle that moves stays on clusters that only a taint keeps from the new Placement', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await taint(hub, 'b', 'NoSelectIfNew')
  await hub.create(buildPlacement('default/stores', { tier: 'store' }), Placement)
  await hub.client.patch(Bundle, KEY, { type: 'merge', body: { spec: { placement: 'stores' } } })
  await hub.clock.advance(600_000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b 1'])
  assert.deepEqual(await removals(hub), [])
})

test('a removal that settles a cluster by decisions of before is followed by another', async (t) => {
  const hub = await running(t, ['a', 'b'])
  await hold(hub, 'b', true)
  await relabel(hub, 'b', {})
  const [removal] = await removals(hub)
  const status = { ...removal!.status, settled: ['b'] }
  await hub.client.update(Rollout, { ...removal!, status }, { subresource: 'status' })
  await hub.clock.advance(3000)
  assert.equal((await removals(hub)).length, 2)
  await hold(hub, 'b', false)
  assert.deepEqual(await held(hub, ['a', 'b']), ['a 1', 'b †1'])
})
