import assert from 'node:assert/strict'
import { it } from 'node:test'
import { silentLogger } from '../core/log.ts'
import { collect } from '../testing/store-contract.ts'
import { runCompactor } from './compactor.ts'
import { createMemoryStore } from './memory-store.ts'

it('keeps at least one interval of history, and forgets what is older than two', async () => {
  const store = createMemoryStore()
  const abort = new AbortController()
  const ticks: (() => void)[] = []
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      ticks.push(resolve)
      signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    })
  const clock = { now: () => 0, monotonicMs: () => 0, sleep }
  const tick = async () => {
    ticks.shift()!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const running = runCompactor({ store, clock, log: silentLogger }, abort.signal)
  await store.commit({ key: '/a/x', expect: 0, value: () => '1' })
  await store.commit({ key: '/a/x', expect: 1, value: () => '2' })
  await tick()
  assert.equal((await collect(store, '/a/', 0, 2)).length, 2)
  await store.commit({ key: '/a/x', expect: 2, value: () => '3' })
  await tick()
  await assert.rejects(collect(store, '/a/', 1, 1), { reason: 'Expired' })
  assert.equal((await collect(store, '/a/', 2, 1))[0]?.revision, 3)
  abort.abort()
  await running
})
