import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { collect, storeContract } from '../testing/store-contract.ts'
import { createMemoryStore } from './memory-store.ts'
import { createSqliteStore } from './sqlite-store.ts'

storeContract('memory', async () => {
  const store = createMemoryStore()
  return { store, cleanup: () => store.close() }
})

async function inFolder(run: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-store-'))
  try {
    await run(join(folder, 'hub.db'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

storeContract('sqlite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-store-'))
  const store = createSqliteStore({ path: join(folder, 'hub.db') })
  const cleanup = async () => {
    await store.close()
    await rm(folder, { recursive: true })
  }
  return { store, cleanup }
})

storeContract('sqlite, watches from the disk only', async () => {
  const store = createSqliteStore({ path: ':memory:', tail: { maxEvents: 1, maxBytes: 1 } })
  return { store, cleanup: () => store.close() }
})

describe('sqlite store', () => {
  it('has everything after it was closed and opened again', () =>
    inFolder(async (path) => {
      const first = createSqliteStore({ path })
      await first.commit({ key: '/a/x', expect: 0, value: () => '1', audit: 'one' })
      await first.commit({ key: '/a/x', expect: 1, value: () => '2', audit: 'two' })
      await first.commit({ key: '/a/y', expect: 0, value: () => '3' })
      await first.commit({ key: '/a/y', expect: 3, value: undefined })
      await first.compact(4)
      await first.close()
      const second = createSqliteStore({ path })
      // The newest row was a delete and is swept; the revision must not go back because of it.
      assert.equal(second.revision(), 4)
      assert.equal((await second.get('/a/x'))?.value, '2')
      await assert.rejects(collect(second, '/a/', 1, 1), { reason: 'Expired' })
      await second.commit({ key: '/a/z', expect: 0, value: () => '5', audit: 'three' })
      assert.deepEqual(
        (await second.audit(0, 9)).map((record) => record.line),
        ['one', 'two', 'three'],
      )
      assert.deepEqual(
        (await collect(second, '/a/', 4, 1)).map((event) => event.revision),
        [5],
      )
      await second.close()
    }))

  it('writes that were asked for in one turn share a transaction', () =>
    inFolder(async (path) => {
      const deferred: (() => void)[] = []
      const store = createSqliteStore({ path, defer: (run) => void deferred.push(run) })
      const writes = Array.from({ length: 30 }, (_, n) => store.commit({ key: `/a/${n}`, expect: 0, value: () => 'v' }))
      assert.equal(deferred.length, 1)
      assert.equal(store.revision(), 0)
      deferred[0]!()
      await Promise.all(writes)
      assert.equal(store.revision(), 30)
      await store.close()
    }))

  it('finishes the writes it was asked for when it closes, and refuses later ones', () =>
    inFolder(async (path) => {
      const store = createSqliteStore({ path, defer: () => {} })
      const write = store.commit({ key: '/a/x', expect: 0, value: () => 'v' })
      await store.close()
      assert.equal((await write).ok, true)
      await assert.rejects(store.commit({ key: '/a/y', expect: 0, value: () => 'v' }), { reason: 'ServiceUnavailable' })
    }))

  it('refuses a database of a newer layout', () =>
    inFolder(async (path) => {
      const { DatabaseSync } = await import('node:sqlite')
      const db = new DatabaseSync(path)
      db.exec('PRAGMA user_version = 99')
      db.close()
      assert.throws(() => createSqliteStore({ path }), /layout 99/)
    }))
})
