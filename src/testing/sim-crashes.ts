/** Crash-point enumeration: a scenario is run once to count its durable steps, then once per step and moment with a kill. */
import { crashPlans } from '../sim/kernel/crash-plan.ts'
import type { WorldOptions } from '../sim/kernel/world.ts'
import { failureOf, runScenario } from './sim-seeds.ts'
import type { Scenario } from './sim-seeds.ts'

/** Which crashes to try: all, or every n-th, beginning somewhere. */
export interface CrashOptions extends Omit<WorldOptions, 'crash'> {
  readonly every?: number
  readonly first?: number
}

/** Kills the process around each durable step of a scenario, from its `focus` on; returns how many crashes were tried. */
export async function simulateCrashes(scenario: Scenario, options: CrashOptions): Promise<number> {
  const { every = 1, first = 0, ...world } = options
  const calm = await runScenario(scenario, world)
  if (calm.error) throw await failureOf(calm, () => runScenario(scenario, world))
  const plans = crashPlans(calm.steps)
    .filter(({ step }) => step > calm.unfocused)
    .filter((_, index) => index % every === first % every)
  for (const crash of plans) {
    const run = await runScenario(scenario, { ...world, crash })
    if (!run.error) continue
    const failure = await failureOf(run, () => runScenario(scenario, { ...world, crash }))
    throw new Error(`killed ${crash.when} durable step ${crash.step} of ${calm.steps}: ${failure.message}`, {
      cause: run.error,
    })
  }
  return plans.length
}
