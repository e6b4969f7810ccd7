import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRosterCache } from './roster-cache.ts'
import type { ChangesSinceLastPass } from './roster-cache.ts'

const page = {} as NonNullable<ChangesSinceLastPass['roster']['cached']>
const looked = (since: ChangesSinceLastPass): ReadonlySet<string> | undefined => {
  since.roster.cached = page
  return since.changedClusters
}

test('a pass gets the clusters that changed since the last pass, and all clusters when the changes are not known', () => {
  const books = createRosterCache({ notes: 4 })
  const open = (...frame: readonly unknown[]) => looked(books.open('r', frame))
  assert.equal(open('g1'), undefined)
  assert.deepEqual(open('g1'), new Set())
  books.note('a')
  books.note('b')
  books.note('a')
  assert.deepEqual(open('g1'), new Set(['a', 'b']))
  assert.equal(open('g2'), undefined, 'another generation concerns all clusters')
  for (const name of ['a', 'b', 'c', 'd', 'e']) books.note(name)
  assert.equal(open('g2'), undefined, 'more than is remembered')
  const since = books.open('r', ['g2'])
  since.roster.cached = undefined
  assert.equal(open('g2'), undefined, 'the look before failed halfway')
  books.clear()
  assert.equal(open('g2'), undefined)
})

test('the books together have a limit: the one not opened for longest is forgotten first', () => {
  const books = createRosterCache({ pairs: 100 })
  const open = (key: string) => looked(books.open(key, []))
  for (const key of ['r', 's']) {
    open(key)
    books.keep(key, 50)
  }
  assert.deepEqual(open('r'), new Set())
  open('t')
  books.keep('t', 50)
  assert.deepEqual(open('r'), new Set())
  assert.equal(open('s'), undefined)
})
