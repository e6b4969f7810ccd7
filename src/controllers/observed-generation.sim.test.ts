/**
 * One controller of a kind records the observed generation: a client that waits for it would otherwise go on too early.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../apiserver/server/api-server.ts'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import { createClient } from '../client/create-client.ts'
import { createInformers } from '../client/informers.ts'
import { silentLogger } from '../core/log.ts'
import { BUILTIN_KINDS } from '../kinds/builtin/builtin-kinds.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { NATIVE_KINDS } from '../kinds/native/native-kinds.ts'
import { Rollout } from '../kinds/native/rollout.ts'
import { Source } from '../kinds/native/source.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { build, buildBundle } from '../testing/fixtures/builders.ts'
import { createBundleRemove } from './bundle-remove/controller.ts'
import { createCaches } from './caches/caches.ts'
import type { ControllerParts } from './caches/controller-parts.ts'
import { createReleaseForget } from './release-forget/controller.ts'
import { createReleaseGather } from './release-gather/controller.ts'
import { createRolloutUndo } from './rollout-undo/controller.ts'
import { createSourceFetch } from './source-fetch/controller.ts'

test('who only looks on notes no generation; who answers for the kind does', async (t) => {
  const clock = createVirtualClock()
  const basis = { clock, ids: createSeededIds('notes'), log: silentLogger }
  const api = createApiServer({ ...basis, store: createMemoryStore(), kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS] })
  const caller = { user: 'system:flotilla:hub', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const informers = createInformers({ ...basis, client })
  const parts = { ...basis, client: informers.client, caches: createCaches(informers), blobs: createMemoryBlobs() }
  const ends = new AbortController()
  const onlookers = [
    createBundleRemove,
    createReleaseForget,
    (from: ControllerParts) => createReleaseGather(from).controller,
    createRolloutUndo,
  ]
  const controllers = onlookers.map((create) => create(parts))
  const running = [informers.run(ends.signal), ...controllers.map((controller) => controller.run(ends.signal))]
  t.after(async () => {
    ends.abort()
    await clock.settle()
    await Promise.allSettled(running)
    await api.close()
  })
  await client.create(Source, build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' } } }))
  await client.create(Bundle, buildBundle('default/hello', {}))
  const rings = [{ name: 'all', concurrency: 1 }]
  await client.create(
    Rollout,
    build(Rollout, 'default/hello-g1', { spec: { release: 'hello-g1', rings, paused: false } }),
  )
  await clock.advance(60_000)
  const noted = async () => {
    const kinds = [Source, Bundle, Rollout] as const
    const lists = await Promise.all(kinds.map((kind) => client.list<Source | Bundle | Rollout>(kind, {})))
    return lists.map(({ items }) => items.map(({ status }) => status?.observedGeneration ?? 'none'))
  }
  assert.deepEqual(await noted(), [['none'], ['none'], ['none']])

  const fetchSource = async () => ({ kind: 'Failed', reason: 'NoNetwork', message: 'None.', retry: true }) as const
  running.push(createSourceFetch({ ...parts, fetchSource }).run(ends.signal))
  await clock.advance(60_000)
  assert.deepEqual((await noted())[0], [1])
})
