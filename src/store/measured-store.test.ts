import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricLabels } from '../core/metrics.ts'
import { createMeasuredStore } from './measured-store.ts'
import { createMemoryStore } from './memory-store.ts'

test('commits, conflicts and failures are told apart; the store works as before', async () => {
  const counts = new Map<string, number>()
  const note = ({ name }: { readonly name: string }) => {
    return (labels: MetricLabels, value: number) => void counts.set(`${name} ${labels['result'] ?? ''}`.trim(), value)
  }
  const inner = createMemoryStore()
  const clock = { now: () => 0, monotonicMs: () => 0, sleep: async () => {} }
  const store = createMeasuredStore(inner, { clock, metrics: { counter: note, gauge: note, histogram: note } })
  const write = { key: '/x/a', expect: 0, value: () => 'v' }
  const first = await store.commit(write)
  assert.ok(first.ok)
  assert.equal(counts.get('flotilla_store_revision'), first.revision)
  assert.equal((await store.commit(write)).ok, false)
  const boom = () => {
    throw new Error('boom')
  }
  await assert.rejects(async () => await store.commit({ ...write, key: '/x/b', value: boom }), /boom/)
  assert.deepEqual([...counts.keys()].sort(), [
    'flotilla_store_commit_seconds',
    'flotilla_store_commits_total committed',
    'flotilla_store_commits_total conflict',
    'flotilla_store_commits_total failed',
    'flotilla_store_revision',
  ])
  assert.equal((await store.get('/x/a'))?.value, 'v')
  await store.close()
})
