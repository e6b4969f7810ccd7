import { test } from 'node:test'
import fc from 'fast-check'
import { assertBudgetHolds, budgets, histories } from '../../testing/models/rollout-histories.ts'

test('property, long: never more unproven clusters than the budget, in any history (I-04)', () => {
  fc.assert(fc.property(budgets, histories, assertBudgetHolds), { numRuns: 20_000 })
})
