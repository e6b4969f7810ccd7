import type { Clock } from '../../core/clock.ts'

/**
 * The door between a simulated process and the world. While the process lives it is open; from the moment it is killed
 * nothing passes any more, in either direction: what the process waits for never comes, what it asks for is never done.
 *
 * A killed process is not told. Rejecting its promises would run its catch and finally blocks, and those belong to no
 * process that was killed with SIGKILL.
 */
export interface Gate {
  alive(): boolean
  shut(): void
  /** Aborted when the gate shuts; for the simulation's own clean-up, never for the process. */
  readonly shutting: AbortSignal
  /** Does something and brings its answer back, as long as the process lives. */
  pass<T>(effect: () => Promise<T>): Promise<T>
  /** The same for a stream. */
  passAll<T>(stream: (signal: AbortSignal) => AsyncIterable<T>, signal?: AbortSignal): AsyncIterable<T>
}

// A fresh one each time: a shared promise would keep everyone who ever waited for it.
const never = () => new Promise<never>(() => {})

/** Makes an open gate. */
export function createGate(): Gate {
  const shutting = new AbortController()
  const alive = () => !shutting.signal.aborted

  function pass<T>(effect: () => Promise<T>): Promise<T> {
    if (!alive()) return never()
    return new Promise((resolve, reject) => {
      effect().then(
        (value) => alive() && resolve(value),
        (caught: unknown) => alive() && reject(caught),
      )
    })
  }

  return {
    alive,
    pass,
    shutting: shutting.signal,
    shut: () => shutting.abort(new Error('the simulated process was killed')),
    passAll: async function* (stream, signal) {
      if (!alive()) await never()
      const ends = new AbortController()
      const end = () => ends.abort(signal?.reason ?? shutting.signal.reason)
      signal?.addEventListener('abort', end, { once: true })
      shutting.signal.addEventListener('abort', end, { once: true })
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
        shutting.signal.removeEventListener('abort', end)
        void iterator.return?.()?.catch(() => {})
      }
    },
  }
}

/** A clock for one process: it starts at its own zero and stops with it. */
export function gatedClock(clock: Clock, gate: Gate, skewMs: () => number): Clock {
  const startedAt = clock.monotonicMs()
  return {
    now: () => clock.now() + skewMs(),
    monotonicMs: () => clock.monotonicMs() - startedAt,
    sleep: (ms, signal) =>
      gate.pass(() => {
        const ends = new AbortController()
        const end = () => ends.abort(signal?.reason)
        signal?.addEventListener('abort', end, { once: true })
        gate.shutting.addEventListener('abort', end, { once: true })
        if (signal?.aborted) end()
        return clock.sleep(ms, ends.signal).finally(() => {
          signal?.removeEventListener('abort', end)
          gate.shutting.removeEventListener('abort', end)
        })
      }),
  }
}
