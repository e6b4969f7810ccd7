import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertBudgetHolds, budgets, histories, jointHistories } from '../../testing/models/rollout-histories.ts'
import { BUNDLES, CLUSTERS, RolloutModel } from '../../testing/models/rollout-budget.ts'

test('property: never more unproven clusters than the budget, in any history (I-04)', () => {
  fc.assert(fc.property(budgets, histories, assertBudgetHolds), { numRuns: 300 })
})

test('a history that broke an earlier rule: a failed cluster gives up its slot, and old caches do not show it', () => {
  const plan = { do: 'plan', rollout: 0, knowsNewer: false } as const
  assertBudgetHolds({ concurrency: 1 }, [
    { do: 'toggle', cluster: 0 },
    { ...plan, age: 0 },
    { do: 'assemble', cluster: 1 },
    { do: 'agent', cluster: 1, outcome: 'Failed' },
    { ...plan, age: 0 },
    { ...plan, age: 6 },
    { do: 'assemble', cluster: 0 },
  ])
})

test('a history that broke an earlier rule: one that failed and was tolerated tries again beside a full budget', () => {
  const plan = (rollout: number, knowsNewer = false) => ({ do: 'plan', rollout, knowsNewer, age: 0 }) as const
  assertBudgetHolds({ concurrency: 2, maxFailed: 1 }, [
    { do: 'release', carries: ['x'] },
    plan(0, true),
    { do: 'assemble', cluster: 1 },
    { do: 'agent', cluster: 1, bundle: 'y', outcome: 'Failed' },
    plan(1),
    { do: 'release', carries: ['x', 'y'] },
    plan(0),
    plan(0, true),
    plan(1, true),
    plan(2),
    { do: 'assemble', cluster: 2 },
    { do: 'assemble', cluster: 0 },
    { do: 'assemble', cluster: 1 },
  ])
})

test('a history that broke an earlier rule: a slot of the rollout before last, not given back yet, admits for free', () => {
  const plan = (rollout: number, knowsNewer = false) => ({ do: 'plan', rollout, knowsNewer, age: 0 }) as const
  assertBudgetHolds({ concurrency: 1 }, [
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

test('a history that broke an earlier rule: one that went bad by itself tries again beside a slot, and a newer release takes it over', () => {
  const plan = (rollout: number, knowsNewer = false) => ({ do: 'plan', rollout, knowsNewer, age: 0 }) as const
  assertBudgetHolds({ concurrency: 1 }, [
    { do: 'calm', rounds: 4, fails: [3] },
    { do: 'release', same: [0] },
    plan(0, true),
    { do: 'agent', cluster: 0, outcome: 'Failed' },
    { do: 'retry', rollout: 1 },
    plan(1),
    { do: 'release' },
    { do: 'calm', rounds: 1, fails: [0, 3] },
  ])
})

test('property: once faults stop, all clusters get the newest of each bundle and every slot is free again (I-12)', () => {
  fc.assert(
    fc.property(budgets, histories, (budget, steps) => {
      const world = new RolloutModel(budget)
      world.step({ do: 'release', carries: BUNDLES })
      for (const one of steps) world.step(one)
      world.settle()
      const { behind, slots, open } = world.end()
      assert.deepEqual({ behind, slots, open }, { behind: [], slots: 0, open: [] })
    }),
    { numRuns: 20 },
  )
})

test('property: a fix reaches all clusters, whichever clusters earlier releases broke, and in any ring (I-12)', () => {
  fc.assert(
    fc.property(budgets, histories, (budget, steps) => {
      const world = new RolloutModel(budget)
      for (const one of [{ do: 'release', carries: BUNDLES } as const, ...steps]) world.step(one)
      world.step({ do: 'release', carries: BUNDLES })
      world.settle({ isFix: true })
      assert.deepEqual(world.end().behind, [])
    }),
    { numRuns: 60 },
  )
})

test('property: a rollback reaches all clusters it moves, whichever clusters fail at what it keeps (I-12)', () => {
  fc.assert(
    fc.property(budgets, jointHistories, (budget, steps) => {
      const world = new RolloutModel(budget)
      for (const one of [{ do: 'release', carries: BUNDLES } as const, ...steps]) world.step(one)
      world.step({ do: 'release', carries: BUNDLES, back: { age: 0 } })
      world.settle({ isFix: true })
      const back = BUNDLES.filter((bundle) => world.isTakenBack(bundle))
      assert.deepEqual(
        world.end().behind.filter((pair) => back.some((bundle) => pair.startsWith(bundle))),
        [],
      )
    }),
    { numRuns: 60 },
  )
})

test('a history that broke an earlier rule: a failure that ring 2 tolerated keeps the only slot of ring 1', () => {
  const plan = (rollout: number) => ({ do: 'plan', rollout, knowsNewer: true, age: 0 }) as const
  const world = new RolloutModel({ concurrency: 1, maxFailed: 1, canary: true })
  world.step({ do: 'release' })
  world.step(plan(0))
  world.step({ do: 'assemble', cluster: 0 })
  world.step({ do: 'agent', cluster: 0, outcome: 'Ready' })
  world.step(plan(0))
  world.step(plan(0))
  world.step({ do: 'assemble', cluster: 1 })
  world.step({ do: 'agent', cluster: 1, outcome: 'Failed' })
  world.step(plan(0))
  world.step({ do: 'release' })
  world.settle({ isFix: true })
  assert.deepEqual(world.end().generations.x, [2, 2, 2, 2, 2])
})

test('a fix of two bundles reaches all clusters, although what each of them broke alone is more than its budget', () => {
  const world = new RolloutModel({ concurrency: 1, maxFailed: 0 })
  world.step({ do: 'release', carries: BUNDLES })
  world.step({ do: 'calm', rounds: 1, fails: [] })
  world.step({ do: 'release' })
  world.step({ do: 'calm', rounds: 2, fails: [2] })
  world.step({ do: 'release', same: [1] })
  world.step({ do: 'toggle', cluster: 2 })
  world.step({ do: 'calm', rounds: 3, fails: [4] })
  assert.deepEqual([world.unproven('x'), world.unproven('y')], [['c4'], ['c2']])
  // One in between admits no cluster: it is superseded at once.
  world.step({ do: 'release' })
  world.step({ do: 'release', carries: BUNDLES })
  world.settle({ isFix: true })
  assert.deepEqual(world.end(), {
    generations: { x: [5, 5, 5, 5, 5], y: [5, 5, 5, 5, 5] },
    behind: [],
    slots: 0,
    open: [],
  })
})

/** All but c0 have the first release, c0 and c1 the second, and c0 fails at it: it has nothing to go back to. */
function afterBadInstall(): RolloutModel {
  const world = new RolloutModel({ concurrency: 1 })
  world.step({ do: 'release' })
  world.step({ do: 'toggle', cluster: 0 })
  world.step({ do: 'calm', rounds: 8, fails: [] })
  world.step({ do: 'release' })
  world.step({ do: 'calm', rounds: 1, fails: [] })
  world.step({ do: 'toggle', cluster: 0 })
  world.step({ do: 'calm', rounds: 3, fails: [0] })
  assert.deepEqual(world.end().generations.x, [2, 2, 1, 1, 1])
  return world
}

test('a rollback moves all clusters that can go back, although one that ran nothing before fails at what it keeps', () => {
  const world = afterBadInstall()
  world.step({ do: 'release', back: { age: 0 } })
  world.settle({ isFix: true })
  const { generations, behind, open } = world.end()
  assert.deepEqual({ x: generations.x, behind, open }, { x: [2, 3, 1, 1, 1], behind: [], open: [] })
})

test('a fix reaches all clusters after a rollback that broke one cluster and could not repair another', () => {
  const world = afterBadInstall()
  world.step({ do: 'release', back: { age: 0 } })
  world.step({ do: 'calm', rounds: 3, fails: [0, 1] })
  world.step({ do: 'release' })
  world.settle({ isFix: true })
  assert.deepEqual(world.end().generations.x, [4, 4, 4, 4, 4])
})

test('who failed at a release is not passed over by the same content under a newer generation', () => {
  const world = new RolloutModel({ concurrency: 2, canary: true })
  world.step({ do: 'release' })
  world.step({ do: 'calm', rounds: 8, fails: [] })
  world.step({ do: 'release' })
  world.step({ do: 'calm', rounds: 3, fails: [0] })
  world.step({ do: 'release', same: [0, 1, 2, 3, 4] })
  world.settle({ isFix: true })
  assert.deepEqual(world.end().generations.x, [2, 1, 1, 1, 1])
})

test('a history that broke an earlier rule: caches from before a slot show its cluster well at what it goes back to', () => {
  const plan = (rollout: number, age = 0) => ({ do: 'plan', rollout, knowsNewer: true, age }) as const
  assertBudgetHolds({ concurrency: 1 }, [
    { do: 'toggle', cluster: 2 },
    { do: 'calm', rounds: 8, fails: [] },
    { do: 'release' },
    plan(0),
    plan(1),
    { do: 'assemble', cluster: 0 },
    { do: 'agent', cluster: 0, outcome: 'Progressing' },
    { do: 'toggle', cluster: 2 },
    { do: 'release', back: { age: 0 } },
    ...[0, 1, 0, 1, 0, 1].map((rollout) => plan(rollout)),
    plan(2, 2),
    { do: 'assemble', cluster: 2 },
  ])
})

test('a failed site within maxFailed keeps its record and not its slot: the others go on', () => {
  const plan = { do: 'plan', rollout: 0, knowsNewer: false, age: 0 } as const
  const world = new RolloutModel({ concurrency: 1, maxFailed: 1 })
  world.step({ do: 'release' })
  world.step(plan)
  world.step({ do: 'assemble', cluster: 0 })
  world.step({ do: 'agent', cluster: 0, outcome: 'Failed' })
  for (let i = 1; i < CLUSTERS.length; i++) {
    world.step(plan)
    world.step({ do: 'assemble', cluster: i })
    world.step({ do: 'agent', cluster: i, outcome: 'Ready' })
  }
  world.step(plan)
  const generations = { x: [1, 1, 1, 1, 1], y: [0, 0, 0, 0, 0] }
  assert.deepEqual(world.end(), { generations, behind: [], slots: 1, open: [] })
})
