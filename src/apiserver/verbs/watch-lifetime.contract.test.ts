import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { fromUtf8, generateKeyPair } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createApi } from '../../testing/api-contract/harness.ts'
import { createApiServer } from '../server/api-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const MINUTE = 60_000

/** A server whose minutes pass when the test says so. */
function startServer() {
  const store = createMemoryStore()
  const sleepers = new Set<{ readonly ms: number; readonly wake: () => void }>()
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms < MINUTE) return systemClock.sleep(ms, signal)
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const sleeper = { ms, wake: resolve }
      if (signal?.aborted) reject(signal.reason)
      else sleepers.add(sleeper)
      signal?.addEventListener('abort', () => (sleepers.delete(sleeper), reject(signal.reason)), { once: true })
      return promise
    },
  }
  const server = createApiServer({
    store,
    kinds: BUILTIN_KINDS,
    clock,
    ids: systemIds,
    log: silentLogger,
    tokenKeys: [generateKeyPair('ed25519').privateKey],
  })
  const caller = { user: 'admin', groups: ['system:masters'] }
  return {
    store,
    server,
    api: createApi((request, signal) => server.handle(request, caller, signal), 'default'),
    async watch(query: string, signal: AbortSignal) {
      const path = `${MAPS}?watch=true&${query}`
      const { body } = await server.handle({ method: 'GET', path, headers: {} }, caller, signal)
      const pieces = body[Symbol.asyncIterator]()
      return {
        next: async () => {
          const { done, value } = await pieces.next()
          if (done) return 'the end'
          const [event] = fromUtf8(value).split('\n')
          const { type, object } = JSON.parse(event!) as {
            type: string
            object: { metadata: { name?: string; resourceVersion: string } }
          }
          return `${type} ${object.metadata.name ?? object.metadata.resourceVersion}`
        },
      }
    },
    /** Wakes who sleeps for this long. */
    async pass(ms: number) {
      await new Promise((resolve) => setImmediate(resolve))
      for (const sleeper of [...sleepers].filter((one) => one.ms === ms)) {
        sleepers.delete(sleeper)
        sleeper.wake()
      }
    },
    sleeping: (ms: number) => [...sleepers].filter((one) => one.ms === ms).length,
    async close() {
      await server.close()
      await store.close()
    },
  }
}

const mapNamed = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

describe('the life of a watch', { timeout: 300_000 }, () => {
  it('says how far it has seen every minute, and misses nothing in between', async (t) => {
    const home = startServer()
    t.after(home.close)
    await home.api.ok('POST', MAPS, mapNamed('a'))
    const from = home.store.revision()
    const watch = await home.watch(`allowWatchBookmarks=true&resourceVersion=${from}`, new AbortController().signal)
    const first = watch.next()
    await home.pass(MINUTE)
    assert.equal(await first, `BOOKMARK ${home.store.revision()}`)
    const second = watch.next()
    await home.api.ok('POST', MAPS, mapNamed('b'))
    assert.equal(await second, 'ADDED b')
    // No read for two minutes while objects change: one bookmark, which promises no more than was sent.
    const seen = home.store.revision()
    await home.pass(MINUTE)
    await home.pass(MINUTE)
    await home.api.ok('POST', MAPS, mapNamed('c'))
    assert.equal(await watch.next(), `BOOKMARK ${seen}`)
    assert.equal(await watch.next(), 'ADDED c')
  })

  it('ends after its time', async (t) => {
    const home = startServer()
    t.after(home.close)
    const watch = await home.watch(`timeoutSeconds=77&resourceVersion=1`, new AbortController().signal)
    await home.api.ok('POST', MAPS, mapNamed('a'))
    assert.equal(await watch.next(), 'ADDED a')
    const last = watch.next()
    await home.pass(77_000)
    assert.equal(await last, 'the end')
  })

  for (const who of ['its client', 'the server'] as const) {
    it(`ends with ${who}, and leaves nothing behind`, async (t) => {
      const home = startServer()
      t.after(home.close)
      await home.api.ok('POST', MAPS, mapNamed('a'))
      const client = new AbortController()
      const watches = await Promise.all(
        Array.from({ length: 50 }, () => home.watch('timeoutSeconds=77&allowWatchBookmarks=true', client.signal)),
      )
      for (const watch of watches) assert.equal(await watch.next(), 'ADDED a')
      const waiting = watches.map((watch) => watch.next())
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual([home.sleeping(77_000), home.sleeping(MINUTE)], [50, 50])
      if (who === 'the server') await home.server.close()
      else client.abort()
      assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['the end']))
      assert.equal(home.sleeping(77_000), 0)
      assert.equal(getEventListeners(client.signal, 'abort').length, 0)
    })
  }
})
