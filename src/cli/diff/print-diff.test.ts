import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printDiff } from './print-diff.ts'

test('no differences are said, with a note or without one', () => {
  const print = (...notes: string[]) =>
    printDiff([], { format: 'text', summary: false, from: 'a', to: 'b', now: 0, notes, renderCommand: () => '' })
  assert.equal(print(), 'no differences\n')
  assert.equal(print('3 clusters are on the way'), 'no differences\nnote: 3 clusters are on the way\n')
})
