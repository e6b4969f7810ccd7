import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBodyBudget } from './body-budget.ts'

test('bodies share the total, and a caller has its own part of it', () => {
  const budget = createBodyBudget({ totalBytes: 100, bytesPerCaller: 60 })
  const [first, second, other] = [budget.open('ana'), budget.open('ana'), budget.open('bo')]
  assert.equal(first.add(40), true)
  assert.equal(second.add(30), false, 'more than the part of one caller')
  assert.equal(second.add(20), true)
  assert.equal(other.add(50), false, 'more than the total')
  assert.equal(other.add(40), true)
  first.close()
  first.close()
  assert.equal(other.add(20), true)
  assert.equal(other.add(1), false)
  assert.equal(second.add(20), true)
  for (const body of [second, other]) body.close()
  assert.equal(budget.open('ana').add(60), true)
})
