import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { createPlacementLoads } from './decision-load.ts'
import { loadFromOthers } from '../read-objects.ts'

const CLUSTERS = ['a', 'b', 'c', 'd']

test('property: what is counted page by page is what all pages together say, beside any placement', () => {
  const decision = fc.record({
    cluster: fc.constantFrom(...CLUSTERS),
    state: fc.constantFrom('Selected' as const, 'Selected', 'Evicting'),
    reason: fc.constant(''),
  })
  const step = fc.record({
    placement: fc.constantFrom('p', 'q', 'r'),
    page: fc.nat(1),
    isThere: fc.boolean(),
    decisions: fc.uniqueArray(decision, { selector: ({ cluster }) => cluster, maxLength: 4 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const loads = createPlacementLoads()
      const pages = new Map<string, PlacementDecision>()
      for (const { placement, page, isThere, decisions } of steps) {
        const name = `${placement}-${page}`
        const spec = { placement, placementGeneration: 1, page, pages: 2, decisions }
        const after = isThere ? build(PlacementDecision, `ns/${name}`, { spec }) : undefined
        loads.change(pages.get(name), after)
        if (after) pages.set(name, after)
        else pages.delete(name)
      }
      const all = [...pages.values()]
      for (const placement of ['p', 'q', 'r', 'unknown']) {
        const kept = loads.beside(all.filter(({ spec }) => spec.placement === placement))
        const anew = loadFromOthers(all, `ns/${placement}`)
        assert.equal(kept.max, anew.max)
        for (const name of CLUSTERS) assert.equal(kept.countOf(name), anew.countOf(name), `${placement} ${name}`)
      }
    }),
  )
})
