import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { build, buildBundle, buildCluster } from '../../testing/fixtures/builders.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { composeApi } from '../compose/compose-api.ts'
import { inProcessTransport } from '../compose/in-process-transport.ts'
import { createFleetView } from './fleet-view.ts'
import { HUB_USERS } from '../ports.ts'

test('the view follows the fleet: troubled clusters first, counts per state, ages that grow', async (t) => {
  const clock = createVirtualClock()
  const ids = createSeededIds('view')
  const api = composeApi({ store: createMemoryStore(), clock, ids, log: silentLogger })
  const client = createClient({ transport: inProcessTransport(api.handle, HUB_USERS.admin), clock })
  const view = createFleetView({ client, clock, ids, log: silentLogger })
  const stop = new AbortController()
  const running = view.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await clock.settle()
    await running
    await api.close()
  })
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  let changes = 0
  const unsubscribe = view.onChange(() => changes++)
  const setState = async (name: string, status: NonNullable<Cluster['status']>) => {
    const cluster = await client.get(Cluster, { name })
    await client.update(Cluster, { ...cluster, status }, { subresource: 'status' })
    await clock.settle()
  }
  const shown = () => view.snapshot().clusters.map(({ name, state, seen }) => `${name} ${state} ${seen}`)

  await clock.settle()
  assert.deepEqual(view.snapshot(), { total: 0, counts: {}, apart: {}, clusters: [], bundles: [], rollouts: [] })
  for (const name of ['a', 'b', 'c']) await client.create(Cluster, buildCluster(name))
  await client.create(Bundle, buildBundle('default/web', { placement: 'all' }))
  await clock.settle()
  assert.deepEqual(shown(), ['a Pending never', 'b Pending never', 'c Pending never'])
  assert.deepEqual(
    view.snapshot().bundles.map(({ name, placement, state }) => [name, placement, state]),
    [['default/web', 'all', 'Pending']],
  )
  const bundleState = async (
    ...conditions: readonly (readonly [type: string, status: 'True' | 'False', reason: string])[]
  ) => {
    const bundle = await client.get(Bundle, { name: 'web', namespace: 'default' })
    const all = conditions.map(([type, status, reason]) => ({ type, status, reason, message: '', lastTransitionTime }))
    await client.update(Bundle, { ...bundle, status: { conditions: all } }, { subresource: 'status' })
    await clock.settle()
    return view.snapshot().bundles[0]?.state
  }
  assert.equal(await bundleState(['Ready', 'True', 'RolledOut']), 'Ready')
  // What is on its way has not failed.
  assert.equal(
    await bundleState(['Ready', 'False', 'RollingOut'], ['Reconciling', 'True', 'RollingOut']),
    'Progressing',
  )
  // Nothing runs anywhere: that is not green.
  assert.equal(await bundleState(['Ready', 'True', 'RolledOut'], ['Unplaced', 'True', 'PlacementEmpty']), 'NotSelected')
  assert.equal(await bundleState(['Ready', 'False', 'RolloutPaused']), 'Paused')
  assert.equal(await bundleState(['Ready', 'False', 'RolloutAborted']), 'Aborted')
  assert.equal(await bundleState(['Ready', 'False', 'HeldBack'], ['Reverted', 'True', 'MarkedBad']), 'Held back')
  assert.equal(await bundleState(['Ready', 'False', 'RolloutFailed'], ['Stalled', 'True', 'RolloutFailed']), 'Failed')

  const available = { type: 'Available', status: 'True' as const, reason: 'Seen', message: '', lastTransitionTime }
  await setState('a', { state: 'Ready', lastSeen: lastTransitionTime, conditions: [available] })
  await setState('c', {
    state: 'Failed',
    lastSeen: lastTransitionTime,
    conditions: [{ ...available, status: 'False' }],
  })
  await clock.advance(90_000)
  assert.deepEqual(shown(), ['c Failed 90s ago', 'b Pending never', 'a Ready now'])
  assert.deepEqual(view.snapshot().counts, { Failed: 1, Pending: 1, Ready: 1 })

  const reported = {
    bundle: 'default/web',
    generation: 1,
    set: `sha256:${'0'.repeat(64)}` as const,
    state: 'Ready' as const,
  }
  for (const name of ['a', 'c']) {
    const spec = { clusterId: `c-${name}`, epoch: 1, revision: 1, receivedAt: lastTransitionTime, bundles: [reported] }
    await client.create(ClusterReport, build(ClusterReport, name, { spec }))
  }
  await clock.settle()
  const bundles = () =>
    view.snapshot().clusters.flatMap(({ name, bundles: all }) => all.map(({ state }) => `${name} ${state}`))
  assert.deepEqual(bundles(), ['c Offline', 'a Ready'], 'a bundle of a silent cluster is Offline')

  const turnedAway = await client.get(Cluster, { name: 'b' })
  const refused = { verdict: 'Rejected' as const, at: lastTransitionTime }
  await client.update(Cluster, { ...turnedAway, spec: { ...turnedAway.spec, refused } })
  await clock.settle()
  const { total, counts, apart, clusters } = view.snapshot()
  assert.deepEqual([total, counts, apart], [2, { Ready: 1, Failed: 1 }, { Rejected: 1 }])
  assert.deepEqual(clusters.map(({ name, state, isApart }) => [name, state, isApart]).at(-1), ['b', 'Rejected', true])

  assert.ok(changes >= 6, `${changes} changes heard`)
  unsubscribe()
  const heard = changes
  await client.delete(Cluster, { name: 'b' })
  await clock.settle()
  assert.equal(changes, heard)
  assert.equal(view.snapshot().total, 2)
})
