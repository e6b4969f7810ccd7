/** Bad days in which processes die around their durable steps. */
import type { CrashPlan, Step } from '../../sim/kernel/crash-plan.ts'
import type { World } from '../../sim/kernel/world.ts'
import { failureOf, runScenario } from '../simulation/run-seeds.ts'
import { storm } from './storm.ts'

// A day takes some 1,500 steps: a kill every few minutes, and time to do something in between.
const EVERY = 48

/** One day with its kills. */
export interface CrashRun {
  readonly seed: string
  readonly crash: CrashPlan
}

/** What a series of days came to, each step without the names that differ from cluster to cluster. */
export interface CrashesSeen {
  /** The steps that were taken while there was trouble. */
  readonly taken: ReadonlySet<string>
  /** The steps around which a process crashed. */
  readonly crashed: ReadonlySet<string>
}

/** The days of a seed that begin to kill at one of these steps, and go on at every 48th after it. */
export function crashDays(seed: string, first: readonly number[]): CrashRun[] {
  return first.flatMap((step) =>
    (['before', 'after'] as const).map((when) => ({ seed, crash: { step, when, every: EVERY } })),
  )
}

/** All days of a seed: together they have a kill before and after each of its steps. */
export function allCrashDays(seed: string): CrashRun[] {
  return crashDays(
    seed,
    Array.from({ length: EVERY }, (_, index) => index),
  )
}

/** Runs days; throws the first broken promise, with the way to replay it. */
export async function stormCrashes(days: readonly CrashRun[]): Promise<CrashesSeen> {
  const taken = new Set<string>()
  const crashed = new Set<string>()
  for (const { seed, crash } of days) {
    const day = async (world: World): Promise<void> => {
      await storm(world)
      for (const step of world.steps().slice(world.unfocused())) taken.add(kindOf(step))
      for (const step of world.crashes()) crashed.add(kindOf(step))
    }
    const run = await runScenario(day, { seed, crash })
    if (!run.error) continue
    const failure = await failureOf(run, () => runScenario(day, { seed, crash }))
    throw new Error(`killed ${crash.when} every ${EVERY}th step from ${crash.step} on: ${failure.message}`, {
      cause: run.error,
    })
  }
  return { taken, crashed }
}

function kindOf({ process, name }: Step): string {
  const who = process.replace(/store-\d+/, 'store')
  const what = name
    .replace(/\?.*/, '')
    .replace(/sha256:[0-9a-f]+/, 'DIGEST')
    .replace(/\d+ bytes/, 'BYTES')
    .replace(/(store|shop|flotilla-inventory|events\/default\/)[-.\w]*$/, '$1')
  return `${who} ${what}`
}
