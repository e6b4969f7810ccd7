import { compact } from '../../core/compact.ts'
import { createStepCounter } from './crash-plan.ts'
import type { CrashPlan, Step } from './crash-plan.ts'
import { createHistory } from './history.ts'
import type { History } from './history.ts'
import { createNetwork } from './network.ts'
import type { Link } from './links.ts'
import type { Network } from './network.ts'
import { createProcess } from './process.ts'
import type { Main, Process } from './process.ts'
import { createSeededIds } from './seeded-ids.ts'
import type { SeededIds } from './seeded-ids.ts'
import { createVirtualClock } from './virtual-clock.ts'
import type { RunUntilOptions, VirtualClock } from './virtual-clock.ts'

/** A simulated world: one clock, one network, one history, one seed. */
export interface World {
  readonly seed: string
  readonly clock: VirtualClock
  /** The scenario's own dice; processes have theirs. */
  readonly ids: SeededIds
  readonly network: Network
  readonly history: History
  /** Makes a process and starts it. */
  start(name: string, main: Main): Process
  processes(): readonly Process[]
  /** Durable steps so far; their number is the number of crash plans divided by two. */
  steps(): readonly Step[]
  /** What follows is what crashes are tried in; what came before is the same in every run. */
  focus(): void
  /** Crashes that repeat end here: what follows must converge. */
  endFocus(): void
  /** The steps around which processes were killed by plan. */
  crashes(): readonly Step[]
  /** The steps before the last `focus`. */
  unfocused(): number
  /** Lets time pass until a condition holds. Fails at once when a process fails. */
  runUntil(holds: () => boolean | Promise<boolean>, options: RunUntilOptions): Promise<void>
  /** Lets time pass; fails when a process does. */
  run(ms: number): Promise<void>
  /** Throws the first error of a process. */
  check(): void
  /** Kills every process; nothing of this world acts afterwards. */
  end(): Promise<void>
}

/** What a world is made of. */
export interface WorldOptions {
  readonly seed: string | number
  readonly link?: Partial<Link>
  readonly crash?: CrashPlan
}

/** Makes a world; the same seed and the same scenario give the same history. */
export function createWorld({ seed, link, crash }: WorldOptions): World {
  const clock = createVirtualClock()
  const ids = createSeededIds(seed)
  const history = createHistory(clock)
  const network = createNetwork(compact({ clock, ids: ids.fork('network'), history, link }))
  let isInFocus = false
  const counter = createStepCounter(crash, () => isInFocus)
  const processes = new Map<string, Process>()
  const failures: Error[] = []
  let over = false
  let unfocused = 0

  function restartLater(process: Process): void {
    clock.sleep(crash?.restartAfterMs ?? 1_000).then(
      () => (over || process.running() ? undefined : process.start()),
      () => {}, // this sleep is never aborted
    )
  }

  function check(): void {
    if (failures.length === 1) throw failures[0]!
    if (failures.length > 1) throw new AggregateError(failures, failures.map((failure) => failure.message).join('; '))
  }

  return {
    seed: String(seed),
    clock,
    ids: ids.fork('scenario'),
    network,
    history,
    check,
    steps: counter.steps,
    crashes: counter.crashes,
    focus: () => {
      unfocused = counter.steps().length
      isInFocus = true
    },
    endFocus: () => void (isInFocus = false),
    unfocused: () => unfocused,
    processes: () => [...processes.values()],
    start: (name, main) => {
      if (processes.has(name)) throw new Error(`there is a process ${name} already`)
      const process = createProcess({
        name,
        main,
        clock,
        ids,
        network,
        history,
        counter,
        crashed: restartLater,
        failed: (error) => failures.push(error),
      })
      processes.set(name, process)
      process.start()
      return process
    },
    runUntil: (holds, options) =>
      clock.runUntil(() => {
        check()
        return holds()
      }, options),
    run: async (ms) => {
      await clock.advance(ms)
      check()
    },
    end: async () => {
      over = true
      for (const process of processes.values()) process.kill()
      await clock.settle()
      for (const process of processes.values()) process.end()
      network.end()
      await clock.settle()
    },
  }
}
