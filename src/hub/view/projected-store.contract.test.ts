/** Projected kinds on both homes, and what only the embedded home has: computed and stored objects of one kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { createReadServer } from '../../apiserver/server/read-server.ts'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { storeKey } from '../../apiserver/storage/stored-object.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import type { Loose } from '../../testing/api-contract/harness.ts'
import { ProjectionWatch, ProjectionWorld, projectionsContract, WORKS } from '../../testing/projections-contract.ts'
import type { ProjectionHome } from '../../testing/projections-contract.ts'
import { HUB_KINDS } from '../compose/compose-api.ts'
import { CrdResource } from '../home/kube-home.ts'
import { createDelegatedAuthorizer } from './delegated-authorizer.ts'
import { aggregatedProjection, projectedView } from './hub-views.ts'
import { openMirrorStore } from './mirror-store.ts'

const ADMIN = { user: 'admin', groups: ['system:masters'] }

function counted(store: Store): { readonly store: Store; reads(): number } {
  let reads = 0
  const get: Store['get'] = (key, at) => {
    reads += 1
    return store.get(key, at)
  }
  return { store: { ...store, get }, reads: () => reads }
}

async function openEmbedded(isStoredToo = true): Promise<ProjectionHome> {
  const clock = createVirtualClock()
  const ids = createSeededIds('projected')
  const { store, reads } = counted(createMemoryStore())
  const kind = isStoredToo ? WORKS.kind : { ...WORKS.kind, verbs: ['get', 'list', 'watch'] }
  const views = [projectedView({ ...WORKS, kind, isStoredToo }, clock)]
  const api = createApiServer({ store, clock, ids, kinds: HUB_KINDS, views, log: silentLogger })
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, ADMIN, signal) })
  if (isStoredToo) {
    const installing = client.create(CrdResource, toCrd(WORKS.kind))
    await clock.settle()
    await installing
  }
  return {
    clock,
    api: api.handle,
    rows: api.handle,
    path: '/apis/example.dev/v1',
    storesWorks: isStoredToo,
    store,
    reads,
    close: async () => {
      await api.close()
      await store.close()
    },
  }
}

async function openAggregated(): Promise<ProjectionHome> {
  const clock = createVirtualClock()
  const ids = createSeededIds('projected')
  const log = silentLogger
  const { store, reads } = counted(createMemoryStore())
  const api = createApiServer({ store, clock, ids, kinds: HUB_KINDS, log })
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, ADMIN, signal) })
  const closing = new AbortController()
  const server = createReadServer({
    clock,
    ids,
    log,
    views: [aggregatedProjection(WORKS, clock)],
    store: () => openMirrorStore({ clock, ids, log, client }, closing.signal),
    authorizer: createDelegatedAuthorizer({ client, clock }),
  })
  return {
    clock,
    api: api.handle,
    rows: server.handle,
    path: '/apis/view.flotilla.dev/v1alpha1',
    storesWorks: false,
    reads,
    close: async () => {
      server.close()
      closing.abort()
      await clock.settle()
      await api.close()
      await store.close()
    },
  }
}

projectionsContract('the embedded home', () => openEmbedded())
projectionsContract('the embedded home, never stored', () => openEmbedded(false))
projectionsContract('beside a kube-apiserver', openAggregated)

/** An embedded home with one bundle on some clusters, which are only placed on and never reported. */
async function openWith(clusters: number): Promise<{ readonly world: ProjectionWorld; readonly home: ProjectionHome }> {
  const home = await openEmbedded()
  const world = new ProjectionWorld(home)
  await world.begin(Array.from({ length: clusters }, (_, n) => `c-${String(n).padStart(4, '0')}`))
  return { world, home }
}

test('a stored object stands beside computed ones, with versions that a write can name', async () => {
  const { world, home } = await openWith(2)
  await world.bundle('web')
  const taken = await world.store('POST', 'c-0000', 'shop.web')
  assert.equal(taken.status, 409, 'a computed object has this name')
  assert.equal((await world.store('POST', 'c-0000', 'own', { n: 1 })).status, 201)
  const { items, metadata } = await world.list('', 'c-0000')
  assert.deepEqual(
    items.map((work: Loose) => work.metadata.name),
    ['own', 'shop.web'],
  )
  // A change of a computed object is not told yet when the stored object changes.
  const watching = new ProjectionWatch(world)
  await watching.connect(Infinity)
  await world.report('c-0001', { web: 'Failed' })
  assert.equal((await world.store('PATCH', 'c-0000', 'own', { n: 2 })).status, 200)
  await home.clock.settle()
  const seen = watching.copy.get('c-0000/own')!
  const version = watching.version
  assert.equal(Number(version) % 2, 1, 'the version says that computed objects may be behind')
  const write = { ...seen, metadata: { ...seen.metadata, resourceVersion: version }, spec: { n: 3 } }
  const path = `${world.works('c-0000')}/own`
  assert.equal((await world.send('PUT', path, write)).status, 200)
  assert.equal((await world.send('PUT', path, write)).status, 409, 'the object has changed since')
  assert.ok(Number(version) > Number(metadata.resourceVersion))
  await watching.disconnect()
  const refused = await world.send('DELETE', world.works('c-0000'))
  assert.equal(refused.status, 422, 'a collection with computed objects')
  assert.equal((await world.send('DELETE', path)).status, 200)
  await home.close()
})

test('a page costs what it shows: 100 of 100,000 computed objects', async () => {
  const { world, home } = await openWith(100)
  await world.bundle('b-0000')
  // Copies in the store: a thousand requests would take longer than the test.
  const { value } = (await home.store!.get(storeKey(Bundle, { namespace: 'shop', name: 'b-0000' })))!
  for (let n = 1; n < 1_000; n += 1) {
    const name = `b-${String(n).padStart(4, '0')}`
    const text = value.replace('b-0000', name)
    await home.store!.commit({ key: storeKey(Bundle, { namespace: 'shop', name }), expect: 0, value: () => text })
  }
  const before = home.reads()
  const page = await world.list('?limit=100')
  assert.equal(page.items.length, 100)
  assert.ok(page.metadata.continue)
  // Cluster, report, assignment and shadow of each row, and a few objects that all rows share.
  assert.ok(home.reads() - before < 100 * 6, `${home.reads() - before} reads`)
  const named = home.reads()
  await world.list('?fieldSelector=metadata.name%3Dshop.b-0500', 'c-0050')
  assert.ok(home.reads() - named < 20, `${home.reads() - named} reads of one object`)
  await home.close()
})
