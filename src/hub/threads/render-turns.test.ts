import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns, turnKeyOf } from './render-turns.ts'

function takeAll(turns: ReturnType<typeof createTurns<string>>, useMs = 0): string[] {
  const taken: string[] = []
  for (let next = turns.take(); next; next = turns.take()) {
    taken.push(next.work)
    turns.noteUse(next.key, useMs)
  }
  return taken
}

test('keys take turns, and each key keeps its order', () => {
  const turns = createTurns<string>(() => 0)
  for (const work of ['a1', 'a2', 'a3']) turns.add('a', work)
  for (const work of ['b1', 'b2']) turns.add('b', work)
  turns.add('c', 'c1')
  assert.deepEqual(takeAll(turns), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  assert.equal(turns.take(), undefined)
})

test('a key that used much time waits for all keys that used less', () => {
  const turns = createTurns<string>(() => 0)
  turns.noteUse('slow', 10_000)
  for (const work of ['slow1', 'slow2']) turns.add('slow', work)
  for (const work of ['quick1', 'quick2', 'quick3']) turns.add('quick', work)
  assert.deepEqual(takeAll(turns, 100), ['quick1', 'quick2', 'quick3', 'slow1', 'slow2'])
})

test('used time is forgotten', () => {
  let now = 0
  const turns = createTurns<string>(() => now)
  turns.noteUse('first', 10_000)
  now = 3_600_000
  turns.noteUse('second', 10)
  turns.add('second', 'second')
  turns.add('first', 'first')
  assert.deepEqual(takeAll(turns), ['first', 'second'])
})

test('work that is no longer wanted does not take a turn', () => {
  const turns = createTurns<string>(() => 0)
  turns.add('a', 'a1')
  turns.add('a', 'a2')
  turns.add('b', 'b1')
  assert.equal(turns.remove('a', 'a1'), true)
  assert.equal(turns.remove('b', 'b1'), true)
  assert.equal(turns.remove('b', 'b1'), false)
  assert.equal(turns.remove('c', 'c1'), false)
  assert.deepEqual(takeAll(turns), ['a2'])
})

test('the turn key is the tenant, or the namespace of the bundle', () => {
  const request = { recipe: { bundle: 'shop/web' }, clusters: [], frozen: {} }
  assert.equal(turnKeyOf(request), 'shop')
  assert.equal(turnKeyOf({ ...request, tenant: 'Project retail' }), 'Project retail')
})
