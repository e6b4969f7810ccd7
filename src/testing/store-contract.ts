import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { compact } from '../core/compact.ts'
import { ApiError } from '../core/errors.ts'
import { findAuditBreak } from '../store/audit-chain.ts'
import type { Store, StoreEvent } from '../store/store.ts'

/** A store under test and how to end it. */
export interface StoreUnderTest {
  readonly store: Store
  cleanup(): Promise<void>
}

/** What every store promises, as tests. */
export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${name}`, { timeout: 30_000 }, () => {
    let store: Store
    let cleanup: () => Promise<void>
    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      cleanup = () => opened.cleanup()
    })
    afterEach(() => cleanup())

    const put = async (key: string, value: string, expect?: number) => {
      const known = expect ?? (await store.get(key))?.modRevision ?? 0
      return store.commit({ key, expect: known, value: () => value })
    }
    const remove = async (key: string) =>
      store.commit({ key, expect: (await store.get(key))?.modRevision ?? 0, value: undefined })
    const keys = async (prefix: string, revision?: number) => {
      const list = await store.list(compact({ prefix, revision }))
      return list.entries.map((entry) => `${entry.key}=${entry.value}`)
    }

    it('starts empty at revision 0', async () => {
      assert.equal(store.revision(), 0)
      assert.equal(await store.get('/a/b'), undefined)
      assert.deepEqual(await store.list({ prefix: '/' }), { entries: [], revision: 0, more: false, remaining: 0 })
    })

    it('gives the value function the revision the write will have', async () => {
      const result = await store.commit({ key: '/a/x', expect: 0, value: (revision) => `at ${revision}` })
      assert.deepEqual(result, { ok: true, revision: 1 })
      assert.deepEqual(await store.get('/a/x'), { key: '/a/x', value: 'at 1', createRevision: 1, modRevision: 1 })
    })

    it('keeps createRevision over updates and starts anew after a delete', async () => {
      await put('/a/x', '1')
      await put('/a/x', '2')
      assert.deepEqual(await store.get('/a/x'), { key: '/a/x', value: '2', createRevision: 1, modRevision: 2 })
      await remove('/a/x')
      assert.equal(await store.get('/a/x'), undefined)
      await put('/a/x', '3')
      assert.deepEqual(await store.get('/a/x'), { key: '/a/x', value: '3', createRevision: 4, modRevision: 4 })
    })

    it('reads a key as of any revision that is kept', async () => {
      await put('/a/x', '1')
      await put('/a/y', '2')
      await put('/a/x', '3')
      await remove('/a/x')
      const at = async (revision: number) => (await store.get('/a/x', revision))?.value
      assert.deepEqual(
        [await at(0), await at(1), await at(2), await at(3), await at(4)],
        [undefined, '1', '1', '3', undefined],
      )
      assert.equal((await store.get('/a/x', 3))?.modRevision, 3)
      await store.compact(2)
      await assert.rejects(at(1), { reason: 'Expired', code: 410 })
      assert.equal(await at(3), '3')
    })

    it('refuses a write whose expectation is wrong and shows what is there', async () => {
      await put('/a/x', '1')
      const stale = await put('/a/x', '2', 0)
      assert.deepEqual(stale, { ok: false, current: { key: '/a/x', value: '1', createRevision: 1, modRevision: 1 } })
      assert.deepEqual(await put('/a/y', '2', 7), { ok: false, current: undefined })
      assert.equal(store.revision(), 1)
    })

    it('lets exactly one of many concurrent writers win', async () => {
      await put('/a/x', 'start')
      const results = await Promise.all(Array.from({ length: 20 }, (_, n) => put('/a/x', `writer ${n}`, 1)))
      assert.equal(results.filter((result) => result.ok).length, 1)
      assert.equal(store.revision(), 2)
    })

    it('gives each concurrent create its own revision, without gaps', async () => {
      const results = await Promise.all(Array.from({ length: 50 }, (_, n) => put(`/a/${n}`, `${n}`, 0)))
      const revisions = results.map((result) => (result.ok ? result.revision : -1)).sort((a, b) => a - b)
      assert.deepEqual(
        revisions,
        Array.from({ length: 50 }, (_, n) => n + 1),
      )
    })

    it('fails only the write whose value function throws', async () => {
      const bad = store.commit({
        key: '/a/bad',
        expect: 0,
        value: () => {
          throw new ApiError('Invalid', 'no')
        },
      })
      const good = put('/a/good', 'yes', 0)
      await assert.rejects(bad, { message: 'no' })
      assert.equal((await good).ok, true)
      assert.equal(await store.get('/a/bad'), undefined)
      assert.equal(store.revision(), 1)
    })

    it('deletes only with the right expectation, and a delete of nothing changes nothing', async () => {
      await put('/a/x', '1')
      assert.equal((await store.commit({ key: '/a/x', expect: 9, value: undefined })).ok, false)
      assert.deepEqual(await store.commit({ key: '/a/none', expect: 0, value: undefined }), { ok: true, revision: 1 })
      assert.deepEqual(await remove('/a/x'), { ok: true, revision: 2 })
    })

    it('lists in key order, below the prefix only', async () => {
      for (const key of ['/a/c', '/a/a', '/ab/x', '/a/b/d', '/b/x', '/a/b']) await put(key, 'v')
      assert.deepEqual(await keys('/a/'), ['/a/a=v', '/a/b=v', '/a/b/d=v', '/a/c=v'])
      assert.deepEqual(await keys('/ab/'), ['/ab/x=v'])
      assert.equal((await keys('/')).length, 6)
    })

    it('pages with a limit and says how many remain', async () => {
      for (let n = 0; n < 5; n += 1) await put(`/a/${n}`, 'v')
      const first = await store.list({ prefix: '/a/', limit: 2 })
      assert.deepEqual([first.entries.length, first.more, first.remaining], [2, true, 3])
      const uncounted = await store.list({ prefix: '/a/', limit: 2, isCounted: false })
      assert.deepEqual(uncounted, { ...first, remaining: 0 })
      const second = await store.list({ prefix: '/a/', limit: 3, after: '/a/1' })
      assert.deepEqual(
        [second.entries.map((entry) => entry.key), second.more, second.remaining],
        [['/a/2', '/a/3', '/a/4'], false, 0],
      )
    })

    it('pages at an old revision as if nothing had happened since', async () => {
      for (let n = 0; n < 4; n += 1) await put(`/a/${n}`, 'old')
      await remove('/a/2')
      await put('/a/3', 'new')
      await put('/a/9', 'new')
      const page = await store.list({ prefix: '/a/', limit: 1, after: '/a/1', revision: 4 })
      assert.deepEqual(
        page.entries.map((entry) => `${entry.key}=${entry.value}`),
        ['/a/2=old'],
      )
      assert.deepEqual([page.more, page.remaining, page.revision], [true, 1, 4])
      assert.deepEqual(await keys('/a/'), ['/a/0=old', '/a/1=old', '/a/3=new', '/a/9=new'])
    })

    it('watches history, then what comes, in order and without duplicates', async () => {
      await put('/a/x', '1')
      await put('/b/x', 'other')
      await put('/a/x', '2')
      const seen = collect(store, '/a/', 0, 4)
      await put('/a/y', '3')
      await remove('/a/x')
      assert.deepEqual(await seen, [
        { key: '/a/x', revision: 1, value: '1', previous: undefined },
        { key: '/a/x', revision: 3, value: '2', previous: '1' },
        { key: '/a/y', revision: 4, value: '3', previous: undefined },
        { key: '/a/x', revision: 5, value: undefined, previous: '2' },
      ])
    })

    it('shows many watches the same order while many write', async () => {
      const watches = Array.from({ length: 5 }, () => collect(store, '/a/', 0, 100))
      await Promise.all(Array.from({ length: 100 }, (_, n) => put(`/a/${n % 7}/${n}`, `${n}`, 0)))
      const histories = await Promise.all(watches)
      for (const history of histories) {
        assert.deepEqual(
          history.map((event) => event.revision),
          Array.from({ length: 100 }, (_, n) => n + 1),
        )
        assert.deepEqual(history, histories[0])
      }
    })

    it('LIST at r and WATCH from r give any later state', async () => {
      for (let n = 0; n < 10; n += 1) await put(`/a/${n % 4}`, `${n}`)
      await remove('/a/1')
      const list = await store.list({ prefix: '/a/' })
      const rest = collect(store, '/a/', list.revision, 3)
      await put('/a/1', 'again')
      await remove('/a/0')
      await put('/a/2', 'end')
      const state = new Map(list.entries.map((entry) => [entry.key, entry.value]))
      for (const event of await rest) {
        if (event.value === undefined) state.delete(event.key)
        else state.set(event.key, event.value)
      }
      const now = await store.list({ prefix: '/a/' })
      assert.deepEqual(state, new Map(now.entries.map((entry) => [entry.key, entry.value])))
    })

    it('ends a watch quietly when its signal is aborted, waiting or not', async () => {
      const abort = new AbortController()
      const all: StoreEvent[] = []
      const done = (async () => {
        for await (const event of store.watch('/a/', 0, abort.signal)) all.push(event)
      })()
      await put('/a/x', '1')
      await new Promise((resolve) => setImmediate(resolve))
      abort.abort()
      await done
      assert.equal(all.length, 1)
      for await (const event of store.watch('/a/', 0, abort.signal)) assert.fail(`unexpected ${event.key}`)
    })

    it('hands out what came together without a wait in between', async () => {
      for (const value of ['1', '2', '3']) await put('/a/x', value)
      const abort = new AbortController()
      const watch = store.watch('/a/', 0, abort.signal)
      assert.equal(watch.atHand(), undefined, 'no call to next yet')
      const events = watch[Symbol.asyncIterator]()
      assert.equal((await events.next()).value.revision, 1)
      assert.deepEqual([watch.atHand()?.value, watch.atHand()?.value, watch.atHand()], ['2', '3', undefined])
      // Taken, but perhaps not acted on before the next one is asked for.
      assert.equal(watch.progress(), 0)
      const [fourth, fifth] = [events.next(), events.next()]
      assert.equal(watch.progress(), 3)
      await put('/a/x', '4')
      await put('/a/x', '5')
      assert.deepEqual([(await fourth).value.revision, (await fifth).value.revision], [4, 5])
      abort.abort()
      await put('/a/x', '6')
      assert.equal(watch.atHand(), undefined)
    })

    it('ends a watch for good when its reader goes, waiting or not', async () => {
      const events = store.watch('/a/', 0, new AbortController().signal)[Symbol.asyncIterator]()
      const waiting = events.next()
      await events.return?.()
      assert.equal((await waiting).done, true)
      await put('/a/x', '1')
      assert.equal((await events.next()).done, true)
    })

    it('forgets history on compaction, says so, and keeps what is there', async () => {
      await put('/a/x', '1')
      await put('/a/x', '2')
      await put('/a/y', '3')
      await remove('/a/y')
      await put('/a/x', '5')
      await store.compact(4)
      assert.deepEqual(await keys('/a/'), ['/a/x=5'])
      await assert.rejects(keys('/a/', 3), { reason: 'Expired', code: 410 })
      await assert.rejects(collect(store, '/a/', 3, 1), { reason: 'Expired', code: 410 })
      assert.deepEqual(await keys('/a/', 4), ['/a/x=2'])
      assert.deepEqual(await collect(store, '/a/', 4, 1), [{ key: '/a/x', revision: 5, value: '5', previous: '2' }])
      await store.compact(2)
      await put('/a/x', '6')
      await store.compact(6)
      assert.deepEqual(await store.get('/a/x'), { key: '/a/x', value: '6', createRevision: 1, modRevision: 6 })
      assert.equal(store.revision(), 6)
    })

    it('lets a quiet watch survive compaction, and says how far it has seen', async () => {
      const abort = new AbortController()
      const watch = store.watch('/quiet/', 0, abort.signal)
      const events = watch[Symbol.asyncIterator]()
      const first = events.next()
      await put('/loud/x', '1')
      await put('/loud/x', '2')
      assert.equal(watch.progress(), 2)
      await put('/loud/x', '3')
      await store.compact(3)
      await put('/quiet/x', 'at last')
      assert.equal((await first).value.revision, 4)
      // The event was handed out, but the reader may not have acted on it yet.
      assert.equal(watch.progress(), 3)
      const second = events.next()
      await new Promise((resolve) => setImmediate(resolve))
      assert.equal(watch.progress(), 4)
      abort.abort()
      assert.equal((await second).done, true)
    })

    it('gives a watch that fell behind a compaction an explicit end', async () => {
      await put('/a/x', '1')
      const events = store.watch('/a/', 0, new AbortController().signal)[Symbol.asyncIterator]()
      assert.equal((await events.next()).value.revision, 1)
      await put('/a/x', '2')
      await put('/a/x', '3')
      // The reader has taken event 1 only; 2 is gone before it asks.
      await store.compact(3)
      await assert.rejects(async () => events.next(), { reason: 'Expired' })
    })

    it('chains one audit record to each write that has one', async () => {
      await store.commit({ key: '/a/x', expect: 0, value: () => '1', audit: 'first' })
      await put('/a/y', 'silent')
      await store.commit({ key: '/a/x', expect: 0, value: () => 'refused', audit: 'never' })
      await store.commit({ key: '/a/x', expect: 1, value: undefined, audit: 'second' })
      const records = await store.audit(0, 10)
      assert.deepEqual(
        records.map(({ sequence, revision, line }) => [sequence, revision, line]),
        [
          [1, 1, 'first'],
          [2, 3, 'second'],
        ],
      )
      assert.equal(findAuditBreak(records), undefined)
      assert.equal(findAuditBreak([{ ...records[0]!, line: 'forged' }, records[1]!]), 1)
      assert.equal(findAuditBreak([records[1]!]), 1)
      assert.deepEqual(await store.audit(1, 10), [records[1]])
    })

    it('chains lines that belong to no write between the records of writes', async () => {
      assert.deepEqual((await store.auditHead!()).sequence, 0)
      await store.note!('before')
      const [, , written] = await Promise.all([
        store.commit({ key: '/a/x', expect: 0, value: () => '1', audit: 'write' }),
        store.note!('beside'),
        store.commit({ key: '/a/y', expect: 0, value: () => '1', audit: 'another' }),
      ])
      assert.deepEqual(written, { ok: true, revision: 2 })
      const records = await store.audit(0, 10)
      assert.deepEqual(
        records.map(({ revision, line }) => [revision, line]),
        [
          [0, 'before'],
          [1, 'write'],
          [1, 'beside'],
          [2, 'another'],
        ],
      )
      assert.equal(findAuditBreak(records), undefined)
      const { sequence, hash } = records.at(-1)!
      const head = await store.auditHead!()
      assert.deepEqual([head.sequence, head.hash], [sequence, hash])
    })

    it('agrees with a plain map over a long random history', async () => {
      const model = new Map<string, string>()
      const snapshots: Map<string, string>[] = [new Map()]
      let seed = 7
      const random = (n: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n
      for (let step = 0; step < 300; step += 1) {
        const key = `/m/${random(12)}`
        if (random(3) === 0) {
          const had = model.delete(key)
          await remove(key)
          if (!had) continue
        } else {
          model.set(key, `${step}`)
          await put(key, `${step}`)
        }
        snapshots.push(new Map(model))
      }
      await store.compact(100)
      for (let revision = 100; revision <= store.revision(); revision += 13) {
        const expected = [...snapshots[revision]!].map(([key, value]) => `${key}=${value}`).sort()
        assert.deepEqual(await keys('/m/', revision), expected, `state at revision ${revision}`)
      }
      const replayed = new Map(snapshots[100])
      for (const event of await collect(store, '/m/', 100, store.revision() - 100)) {
        assert.equal(event.previous, replayed.get(event.key), `previous of ${event.key} at ${event.revision}`)
        if (event.value === undefined) replayed.delete(event.key)
        else replayed.set(event.key, event.value)
      }
      assert.deepEqual(replayed, model)
    })
  })
}

/** The first `count` events of a watch. */
export async function collect(store: Store, prefix: string, after: number, count: number): Promise<StoreEvent[]> {
  const abort = new AbortController()
  const events: StoreEvent[] = []
  for await (const event of store.watch(prefix, after, abort.signal)) {
    events.push(event)
    if (events.length >= count) break
  }
  abort.abort()
  return events
}
