import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isApiError } from '../core/errors.ts'
import { createMemoryStore } from './memory-store.ts'

test('a store with little history forgets by itself; what is there stays, and a watch that keeps up misses nothing', async () => {
  const store = createMemoryStore({ history: 10, audit: false })
  const life = new AbortController()
  const seen: number[] = []
  const watching = (async () => {
    for await (const { revision } of store.watch('/a/', 0, life.signal)) seen.push(revision)
  })()
  await store.commit({ key: '/b/quiet', expect: 0, value: () => 'first', audit: 'x' })
  let expect = 0
  for (let revision = 2; revision <= 200; revision += 1) {
    const done = await store.commit({ key: '/a/busy', expect, value: (at) => String(at), audit: 'x' })
    assert.ok(done.ok)
    expect = done.revision
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 199 }, (_, index) => index + 2),
  )
  assert.equal((await store.get('/b/quiet'))?.value, 'first')
  assert.equal((await store.get('/a/busy', 195))?.value, '195')
  const tooOld = (caught: unknown) => isApiError(caught, 'Expired')
  await assert.rejects(store.get('/a/busy', 100), tooOld)
  await assert.rejects(async () => {
    for await (const _ of store.watch('/a/', 100, life.signal)) assert.fail('it was forgotten')
  }, tooOld)
  assert.deepEqual(await store.audit(0, 10), [])
  life.abort()
  await watching
  await store.close()
})
