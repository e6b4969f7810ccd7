import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateUnselectedHolders } from './unselected-holders.ts'
import type { HolderFacts } from './unselected-holders.ts'

function facts(holders: Set<string>, selected: Set<string>, decided = true) {
  const compared: string[] = []
  const known: HolderFacts = {
    bundles: [{ name: 'app', placement: 'stores' }],
    isDecided: () => decided,
    holdersOf: () => holders,
    isHolder: (_, cluster) => {
      compared.push(cluster)
      return holders.has(cluster)
    },
    selects: (_, cluster) => selected.has(cluster),
  }
  return { known, compared }
}

test('a holder that its Placement does not select is found, and only changed clusters are compared afterwards', () => {
  const holders = new Set(['a', 'b', 'c'])
  const selected = new Set(['a', 'b'])
  const { known, compared } = facts(holders, selected)
  const cache = new Map<string, Set<string>>()
  assert.deepEqual(updateUnselectedHolders(known, cache, undefined), ['c'])
  assert.deepEqual(compared, ['a', 'b', 'c'])
  selected.delete('b')
  holders.delete('c')
  compared.length = 0
  assert.deepEqual(updateUnselectedHolders(known, cache, new Set(['b'])), ['c', 'b'])
  assert.deepEqual(compared, ['b'])
  assert.deepEqual(updateUnselectedHolders(known, cache, undefined), ['b'])
})

test('a Bundle whose decisions are not complete has no unselected holders', () => {
  assert.deepEqual(updateUnselectedHolders(facts(new Set(['a']), new Set(), false).known, new Map(), undefined), [])
})
