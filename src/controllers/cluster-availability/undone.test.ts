import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { buildCluster } from '../../testing/builders.ts'
import { passOf } from '../../testing/drafts.ts'
import { createLivenessBook } from './liveness-book.ts'
import { clusterAvailabilityReconciler } from './reconcile.ts'
import { createLastWords } from './undone.ts'

test('words that stood and were taken back are repeated after a while; all others at once', () => {
  const table: [why: string, stands: boolean, words: string, afterMs: number, waitMs: number][] = [
    ['taken back a moment ago', true, 'Ready', 2_000, 8_000],
    ['taken back a while ago', true, 'Ready', 10_000, 0],
    ['never written', false, 'Ready', 2_000, 0],
    ['something else', true, 'Offline', 2_000, 0],
  ]
  for (const [why, stands, words, afterMs, waitMs] of table) {
    const lastWords = createLastWords(10_000)
    lastWords.say('a', 'Ready', 1_000)
    if (stands) lastWords.stand('a', 'Ready')
    assert.equal(lastWords.waitMs('a', words, 1_000 + afterMs), waitMs, why)
    assert.equal(lastWords.waitMs('b', words, 1_000 + afterMs), 0, `${why}: of nobody else`)
  }
})

test('what another hub took back is said again at the next summary, and a change in between at once', async () => {
  const clock = createVirtualClock()
  const book = createLivenessBook(clock)
  const reconciler = clusterAvailabilityReconciler({
    viewsOf: book.viewsOf,
    assignmentOf: () => undefined,
    reportOf: () => undefined,
    havingAlias: () => [],
    settleMs: 0,
  })
  book.note('g', { up: 900, seen: { 'c-a': 200 } })
  const before = buildCluster('a')
  const gone = await passOf(reconciler, before, clock)
  assert.match(gone.condition('Available'), /^False Silent/)
  await passOf(reconciler, gone.draft.next, clock)
  await clock.advance(1_000)
  const back = await passOf(reconciler, before, clock)
  assert.deepEqual([back.commit, back.result], ['Nothing', { requeueAfterMs: 9_000 }], 'somebody took it back')
  const hold = { reason: 'audit', since: '2026-01-01T00:01:00Z' }
  const held = { ...gone.draft.next, spec: { ...before.spec, hold } }
  assert.equal((await passOf(reconciler, held, clock)).commit, 'Status', 'nobody did')
  await clock.advance(9_000)
  assert.equal((await passOf(reconciler, before, clock)).commit, 'Status')
})
