import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GenerateBudget, SERVED_LIMITS } from './limits.ts'

const SMALL = { maxSets: 2, maxSteps: 1, maxOutput: 3, maxTemplate: 1, maxFile: 1, maxNames: 52 }

test('what is over a limit is refused, and what reaches it is not', () => {
  const budget = new GenerateBudget(SMALL)
  budget.sets(2)
  budget.step()
  budget.wrote(3)
  assert.throws(() => budget.sets(1), /^ApplicationSetError: the generators give more than 2 parameter sets$/)
  assert.throws(() => budget.fits(1), /more than 2 parameter sets$/)
  budget.named('abcd')
  assert.throws(() => budget.named(''), /the names of parameters have more than 52 characters in sum$/)
  assert.throws(() => budget.step(), /the templates take more than 1 steps$/)
  assert.throws(() => budget.wrote(1), /the templates write more than 3 characters$/)
})

test('a hub says what to do', () => {
  const budget = new GenerateBudget(SERVED_LIMITS)
  budget.sets(SERVED_LIMITS.maxSets)
  assert.throws(() => budget.sets(1), /more than 25000 parameter sets; .*: split it into several ApplicationSets$/)
})
