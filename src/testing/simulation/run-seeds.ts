/**
 * Runs a scenario over many seeds. A failure names its seed; that seed alone is run again, with the end of its history
 * printed, and `FLOTILLA_SEED=<seed>` does the same by hand. `FLOTILLA_SEEDS=<n>` runs more of them,
 * `FLOTILLA_SEEDS=101-400` those.
 */
import { toError } from '../../core/errors.ts'
import { createWorld } from '../../sim/kernel/world.ts'
import type { World, WorldOptions } from '../../sim/kernel/world.ts'

/** What happens in a world; throws when a promise is broken. */
export type Scenario = (world: World) => Promise<void>

/** How a run ended. */
export interface Run {
  readonly seed: string
  readonly hash: string
  readonly steps: number
  /** Of those, how many came before what crashes are tried in. */
  readonly unfocused: number
  readonly error: Error | undefined
  /** The end of the history, when the run failed. */
  readonly tail: readonly string[]
}

/** Runs a scenario once. */
export async function runScenario(scenario: Scenario, options: WorldOptions): Promise<Run> {
  const world = createWorld(options)
  let error: Error | undefined
  try {
    await scenario(world)
    world.check()
  } catch (caught) {
    error = toError(caught)
  }
  await world.end()
  return {
    seed: world.seed,
    hash: world.history.hash(),
    steps: world.steps().length,
    unfocused: world.unfocused(),
    error,
    tail: error ? world.history.tail(60) : [],
  }
}

/** The seeds to run: 1 to `count`, or what the environment asks for. */
export function seedsToRun(count: number, env: NodeJS.ProcessEnv = process.env): readonly string[] {
  if (env['FLOTILLA_SEED']) return [env['FLOTILLA_SEED']]
  const [, first, last] = /^(?:(\d+)-)?(\d+)$/.exec(env['FLOTILLA_SEEDS'] ?? String(count)) ?? []
  if (last === undefined) throw new Error('FLOTILLA_SEEDS is a number of seeds, or the first and the last: 101-400')
  const from = Number(first ?? 1)
  return Array.from({ length: Number(last) - from + 1 }, (_, index) => String(from + index))
}

/** Runs a scenario over seeds; the first failing one is replayed to see that it fails again, and reported. */
export async function simulate(
  scenario: Scenario,
  options: Omit<WorldOptions, 'seed'> & { readonly seeds: number },
): Promise<void> {
  const { seeds, ...rest } = options
  for (const seed of seedsToRun(seeds)) {
    const run = await runScenario(scenario, { ...rest, seed })
    if (run.error) throw await failureOf(run, () => runScenario(scenario, { ...rest, seed }))
  }
}

/** The error a failed run is reported with, after replaying it. */
export async function failureOf(run: Run, replay: () => Promise<Run>): Promise<Error> {
  const again = await replay()
  const sure =
    again.hash === run.hash
      ? 'a replay has the same history'
      : `a replay has another history (${again.hash.slice(0, 12)} instead of ${run.hash.slice(0, 12)}): something is not deterministic`
  const lines = [
    `seed ${run.seed}: ${run.error?.message}`,
    `${sure}; run it alone with FLOTILLA_SEED=${run.seed}`,
    'the end of its history:',
    ...run.tail.map((line) => `  ${line}`),
  ]
  return new Error(lines.join('\n'), { cause: run.error })
}

/** Throws unless a seed gives the same history twice. */
export async function assertDeterministic(scenario: Scenario, options: WorldOptions): Promise<Run> {
  const first = await runScenario(scenario, options)
  if (first.error) throw first.error
  const second = await runScenario(scenario, options)
  if (first.hash !== second.hash) {
    throw new Error(`seed ${first.seed} has two histories: ${first.hash} and ${second.hash}`, { cause: second.error })
  }
  return first
}
