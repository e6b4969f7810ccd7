import type { Ends } from './network.ts'

/** A request's connection: it breaks once, for both ends. */
export interface Connection {
  readonly name: string
  readonly ends: Ends
  /** The process behind the endpoint: at the start of the connection, or when the request arrived. */
  owner(): string | undefined
  reached(owner: string): void
  /** Aborted when the connection breaks, to end the waits of the client. */
  readonly broken: AbortSignal
  /** Aborted when it breaks while the server lives; a dead server is told nothing. */
  readonly served: AbortSignal
  break(reason: Error): void
  /** Called once when it breaks, in order of asking; at once when it is broken already. */
  onBreak(then: () => void): void
  /** Waits for a promise, at most until the connection breaks. */
  race<T>(promise: Promise<T>): Promise<T>
  /** Whether a process or endpoint is one of its ends. */
  concerns(name: string): boolean
  serverAlive(): boolean
  /** The server's process was killed. */
  serverDied(): void
  /** The world is over: also what served it in a dead process lets go. */
  end(): void
}

const OVER = new Error('the simulated world is over')

/** Makes an unbroken connection. */
export function createConnection(options: {
  readonly name: string
  readonly ends: Ends
  readonly owner: string | undefined
}): Connection {
  const { name, ends } = options
  const broken = new AbortController()
  const served = new AbortController()
  const thens: (() => void)[] = []
  let serverAlive = true
  let { owner } = options
  return {
    name,
    ends,
    owner: () => owner,
    reached: (by) => {
      owner = by
    },
    broken: broken.signal,
    served: served.signal,
    break: (reason) => {
      if (broken.signal.aborted) return
      broken.abort(reason)
      if (serverAlive) served.abort(reason)
      for (const then of thens.splice(0)) then()
    },
    onBreak: (then) => {
      if (broken.signal.aborted) then()
      else thens.push(then)
    },
    race: async (promise) => {
      const lost = Promise.withResolvers<never>()
      const onBreak = () => lost.reject(broken.signal.reason)
      broken.signal.addEventListener('abort', onBreak, { once: true })
      if (broken.signal.aborted) onBreak()
      try {
        return await Promise.race([lost.promise, promise])
      } finally {
        broken.signal.removeEventListener('abort', onBreak)
      }
    },
    concerns: (who) => ends.from === who || ends.to === who || owner === who,
    serverAlive: () => serverAlive,
    serverDied: () => {
      serverAlive = false
    },
    end: () => served.abort(OVER),
  }
}
