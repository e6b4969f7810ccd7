/** When all who have a bundle are looked at: a rollout changes as many documents as there are clusters. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { createClient } from '../../client/create-client.ts'
import { createInformers } from '../../client/informers.ts'
import { silentLogger } from '../../core/log.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { build, buildBundle, buildPlacement } from '../../testing/fixtures/builders.ts'
import { createCaches } from '../caches/caches.ts'
import { createBundleRemove } from './controller.ts'

const SET = `sha256:${'a'.repeat(64)}` as const

test('a bundle on a selected cluster causes no pass over all clusters; a bundle on another cluster does (I-16)', async (t) => {
  const clock = createVirtualClock()
  const basis = { clock, ids: createSeededIds('looks'), log: silentLogger }
  const api = createApiServer({ ...basis, store: createMemoryStore(), kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS] })
  const caller = { user: 'system:flotilla:hub', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const informers = createInformers({ ...basis, client })
  const caches = createCaches(informers)
  const looks = t.mock.method(caches.assignments.lister, 'by')
  const ends = new AbortController()
  const controller = createBundleRemove({ ...basis, client: informers.client, caches })
  const running = [informers.run(ends.signal), controller.run(ends.signal)]
  t.after(async () => {
    ends.abort()
    await clock.settle()
    await Promise.allSettled(running)
    await api.close()
  })
  const bundle = buildBundle('default/hello', {})
  await client.create(Bundle, { ...bundle, metadata: { ...bundle.metadata, finalizers: [REMOVAL_FINALIZER] } })
  await client.create(Placement, buildPlacement('default/everywhere', { tier: 'store' }))
  const names = Array.from({ length: 10 }, (_, at) => `store-${at}`)
  const decisions = names.map((cluster) => ({ cluster, state: 'Selected' as const, reason: 'labels match' }))
  const page = { placement: 'everywhere', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'default/everywhere-0', { spec: page }))
  await clock.advance(5_000)

  const looked = async (clusters: readonly string[]) => {
    const before = looks.mock.callCount()
    const entries = [{ bundle: 'default/hello', generation: 1, set: SET, rollout: 'default/hello-g1' }]
    for (const name of clusters) {
      const spec = { clusterId: `c-${name}`, epoch: 1, revision: 1, document: SET, trustVersion: 1, entries }
      await client.create(Assignment, build(Assignment, name, { spec }))
      await clock.advance(2_000)
    }
    return looks.mock.callCount() - before
  }
  assert.equal(await looked(names), 0)
  assert.equal(await looked(['elsewhere']), 1)
})
