/**
 * A process of the simulation: a composition that runs until it is asked to stop, killed and started again at will.
 * What should outlive it is made outside of `main` and reached through the host's handles; the rest is gone with
 * it.
 *
 *     start ──▶ running ──stop──▶ (signal aborted, main resolves) ──▶ down
 *                  └──kill──▶ down, at once: its gate is shut, nothing of it acts any more
 */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Caller, Handler, Transport } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Store } from '../../store/store.ts'
import type { StepCounter } from './crash-plan.ts'
import { durableBlobs, durableStore, durableTransport } from './durable.ts'
import type { RunStep } from './durable.ts'
import { createProcessBoundary, processClock } from './process-boundary.ts'
import type { ProcessBoundary } from './process-boundary.ts'
import type { History } from './history.ts'
import type { Network } from './network.ts'
import type { SeededIds } from './seeded-ids.ts'
import { simulatedLog } from './simulated-log.ts'
import type { VirtualClock } from './virtual-clock.ts'

/** What a process has of the world; all of it refuses from the moment the process is killed. */
export interface Host {
  readonly name: string
  /** 1 for the first start. */
  readonly incarnation: number
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Aborted when the process is asked to stop; never when it is killed. */
  readonly signal: AbortSignal
  /** Serves an endpoint until the process ends. */
  listen(endpoint: string, handler: Handler): void
  /** A transport to an endpoint, with an identity that the server can verify. */
  connect(endpoint: string, caller: Caller): Transport
  store(store: Store): Store
  blobs(blobs: Blobs): Blobs
  /** Runs an effect of any other durable port; the process may be killed before or after it. */
  step: RunStep
  /** Marks a place where a crash would be interesting although nothing is written. */
  crashPoint(name: string): Promise<void>
  /** Resolves when the process is asked to stop. */
  untilStopped(): Promise<void>
}

/** What a process does: it serves until `host.signal` is aborted, then ends. Throwing is a failure of the run. */
export type Main = (host: Host) => Promise<void>

/** A process as its scenario sees it. */
export interface Process {
  readonly name: string
  running(): boolean
  /** How often it was started. */
  incarnation(): number
  start(): void
  /** As SIGKILL: at once, and it is told nothing. */
  kill(): void
  /** As SIGTERM: resolves when it has ended; drive the clock meanwhile. */
  stop(): Promise<void>
  /** As SIGSTOP: it stands still, with its connections open, and does not know. Its clocks go on. */
  pause(): void
  /** As SIGCONT: what came meanwhile comes now, in order. */
  resume(): void
  paused(): boolean
  /** Moves the wall clock of this process away from the world's clock. */
  setSkew(ms: number): void
  /** The world is over: kills it, and lets go of what its lives waited for, which nothing else ever ends. */
  end(): void
}

/** What processes are made of. */
export interface ProcessParts {
  readonly name: string
  readonly main: Main
  readonly clock: VirtualClock
  readonly ids: SeededIds
  readonly network: Network
  readonly history: History
  readonly counter: StepCounter
  /** The plan's moment came: the process was just killed. */
  readonly crashed: (process: Process) => void
  readonly failed: (error: Error) => void
}

interface Life {
  readonly gate: ProcessBoundary
  readonly stopping: AbortController
  readonly ended: Promise<void>
}

/** Makes a process that is not started. */
export function createProcess(parts: ProcessParts): Process {
  const { name, main, network, history } = parts
  let life: Life | undefined
  let incarnation = 0
  let skewMs = 0
  /**
   * Of every life: Node keeps whatever listens to a composite signal until that is aborted, and the killed never are.
   */
  const stops: AbortController[] = []

  const process: Process = {
    name,
    running: () => life !== undefined,
    incarnation: () => incarnation,
    start: () => {
      if (life) throw new Error(`process ${name} is running already`)
      incarnation += 1
      history.record(`process ${name} starts (${incarnation})`)
      const gate = createProcessBoundary()
      const stopping = new AbortController()
      stops.push(stopping)
      const host = createHost(parts, { gate, stopping, incarnation, skewMs: () => skewMs, kill: crash })
      // Main begins when this life is in place: its very first step may be the one that ends it.
      const running = Promise.resolve().then(() => main(host))
      life = { gate, stopping, ended: ending(gate, running) }
    },
    kill: () => {
      if (!life) return
      history.record(`process ${name} is killed`)
      life.gate.shut()
      life = undefined
      network.killed(name)
    },
    stop: async () => {
      if (!life) return
      history.record(`process ${name} is asked to stop`)
      const { stopping, ended } = life
      stopping.abort(new Error(`process ${name} is asked to stop`))
      await ended
    },
    pause: () => {
      if (!life) return
      history.record(`process ${name} is paused`)
      life.gate.pause()
    },
    resume: () => {
      if (!life?.gate.paused()) return
      history.record(`process ${name} goes on`)
      life.gate.resume((whatElseCame) => void parts.clock.sleep(1).then(whatElseCame))
    },
    paused: () => life?.gate.paused() ?? false,
    setSkew: (ms) => {
      skewMs = ms
    },
    end: () => {
      process.kill()
      for (const stopping of stops) stopping.abort(new Error(`the world of process ${name} is over`))
    },
  }

  function crash(): void {
    process.kill()
    parts.crashed(process)
  }

  /** Handles the end of main. The end of a killed process's main has no effect. */
  async function ending(gate: ProcessBoundary, running: Promise<void>): Promise<void> {
    let problem: Error | undefined
    try {
      await running
    } catch (caught) {
      problem = toError(caught)
    }
    if (!gate.alive()) return
    history.record(`process ${name} ends${problem ? `: ${problem.message}` : ''}`)
    gate.shut()
    life = undefined
    network.killed(name)
    if (problem) parts.failed(new Error(`process ${name} died: ${problem.message}`, { cause: problem }))
  }

  return process
}

interface HostParts {
  readonly gate: ProcessBoundary
  readonly stopping: AbortController
  readonly incarnation: number
  readonly skewMs: () => number
  readonly kill: () => void
}

function createHost(parts: ProcessParts, { gate, stopping, incarnation, skewMs, kill }: HostParts): Host {
  const { name, network, history, counter } = parts
  const { signal } = stopping

  const step: RunStep = (what, effect) =>
    gate.pass(async () => {
      const number = counter.begin({ process: name, name: what })
      history.record(`step ${number} ${name} ${what}`)
      if (counter.isPlanned(number, 'before')) return killed()
      const result = await effect()
      if (gate.alive() && counter.isPlanned(number, 'after')) return killed()
      return result
    })

  function killed(): Promise<never> {
    kill()
    return new Promise(() => {})
  }

  return {
    name,
    incarnation,
    signal,
    step,
    clock: processClock(parts.clock, gate, skewMs),
    // A stream per incarnation: numbers that a killed incarnation would still draw do not shift the numbers of others.
    ids: parts.ids.fork(`${name}#${incarnation}`),
    log: simulatedLog({ process: name, gate, history, failed: parts.failed }),
    listen: (endpoint, handler) => {
      if (gate.alive()) network.listen(endpoint, (...call) => gate.pass(() => handler(...call)), name)
    },
    connect: (endpoint, caller) =>
      durableTransport(network.transport({ from: name, to: endpoint }, caller), gate, step),
    store: (store) => durableStore(store, gate, step),
    blobs: (blobs) => durableBlobs(blobs, gate, step),
    crashPoint: (what) => step(what, () => Promise.resolve()),
    untilStopped: () =>
      new Promise((resolve) => {
        if (signal.aborted) resolve()
        else signal.addEventListener('abort', () => resolve(), { once: true })
      }),
  }
}
