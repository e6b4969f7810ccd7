import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ApiError } from '../core/errors.ts'
import { silentLogger } from '../core/log.ts'
import type { Logger } from '../core/log.ts'
import type { ResourceType, UnknownObject } from '../kinds/meta.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { createFakeApi } from '../testing/hub/fake-api.ts'
import type { FakeApi } from '../testing/hub/fake-api.ts'
import { createClient } from './create-client.ts'
import { createInformer } from './informer.ts'
import { createInformers } from './informers.ts'

const Thing: ResourceType = { group: 'x.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Cluster' }

function thing(name: string, color = 'red'): UnknownObject {
  return { apiVersion: 'x.dev/v1', kind: 'Thing', metadata: { name }, spec: { color } }
}

const path = (name: string) => `/apis/x.dev/v1/things/${name}`
const colorOf = (object: UnknownObject | undefined) => (object?.['spec'] as { color: string } | undefined)?.color

function following(api: FakeApi = createFakeApi(), log: Logger = silentLogger) {
  const clock = createVirtualClock()
  const ids = createSeededIds(1)
  const client = createClient({ transport: api.transport, clock })
  const informer = createInformer({
    client,
    type: Thing,
    clock,
    ids,
    log,
    pageSize: 2,
    indexes: { color: (object: UnknownObject) => [colorOf(object) ?? ''] },
  })
  const stop = new AbortController()
  const changes: string[] = []
  informer.onChange(({ key, before, after }) => {
    changes.push(`${before ? (after ? 'change' : 'remove') : 'add'} ${key} ${colorOf(after ?? before)}`)
  })
  const ended = informer.run(stop.signal)
  return {
    api,
    clock,
    client,
    informer,
    changes,
    end: () => (stop.abort(), ended),
    watches: () => api.requests.filter((r) => r.includes('watch=true')).length,
  }
}

describe('informer', () => {
  it('lists in pages, then follows', async () => {
    const api = createFakeApi()
    for (const name of ['a', 'b', 'c']) api.put(path(name), thing(name))
    const { informer, clock, changes, end } = following(api)
    assert.equal(informer.synced(), false)
    await clock.settle()
    assert.equal(informer.synced(), true)
    api.put(path('b'), thing('b', 'blue'))
    api.remove(path('c'))
    await clock.settle()
    assert.deepEqual(changes, ['add a red', 'add b red', 'add c red', 'change b blue', 'remove c red'])
    assert.deepEqual(
      informer.lister.by('color', 'red').map((object) => object.metadata.name),
      ['a'],
    )
    assert.deepEqual(
      informer.lister.by('color', 'blue').map((object) => object.metadata.name),
      ['b'],
    )
    assert.equal(api.requests.filter((request) => request.includes('limit=2')).length, 2)
    await end()
    assert.equal(clock.sleepers(), 0)
  })

  it('tells once that it may not list', async () => {
    const api = createFakeApi()
    let isAllowed = false
    const warned: unknown[] = []
    const log: Logger = { ...silentLogger, child: () => log, warn: (fields) => void warned.push(fields) }
    const denied: FakeApi = {
      ...api,
      transport: async (...asked) => {
        if (isAllowed) return await api.transport(...asked)
        throw new ApiError('Forbidden', 'user "hub" cannot list things.x.dev')
      },
    }
    const { informer, clock, end } = following(denied, log)
    await clock.advance(60_000)
    assert.deepEqual(warned, [{ error: 'user "hub" cannot list things.x.dev' }])
    assert.equal(informer.synced(), false)
    isAllowed = true
    await clock.advance(120_000)
    assert.equal(informer.synced(), true)
    await end()
  })

  it('gives frozen objects', async () => {
    const { api, informer, clock, end } = following()
    api.put(path('a'), thing('a'))
    await clock.settle()
    const object = informer.lister.get('a')
    assert.throws(() => Object.assign(object?.metadata ?? {}, { name: 'b' }), TypeError)
    await end()
  })

  it('resumes a broken watch where it was', async () => {
    const { api, informer, clock, changes, end, watches } = following()
    await clock.settle()
    api.breakWatches()
    await clock.settle()
    api.put(path('a'), thing('a'))
    assert.equal(informer.lister.size(), 0)
    await clock.advance(1_000)
    assert.deepEqual(changes, ['add a red'])
    assert.equal(watches(), 2)
    assert.equal(api.requests.filter((request) => !request.includes('watch=true')).length, 1, 'no second list')
    await end()
  })

  it('lists again when the watch is too old, and shows what was removed meanwhile', async () => {
    const { api, clock, changes, end } = following()
    api.put(path('a'), thing('a'))
    api.put(path('b'), thing('b'))
    await clock.settle()
    api.breakWatches()
    api.remove(path('a'))
    api.put(path('b'), thing('b', 'blue'))
    api.compact()
    await clock.advance(2_000)
    assert.deepEqual(changes.slice(2), ['change b blue', 'remove a red'])
    await end()
  })

  it('backs off while the server refuses, and comes back', async () => {
    const { api, clock, informer, end } = following()
    api.intercept(() => new Error('connection refused'))
    api.breakWatches()
    await clock.advance(60_000)
    assert.ok(api.requests.length < 20, `${api.requests.length} requests in a minute`)
    api.intercept(undefined)
    api.put(path('a'), thing('a'))
    await clock.advance(30_000)
    assert.equal(informer.lister.size(), 1)
    await end()
  })

  it('renews a watch that a dead connection keeps silent', async () => {
    const { clock, end, watches } = following()
    await clock.settle()
    assert.equal(watches(), 1)
    await clock.advance(620_000)
    assert.ok(watches() >= 2)
    await end()
  })
})

describe('own writes', () => {
  it('are in the cache before the watch shows them, and the watch does not take them back', async () => {
    const api = createFakeApi()
    api.put(path('a'), thing('a'))
    const clock = createVirtualClock()
    const client = createClient({ transport: api.transport, clock })
    const informers = createInformers({ client, clock, ids: createSeededIds(1), log: silentLogger })
    const informer = informers.of(Thing)
    const seen: (string | undefined)[] = []
    informer.onChange(({ after }) => seen.push(colorOf(after)))
    const stop = new AbortController()
    const running = informers.run(stop.signal)
    await informers.whenSynced(stop.signal)
    const cached = informer.lister.get('a')!
    await informers.client.update(Thing, { ...cached, spec: { color: 'blue' } })
    assert.equal(colorOf(informer.lister.get('a')), 'blue')
    await clock.settle()
    assert.deepEqual(seen, ['red', 'blue'], 'the watch repeats nothing')
    stop.abort()
    await running
  })

  it('that the watch has passed already change nothing', async () => {
    const { api, informer, clock, changes, end } = following()
    await clock.settle()
    const written = api.put(path('a'), thing('a'))
    api.remove(path('a'))
    await clock.settle()
    informer.noteWrite(written)
    assert.equal(informer.lister.size(), 0, 'a deleted object does not come back')
    assert.deepEqual(changes, ['add a red', 'remove a red'])
    await end()
  })

  it('survive a list that is older than they are', async () => {
    const { informer, clock, end } = following()
    const ahead = { ...thing('a', 'blue'), metadata: { name: 'a', resourceVersion: '999' } }
    informer.noteWrite(ahead)
    await clock.settle()
    assert.equal(informer.synced(), true)
    assert.equal(colorOf(informer.lister.get('a')), 'blue')
    await end()
  })
})
