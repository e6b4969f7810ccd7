import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { judgeShrink, SECOND_SHRINK, shrinkAllowance } from './shrink-guard.ts'

test('the guard: a tenth, but at least one, unless said; a percentage is rounded down', () => {
  assert.deepEqual(
    [undefined, 3, '10%', '100%', '0%', 0].map((limit) => shrinkAllowance(limit, 25)),
    [2, 3, 2, 25, 0, 0],
  )
  assert.equal(shrinkAllowance(undefined, 4), 1)
  assert.deepEqual(
    [shrinkAllowance(undefined, 4, SECOND_SHRINK), shrinkAllowance(undefined, 25, SECOND_SHRINK)],
    [5, 12],
  )
  const shrink = { noun: 'objects' as const, dropped: ['b', 'a'], of: 10, limit: 1, generation: 7 }
  const held = judgeShrink(shrink)
  assert.equal(
    held.kind === 'Held' && held.message,
    'The change would drop 2 of 10 objects; at most 1 can be dropped at once.',
  )
  const token = held.kind === 'Held' ? held.token : ''
  assert.match(token, /^g7-drop2-[0-9a-f]{8}$/)
  assert.equal(judgeShrink({ ...shrink, dropped: ['a', 'b'], release: token }).kind, 'Released')
  assert.equal(
    judgeShrink({ ...shrink, dropped: ['a', 'c'], release: token }).kind,
    'Held',
    'others than those released',
  )
  assert.equal(judgeShrink({ ...shrink, generation: 8, release: token }).kind, 'Held')
})

test('some changes ask whatever the limit is, except with a limit of 100%', () => {
  const shrink = { noun: 'clusters' as const, dropped: ['a'], of: 9, generation: 1, always: 'Nothing would be left.' }
  const held = judgeShrink(shrink)
  assert.equal(held.kind === 'Held' && held.message, 'The change would drop 1 of 9 clusters. Nothing would be left.')
  assert.equal(judgeShrink({ ...shrink, limit: 9 }).kind, 'Held')
  assert.equal(judgeShrink({ ...shrink, limit: '100%' }).kind, 'Free')
  assert.equal(judgeShrink({ ...shrink, dropped: [] }).kind, 'Free')
})

test('property: a token releases the change that it was made for, and no other', () => {
  const change = fc.record({
    dropped: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
    generation: fc.integer({ min: 1, max: 3 }),
    after: fc.option(fc.constantFrom('g1-drop1-00000000', 'g2-drop2-11111111'), { nil: undefined }),
  })
  fc.assert(
    fc.property(change, change, (shown, made) => {
      const judge = (of: typeof shown, release?: string) =>
        judgeShrink({ noun: 'clusters', of: 4, limit: 0, ...of, release })
      const asked = judge(shown)
      assert.ok(asked.kind === 'Held')
      const isSame =
        made.generation === shown.generation &&
        made.after === shown.after &&
        made.dropped.toSorted().join() === shown.dropped.toSorted().join()
      assert.equal(judge(made, asked.token).kind, isSame ? 'Released' : 'Held')
    }),
  )
})
