import type { Clock } from '../../core/time/clock.ts'

/**
 * The door between a simulated process and the world. While the process lives it is open; from the moment it is killed
 * nothing passes any more, in either direction: what the process waits for never comes, what it asks for is never done.
 *
 * A killed process is not told. Rejecting its promises would run its catch and finally blocks, and those belong to no
 * process that was killed with SIGKILL.
 */
export interface ProcessBoundary {
  alive(): boolean
  shut(): void
  /**
   * Holds whatever would pass, in either direction, until `resume`, as SIGSTOP does: the process stands still and is
   * not told.
   */
  pause(): void
  /** Lets timers pass again, then whatever else came, as an event loop does. */
  resume(then: (whatElseCame: () => void) => void): void
  paused(): boolean
  /**
   * Calls back when the gate shuts, until the answer is called; for the simulation's own clean-up, never for the
   * process.
   */
  whenShut(act: () => void): () => void
  /** Runs an effect and returns its answer, as long as the process lives. */
  pass<T>(effect: () => Promise<T>, what?: 'timer'): Promise<T>
  /** The same for a stream. */
  passAll<T>(stream: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal): AsyncIterable<T>
}

// A single instance for all processes: only the simulation sees it.
const KILLED = new Error('the simulated process was killed')

// A new promise each time: a shared promise would keep the reactions of every earlier wait.
const never = () => new Promise<never>(() => {})

/** Makes an open gate. */
export function createProcessBoundary(): ProcessBoundary {
  let isOpen = true
  // A signal would look through all its listeners for the one that goes, and a process has thousands of timers.
  const onShut = new Set<() => void>()
  const alive = () => isOpen
  /** What waits for the process to go on; a timer by its name. */
  let held: { readonly act: () => void; readonly what: 'timer' | undefined }[] | undefined

  function whenAwake(act: () => void, what?: 'timer'): void {
    if (held) held.push({ act, what })
    else if (alive()) act()
  }

  function pass<T>(effect: () => Promise<T>, what?: 'timer'): Promise<T> {
    if (!alive()) return never()
    return new Promise((resolve, reject) => {
      whenAwake(() => {
        effect().then(
          (value) => whenAwake(() => resolve(value), what),
          (caught: unknown) => whenAwake(() => reject(caught), what),
        )
      }, what)
    })
  }

  function whenShut(act: () => void): () => void {
    onShut.add(act)
    return () => onShut.delete(act)
  }

  return {
    alive,
    pass,
    whenShut,
    shut: () => {
      isOpen = false
      for (const act of onShut) act()
      onShut.clear()
    },
    pause: () => void (held ??= []),
    resume: (then) => {
      const timers = held?.filter(({ what }) => what === 'timer') ?? []
      held = held?.filter(({ what }) => what !== 'timer')
      for (const { act } of timers) if (alive()) act()
      then(() => {
        const waiting = held ?? []
        held = undefined
        for (const { act } of waiting) whenAwake(act)
      })
    },
    paused: () => held !== undefined,
    passAll: async function* (stream, signal) {
      if (!alive()) await never()
      const ends = new AbortController()
      const end = () => ends.abort(signal?.reason ?? KILLED)
      signal?.addEventListener('abort', end, { once: true })
      const stays = whenShut(end)
      if (signal?.aborted) end()
      const iterator = stream(ends.signal)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const { done, value } = await pass(() => iterator.next())
          if (done) return
          yield value
        }
      } finally {
        signal?.removeEventListener('abort', end)
        stays()
        void iterator.return?.()?.catch(() => {})
      }
    },
  }
}

/** A clock for one process: it starts at its own zero and stops with it. */
export function processClock(clock: Clock, gate: ProcessBoundary, skewMs: () => number): Clock {
  const startedAt = clock.monotonicMs()
  return {
    now: () => clock.now() + skewMs(),
    monotonicMs: () => clock.monotonicMs() - startedAt,
    sleep: (ms, signal) =>
      gate.pass(() => {
        const ends = new AbortController()
        const end = () => ends.abort(signal?.reason)
        signal?.addEventListener('abort', end, { once: true })
        const stays = gate.whenShut(end)
        if (signal?.aborted) end()
        return clock.sleep(ms, ends.signal).finally(() => {
          signal?.removeEventListener('abort', end)
          stays()
        })
      }, 'timer'),
  }
}
