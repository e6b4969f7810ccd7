import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findEntries } from './find-entries.ts'

const entry = (kind: string, name: string) => ({ kind, name, to: `/${name}` })
const ENTRIES = [
  entry('Page', 'Fleet'),
  entry('Cluster', 'my-store-1'),
  entry('Cluster', 'store-1'),
  entry('Bundle', 'default/store'),
  ...Array.from({ length: 30 }, (_, index) => entry('Cluster', `plant-${index}`)),
]

test('names that begin with the text come first; without a text the pages', () => {
  const found = (text: string) => findEntries(ENTRIES, text).map(({ name }) => name)
  assert.deepEqual(found('store'), ['store-1', 'default/store', 'my-store-1'])
  assert.deepEqual(found('bundle sto'), ['default/store'])
  assert.deepEqual(found(' '), ['Fleet'])
  assert.deepEqual(found('nothing'), [])
  assert.equal(found('plant').length, 12)
})
