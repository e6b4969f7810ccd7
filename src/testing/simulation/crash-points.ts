/**
 * Crash-point enumeration: a scenario is run once to count its durable steps, then once per step and moment with a
 * kill. `FLOTILLA_CRASH=before-340` tries that one alone, `FLOTILLA_CRASH=before-last` the last.
 */
import { crashPlans } from '../../sim/kernel/crash-plan.ts'
import type { CrashPlan } from '../../sim/kernel/crash-plan.ts'
import type { WorldOptions } from '../../sim/kernel/world.ts'
import { failureOf, runScenario } from './run-seeds.ts'
import type { Scenario } from './run-seeds.ts'

/** Which crashes to try: all, or every n-th, beginning somewhere. */
export interface CrashOptions extends Omit<WorldOptions, 'crash'> {
  readonly every?: number
  readonly first?: number
}

/**
 * Kills the process around each durable step of a scenario, from its `focus` on; returns how many were tried, or could
 * be where one is asked for.
 */
export async function simulateCrashes(scenario: Scenario, options: CrashOptions): Promise<number> {
  const { every = 1, first = 0, ...world } = options
  const calm = await runScenario(scenario, world)
  if (calm.error) throw await failureOf(calm, () => runScenario(scenario, world))
  const all = crashPlans(calm.steps).filter(({ step }) => step > calm.unfocused)
  const asked = crashPlanFromEnvironment(all, process.env)
  const plans = asked ?? all.filter((_, index) => index % every === first % every)
  for (const crash of plans) {
    const run = await runScenario(scenario, { ...world, crash })
    if (!run.error) continue
    const failure = await failureOf(run, () => runScenario(scenario, { ...world, crash }))
    const alone = `FLOTILLA_CRASH=${crash.when}-${crash.step}`
    throw new Error(`killed ${crash.when} durable step ${crash.step} of ${calm.steps} (${alone}): ${failure.message}`, {
      cause: run.error,
    })
  }
  return asked ? all.length : plans.length
}

/** The one crash that the environment asks for. */
export function crashPlanFromEnvironment(
  plans: readonly CrashPlan[],
  env: NodeJS.ProcessEnv,
): readonly CrashPlan[] | undefined {
  const text = env['FLOTILLA_CRASH']
  if (text === undefined) return undefined
  const [, when, step] = /^(before|after)-(\d+|last)$/.exec(text) ?? []
  const asked = plans.filter((plan) => plan.when === when)
  const found = step === 'last' ? asked.at(-1) : asked.find((plan) => plan.step === Number(step))
  if (!found)
    throw new Error(`FLOTILLA_CRASH is ${text}; write before-N or after-N, with a step of the scenario, or before-last`)
  return [found]
}
