import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findDecision } from './find-decision.ts'

test('property: the decision about a cluster is the one that a search finds, of each page', () => {
  const decisions = fc.uniqueArray(
    fc.record({ cluster: fc.constantFrom('a', 'b', 'c', '__proto__'), state: fc.nat(2) }),
    {
      selector: ({ cluster }) => cluster,
    },
  )
  fc.assert(
    fc.property(decisions, decisions, (one, other) => {
      for (const page of [one, other, one]) {
        for (const name of ['a', 'b', 'c', '__proto__', 'd']) {
          assert.equal(
            findDecision(page, name),
            page.find(({ cluster }) => cluster === name),
          )
        }
      }
    }),
  )
})
