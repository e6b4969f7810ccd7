import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowOf } from '../../testing/hub/console-parts.ts'
import { createFleetFeed } from './fleet-feed.ts'
import { decodeFleet } from './fleet-row.ts'

test('a reader gets each changed row once, as it is now, and names of removed clusters', () => {
  const feed = createFleetFeed('e')
  feed.put(rowOf('a'))
  const at = feed.revision()
  feed.put(rowOf('b', { state: 'Pending' }))
  feed.put(rowOf('b', { state: 'Ready' }))
  feed.remove('a')
  feed.remove('unknown')
  const delta = feed.since(at)
  assert.deepEqual(
    delta?.rows.map(({ name, state }) => `${name} ${state}`),
    ['b Ready'],
  )
  assert.deepEqual(delta?.removed, ['a'])
  assert.deepEqual(feed.since(feed.revision()), { revision: 4, rows: [], removed: [] })
})

test('a reader that is too far behind, or ahead, needs the snapshot', () => {
  const feed = createFleetFeed('e', 10)
  for (let index = 0; index < 30; index++) feed.put(rowOf(`c-${index % 3}`))
  assert.equal(feed.since(1), undefined)
  assert.equal(feed.since(31), undefined)
  assert.equal(feed.since(29)?.rows.length, 1)
})

test('snapshot and changes together are always the whole list', () => {
  const step = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), isPut: fc.boolean(), reads: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (steps, kept) => {
      const feed = createFleetFeed('e', kept)
      let seen = new Map<string, number>()
      let at = -1
      const catchUp = (): void => {
        const delta = at < 0 ? undefined : feed.since(at)
        if (delta) {
          for (const name of delta.removed) seen.delete(name)
          for (const { name, ready } of delta.rows) seen.set(name, ready)
        } else {
          seen = new Map(decodeFleet(feed.snapshot()).map(({ name, ready }) => [name, ready]))
        }
        at = feed.revision()
      }
      const truth = new Map<string, number>()
      for (const [ready, { name, isPut, reads }] of steps.entries()) {
        if (isPut) feed.put(rowOf(name, { ready }))
        else feed.remove(name)
        if (isPut) truth.set(name, ready)
        else truth.delete(name)
        if (reads) catchUp()
      }
      catchUp()
      assert.deepEqual(Object.fromEntries(seen), Object.fromEntries(truth))
    }),
  )
})
