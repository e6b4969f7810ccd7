import { test } from 'node:test'
import fc from 'fast-check'
import { assertBudgetHolds, histories } from '../testing/rollout-world.ts'

test('property, long: never more unproven clusters than the concurrency, in any history (I-04)', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 3 }), histories, assertBudgetHolds), { numRuns: 20_000 })
})
