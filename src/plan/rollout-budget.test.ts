import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertBudgetHolds, CLUSTERS, histories, RolloutWorld } from '../testing/rollout-world.ts'

const concurrencies = fc.integer({ min: 1, max: 3 })

test('property: never more unproven clusters than the concurrency, in any history (I-04)', () => {
  fc.assert(fc.property(concurrencies, histories, assertBudgetHolds), { numRuns: 300 })
})

test('a history that broke an earlier rule: a failed cluster gives up its slot, and old caches do not show it', () => {
  const plan = { do: 'plan', rollout: 0, knowsNewer: false } as const
  assertBudgetHolds(1, [
    { do: 'toggle', cluster: 0 },
    { ...plan, age: 0 },
    { do: 'assemble', cluster: 1 },
    { do: 'agent', cluster: 1, outcome: 'Failed' },
    { ...plan, age: 0 },
    { ...plan, age: 6 },
    { do: 'assemble', cluster: 0 },
  ])
})

test('a history that broke an earlier rule: a slot of the rollout before last, not given back yet, admits for free', () => {
  const plan = (rollout: number, knowsNewer = false) => ({ do: 'plan', rollout, knowsNewer, age: 0 }) as const
  assertBudgetHolds(1, [
    plan(0),
    { do: 'release' },
    plan(0, true),
    plan(1),
    { do: 'assemble', cluster: 0 },
    { do: 'release' },
    { do: 'agent', cluster: 0, outcome: 'Ready' },
    plan(1),
    { do: 'assemble', cluster: 1 },
    plan(1, true),
    plan(2),
    { do: 'assemble', cluster: 0 },
  ])
})

test('property: once faults stop, everybody gets the newest release and every slot comes back (I-12)', () => {
  fc.assert(
    fc.property(concurrencies, histories, (concurrency, steps) => {
      const world = new RolloutWorld(concurrency)
      world.step({ do: 'release' })
      for (const one of steps) world.step(one)
      const releases = 1 + steps.filter((one) => one.do === 'release').length
      world.settle()
      assert.deepEqual(world.newest(), { generations: CLUSTERS.map(() => releases), phase: 'Completed', slots: 0 })
    }),
    { numRuns: 20 },
  )
})
