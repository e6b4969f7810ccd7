// Tested by src/sim/kernel/network.sim.test.ts
import type { Clock } from '../../core/time/clock.ts'
import type { Connection } from './connection.ts'
import type { History } from './history.ts'
import type { Ends } from './network.ts'
import type { SeededIds } from './seeded-ids.ts'

/** How a link behaves. */
export interface Link {
  /** Least and most, each way. */
  readonly latencyMs: readonly [number, number]
  /** Probability that a request, or an answer's head, is lost. */
  readonly drop: number
  /** Probability, per chunk of a body, that the connection breaks in the middle of it. */
  readonly reset: number
}

/** A connection that broke or never came to be. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code: 'ECONNREFUSED' | 'ECONNRESET' | 'ETIMEDOUT'

  constructor(code: ConnectionError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/** The links of a simulated network: their latency and losses, and which of them are cut. */
export interface Links {
  get(ends: Ends): Link
  setDefault(link: Partial<Link>): void
  set(ends: Ends, link: Partial<Link>): void
  cut(ends: Ends): void
  isCut(ends: Ends): boolean
  heal(ends: Ends): void
  healAll(): void
  /** Heals all cuts and makes all links perfect. */
  calm(): void
  /** Carries one message; a `lossy` message may be dropped. Rejects when the connection breaks first. */
  travel(connection: Connection, lossy: boolean): Promise<void>
}

interface LinksOptions {
  readonly clock: Clock
  readonly ids: SeededIds
  readonly history: History
  readonly stallMs: number
  readonly link: Partial<Link> | undefined
  /** The process behind an endpoint. */
  ownerOf(endpoint: string): string
}

const ARRIVED = new Error('arrived')
const PERFECT: Link = { latencyMs: [1, 5], drop: 0, reset: 0 }

/** Makes links without cuts. */
export function createLinks({ clock, ids, history, stallMs, link, ownerOf }: LinksOptions): Links {
  const ownLinks = new Map<string, Link>()
  const cuts = new Set<string>()
  let defaultLink: Link = { ...PERFECT, ...link }
  let healed = Promise.withResolvers<void>()

  const get = ({ from, to }: Ends) => ownLinks.get(linkKey(from, to)) ?? defaultLink
  const isCut = ({ from, to }: Ends) => cuts.has(linkKey(from, to)) || cuts.has(linkKey(from, ownerOf(to)))

  async function travel(connection: Connection, lossy: boolean): Promise<void> {
    const { drop, latencyMs } = get(connection.ends)
    const lost = lossy && ids.chance(drop)
    await connection.race(clock.sleep(ids.integer(...latencyMs), connection.broken))
    if (!lost && !isCut(connection.ends)) return
    history.record(`net ${connection.name} ${lost ? 'lost a message' : 'is cut'}`)
    const stall = new AbortController()
    const timeout = clock.sleep(stallMs, stall.signal).then(() => {
      throw new ConnectionError('ETIMEDOUT', `${connection.name}: timed out`)
    })
    try {
      for (;;) {
        await connection.race(lost ? timeout : Promise.race([timeout, healed.promise]))
        if (!isCut(connection.ends)) return
      }
    } finally {
      timeout.catch(() => {}) // the timeout may lose the race
      stall.abort(ARRIVED)
    }
  }

  function wakeWaiters(): void {
    healed.resolve()
    healed = Promise.withResolvers<void>()
  }

  function healAll(): void {
    history.record('net heal everything')
    cuts.clear()
    wakeWaiters()
  }

  return {
    get,
    isCut,
    travel,
    healAll,
    setDefault: (changes) => {
      defaultLink = { ...defaultLink, ...changes }
    },
    set: ({ from, to }, changes) => {
      ownLinks.set(linkKey(from, to), { ...get({ from, to }), ...changes })
    },
    cut: ({ from, to }) => {
      history.record(`net cut ${from} | ${to}`)
      cuts.add(linkKey(from, to))
    },
    heal: ({ from, to }) => {
      history.record(`net heal ${from} | ${to}`)
      cuts.delete(linkKey(from, to))
      wakeWaiters()
    },
    calm: () => {
      ownLinks.clear()
      defaultLink = PERFECT
      healAll()
    },
  }
}

/** The key of a link. A link has no direction: a cut is a cut both ways. */
export function linkKey(a: string, b: string): string {
  return a < b ? `${a} | ${b}` : `${b} | ${a}`
}
