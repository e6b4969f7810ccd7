/** Windows on the hub: whose documents an edit touches, who is admitted when, and what holds a cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { formatTime } from '../../core/time/time.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Window } from '../../kinds/native/window.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

const HOUR = 3_600_000

async function fleet(
  t: TestContext,
  clusters: Readonly<Record<string, Partial<Cluster['spec']>>>,
  before: (hub: ControllersHome) => Promise<unknown> = async () => {},
): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const [name, spec] of Object.entries(clusters)) {
    const labels = { tier: 'store', region: name.slice(0, 2) }
    await hub.create(buildCluster(name, { labels, spec }), Cluster)
    await hub.report(name, 'Ready')
  }
  await before(hub)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle('default/hello', { rollout: { concurrency: 50 } }), Bundle)
  await hub.clock.advance(4000)
  return hub
}

const held = async (hub: ControllersHome) => {
  const { status } = (await hub.find(Rollout, 'default/hello-g1'))!
  return {
    slots: (status?.admissions ?? []).map(({ cluster }) => cluster).join(' '),
    said: status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    phase: status?.phase,
  }
}

const freeze = (hub: ControllersHome, spec: Partial<ClusterWindow['spec']>) => ({
  spec: {
    mode: 'Freeze' as const,
    times: [{ from: formatTime(hub.clock.now() - HOUR), until: formatTime(hub.clock.now() + 9 * HOUR) }],
    reason: 'stocktaking',
    ...spec,
  },
})

test('an edit of a window signs the documents of the clusters it concerns and no others, and changes no content', async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `${i < 3 ? 'eu' : 'us'}-${i}`)
  const hub = await fleet(t, Object.fromEntries(names.map((name) => [name, {}])))
  const before = await hub.documentOf('eu-0')
  const touched = async (act: () => Promise<unknown>) => {
    const from = hub.writes.length
    await act()
    await hub.clock.advance(3000)
    const paths = hub.writes.slice(from).filter((write) => write.includes('/assignments/'))
    return paths.map((path) => path.replace(/.*\//, '')).sort()
  }
  const europe = { clusterSelector: { matchLabels: { region: 'eu' } } }
  const make = () => hub.create(build(ClusterWindow, 'europe', freeze(hub, europe)), ClusterWindow)
  assert.deepEqual(await touched(make), ['eu-0', 'eu-1', 'eu-2'])
  const after = await hub.documentOf('eu-0')
  assert.deepEqual(after.content, before.content)
  assert.deepEqual(
    after.rules.windows?.map(({ name, kind, reason }) => [name, kind, reason]),
    [['europe', 'Freeze', 'stocktaking']],
  )
  const other = () => hub.create(build(Window, 'default/other', freeze(hub, { bundles: ['nothing-here'] })), Window)
  assert.deepEqual(await touched(other), [], 'a window for bundles that no cluster has concerns no cluster')
  const one = () => hub.create(build(Window, 'default/one', freeze(hub, { clusters: ['us-7'] })), Window)
  assert.deepEqual(await touched(one), ['us-7'])
  const lift = () => hub.client.delete(ClusterWindow, { name: 'europe' })
  assert.deepEqual(await touched(lift), ['eu-0', 'eu-1', 'eu-2'])
  assert.deepEqual(await touched(async () => await hub.restart()), [], 'a restart signs nothing')
})

test('clusters are admitted when their windows open, each in its own time; the ring waits for them', async (t) => {
  // The virtual clock begins at midnight UTC: one in Berlin, half past five in Kolkata.
  const times = [{ schedule: '0 6 * * *', duration: '2h' }]
  const nights = build(ClusterWindow, 'mornings', { spec: { mode: 'Open', times, reason: 'few customers' } })
  const zones = { 'in-1': { timeZone: 'Asia/Kolkata' }, 'de-1': { timeZone: 'Europe/Berlin' }, 'uk-1': {} }
  const hub = await fleet(t, zones, (made) => made.create(nights, ClusterWindow))
  const now = await held(hub)
  assert.deepEqual([now.slots, now.phase], ['', 'Pending'])
  assert.match(
    now.said,
    /0 of 3 ready; de-1, in-1, uk-1 wait for their windows\. Window "mornings" is closed and opens at/,
  )
  const at = async (hours: number) => {
    await hub.clock.advance(hours * HOUR - hub.clock.now() + Date.parse('2026-01-01T00:00:00Z') + 5000)
    return (await held(hub)).slots
  }
  assert.equal(await at(0.5), 'in-1')
  assert.equal(await at(5), 'in-1 de-1')
  for (const name of ['in-1', 'de-1']) await hub.report(name, 'Ready')
  await hub.clock.advance(3000)
  assert.match((await held(hub)).said, /2 of 3 ready; uk-1 waits for its window/)
  assert.equal(await at(6), 'uk-1')
})

test('a held cluster is left out, a cordoned one is also not selected anew; both follow when they may', async (t) => {
  const since = '2026-01-01T00:00:00Z'
  const hub = await fleet(t, {
    'st-1': { hold: { reason: 'fire', since } },
    'st-2': { cordon: { reason: 'refit', since } },
    'st-3': {},
  })
  const selected = async () => {
    const pages = await hub.client.list(PlacementDecision, { namespace: 'default' })
    return pages.items.flatMap(({ spec }) => spec.decisions.map(({ cluster }) => cluster)).join(' ')
  }
  assert.equal(await selected(), 'st-1 st-3')
  assert.equal((await held(hub)).slots, 'st-3')
  await hub.report('st-3', 'Ready')
  await hub.clock.advance(3000)
  assert.match((await held(hub)).said, /1 of 2 ready; st-1 is frozen or on hold and is admitted afterwards/)
  for (const name of ['st-1', 'st-2']) {
    const { spec, ...cluster } = await hub.client.get(Cluster, { name })
    const { hold: _hold, cordon: _cordon, ...rest } = spec
    await hub.client.update(Cluster, { ...cluster, spec: rest })
  }
  await hub.clock.advance(4000)
  assert.equal((await held(hub)).slots, 'st-1 st-2')
})
