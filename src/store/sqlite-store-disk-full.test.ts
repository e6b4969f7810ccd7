import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { isApiError } from '../core/errors.ts'
import { findAuditBreak } from './audit-chain.ts'
import { createSqliteStore } from './sqlite-store.ts'

it('a full disk refuses writes in words, goes on reading, and writes again when there is room', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-full-'))
  const store = createSqliteStore({ path: join(folder, 'hub.db'), maxBytes: 400_000 })
  const value = 'x'.repeat(20_000)
  await store.commit({ key: '/a/first', expect: 0, value: () => 'first', audit: 'first' })
  const write = async () =>
    await store.commit({
      key: '/a/x',
      expect: (await store.get('/a/x'))?.modRevision ?? 0,
      value: () => value,
      audit: 'write',
    })
  const refusal: unknown = await (async () => {
    for (let n = 0; n < 100; n += 1) await write()
  })().catch((error: unknown) => error)
  assert.ok(isApiError(refusal, 'ServiceUnavailable'), String(refusal))
  assert.match(refusal.message, /the store cannot write: .*full; nothing was changed\. Check the disk/)
  const revision = store.revision()
  assert.equal((await store.get('/a/first'))?.value, 'first')
  assert.equal((await store.list({ prefix: '/a/' })).entries.length, 2)
  await assert.rejects(write(), { reason: 'ServiceUnavailable' })
  assert.equal(store.revision(), revision, 'a refused write takes no revision')
  await store.compact(revision)
  assert.deepEqual(await write(), { ok: true, revision: revision + 1 })
  assert.equal(findAuditBreak(await store.audit(0, 1000)), undefined)
  assert.equal((await store.audit(0, 1000)).length, revision + 1)
  await store.close()
  await rm(folder, { recursive: true })
})
