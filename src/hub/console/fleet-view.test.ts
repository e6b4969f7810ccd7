import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { buildCluster } from '../../testing/fixtures/builders.ts'
import { composeApi } from '../compose/compose-api.ts'
import { inProcessTransport } from '../compose/in-process-transport.ts'
import { HUB_USERS } from '../ports.ts'
import { decodeFleet } from './fleet-row.ts'
import { createFleetView } from './fleet-view.ts'

test('the view follows the fleet: states, contact, clusters that were turned away', async (t) => {
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
  const heard: string[] = []
  const unsubscribe = view.onChange((plural) => heard.push(plural))
  const at = '2026-01-01T00:00:00Z'
  const setStatus = async (name: string, status: NonNullable<Cluster['status']>) => {
    const cluster = await client.get(Cluster, { name })
    await client.update(Cluster, { ...cluster, status }, { subresource: 'status' })
    await clock.settle()
  }
  const shown = () =>
    decodeFleet(view.feed.snapshot()).map(({ name, state, seen, isHeard }) => `${name} ${state} ${seen} ${isHeard}`)

  await clock.settle()
  for (const name of ['a', 'b', 'c']) await client.create(Cluster, buildCluster(name))
  await clock.settle()
  assert.deepEqual(shown(), ['a Pending 0 false', 'b Pending 0 false', 'c Pending 0 false'])

  const available = { type: 'Available', status: 'True' as const, reason: 'Seen', message: '', lastTransitionTime: at }
  await setStatus('a', { state: 'Ready', lastSeen: at, conditions: [available] })
  await setStatus('c', { state: 'Failed', lastSeen: at, conditions: [{ ...available, status: 'False' }] })
  const before = view.feed.revision()
  const refused = { verdict: 'Rejected' as const, at }
  const turnedAway = await client.get(Cluster, { name: 'b' })
  await client.update(Cluster, { ...turnedAway, spec: { ...turnedAway.spec, refused } })
  await clock.settle()
  const seconds = Date.parse(at) / 1000
  assert.deepEqual(shown(), ['a Ready 0 true', 'b Rejected 0 false', `c Failed ${seconds} false`])
  assert.deepEqual(
    view.feed.since(before)?.rows.map(({ name, isApart, message }) => [name, isApart, message]),
    [['b', true, `Rejected at ${at}. To let it in again: flotilla cluster accept b`]],
  )

  assert.ok(heard.length >= 6 && heard.every((plural) => plural === 'clusters'), heard.join(', '))
  unsubscribe()
  const count = heard.length
  await client.delete(Cluster, { name: 'b' })
  await clock.settle()
  assert.equal(heard.length, count)
  assert.equal(view.facts().clusters.length, 2)
  assert.equal(shown().length, 2)
})
