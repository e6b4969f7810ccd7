/** Histories of a model's world, any that can happen, and the promise that must hold in all of them (I-04). */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { BUNDLES, CLUSTERS, isCanary, RolloutModel } from './rollout-budget.ts'
import type { Budget, BundleName, Step } from './rollout-budget.ts'

const cluster = fc.nat(CLUSTERS.length - 1)
const bundle = fc.constantFrom(...BUNDLES)
const mixed = fc.constantFrom<readonly BundleName[]>(['x'], ['y'], ['x', 'y'], ['x', 'y'])
const together = fc.constant<readonly BundleName[]>(BUNDLES)
const release = fc.constant('release' as const)
const someClusters = (maxLength = CLUSTERS.length) => fc.subarray([...CLUSTERS.keys()], { maxLength })

const rollout = fc.integer({ min: -3, max: 3 })

const historiesOf = (carries: typeof mixed): fc.Arbitrary<Step[]> => {
  const steps: fc.WeightedArbitrary<Step>[] = [
    { weight: 1, arbitrary: fc.record({ do: release, carries }) },
    // Releases that change nothing for some, or take the newest back.
    { weight: 1, arbitrary: fc.record({ do: release, carries, same: someClusters() }) },
    { weight: 1, arbitrary: fc.record({ do: release, carries, back: fc.record({ age: fc.constantFrom(0, 0, 2) }) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('plan' as const),
        rollout,
        age: fc.constantFrom(0, 0, 0, 1, 2, 3, 6),
        knowsNewer: fc.boolean(),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('assemble' as const), cluster }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), cluster }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('retry' as const), rollout }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('agent' as const),
        cluster,
        bundle,
        outcome: fc.constantFrom('Ready' as const, 'Failed' as const, 'Progressing' as const),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('calm' as const),
        rounds: fc.integer({ min: 1, max: 8 }),
        fails: someClusters(2),
      }),
    },
  ]
  return fc.array(fc.oneof(...steps), { minLength: 10, maxLength: 120, size: 'max' })
}

/** Any order of things that can happen. */
export const histories = historiesOf(mixed)

/** Those in which every release carries all bundles: they share one budget. */
export const jointHistories = historiesOf(together)

/** Any budget. */
export const budgets: fc.Arbitrary<Budget> = fc.oneof(
  fc.record({ concurrency: fc.integer({ min: 1, max: 3 }), canary: fc.boolean() }),
  fc.record({ concurrency: fc.integer({ min: 1, max: 2 }), maxFailed: fc.nat(2), canary: fc.boolean() }),
)

/** The promise itself: throws when a history breaks it. */
export function assertBudgetHolds(budget: Budget, steps: readonly Step[]): void {
  const world = new RolloutModel(budget)
  world.step({ do: 'release', carries: BUNDLES })
  for (const one of steps) {
    world.step(one)
    const unproven = BUNDLES.map((name) => world.unproven(name))
    const together = world.isTogether ? [[...new Set(unproven.flat())]] : []
    // Each ring has its own budget: what one left unwell does not count for the rings before it.
    for (const those of [...unproven, ...together].flatMap((names) => byRing(names, budget))) {
      const total = budget.canary && those.some(isCanary) ? 1 : world.total
      assert.ok(those.length <= total, `${those.join(' ')} unproven with a budget of ${total}`)
    }
    for (const changing of BUNDLES.flatMap((name) => byRing(world.changing(name), budget)))
      assert.ok(changing.length <= budget.concurrency, `${changing.join(' ')} changing with ${budget.concurrency}`)
  }
}

function byRing(names: readonly string[], { canary }: Budget): (readonly string[])[] {
  if (!canary) return [names]
  return [names.filter(isCanary), names.filter((name) => !isCanary(name))]
}
