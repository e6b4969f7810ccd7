import { ApiError } from '../core/errors.ts'
import type { StoreEvent, StoreWatch } from './store.ts'

/**
 * Watches as cursors over the log. A watch has no buffer of its own, so a slow reader costs nothing: it remembers the
 * revision it has seen, sleeps until a key below its prefix changes, and reads on from the log. What it may miss is
 * decided by compaction alone, and then it is told so.
 */

/** What a watch reads from: the part of a store that knows history. */
export interface EventLog {
  /** The newest revision. */
  revision(): number
  /** History up to and including this revision is gone. */
  compacted(): number
  /** The events below `prefix` with after < revision <= upTo, in order. */
  read(prefix: string, after: number, upTo: number): readonly StoreEvent[]
}

/** The open watches of one store. */
export interface Watches {
  watch(prefix: string, after: number, signal: AbortSignal): StoreWatch
  /** Wakes the watches whose prefix covers one of these keys, which changed after the revision `before`. */
  wake(keys: Iterable<string>, before: number): void
  /** Ends all watches. */
  close(): void
}

/** How many revisions one synchronous read of the log may span, so that a long replay lets others work in between. */
const WINDOW = 1000

/** The answer to a request for history that is gone, in Kubernetes' words. */
export function expired(requested: number, compacted: number): ApiError {
  return new ApiError('Expired', `too old resource version: ${requested} (${compacted})`)
}

/** A watch as those see it who wake it. */
interface Sleeper {
  /** Resolves its sleep; undefined while it is awake. */
  wakeUp: (() => void) | undefined
  /** While it slept nothing happened below its prefix until this revision. */
  before: number
}

/** Watches over a log. */
export function createWatches(log: EventLog): Watches {
  // A watch stays here for as long as it is read: one that follows much sleeps and wakes all the time.
  const sleepers = new Map<string, Set<Sleeper>>()
  let isClosed = false

  function join(prefix: string): Sleeper {
    const sleeper: Sleeper = { wakeUp: undefined, before: 0 }
    const set = sleepers.get(prefix) ?? new Set()
    sleepers.set(prefix, set.add(sleeper))
    return sleeper
  }

  function leave(prefix: string, sleeper: Sleeper): void {
    const set = sleepers.get(prefix)
    set?.delete(sleeper)
    if (set?.size === 0) sleepers.delete(prefix)
  }

  function watch(prefix: string, after: number, signal: AbortSignal): StoreWatch {
    let cursor = after
    let sleeping: Sleeper | undefined
    const ended = () => signal.aborted || isClosed

    /** Nothing below the prefix happens while a watch sleeps undisturbed, so it has seen everything there is. */
    function progress(): number {
      if (sleeping) cursor = Math.max(cursor, sleeping.wakeUp ? log.revision() : sleeping.before)
      return cursor
    }

    /** Resolves when something below the prefix changes, or the watch ends. */
    async function sleep(sleeper: Sleeper): Promise<void> {
      sleeping = sleeper
      await new Promise<void>((resolve) => (sleeper.wakeUp = resolve))
      progress()
      sleeping = undefined
    }

    async function* events(): AsyncGenerator<StoreEvent> {
      const sleeper = join(prefix)
      const stop = () => wake(sleeper, 0)
      signal.addEventListener('abort', stop, { once: true })
      try {
        while (!ended()) {
          if (cursor < log.compacted()) throw expired(cursor, log.compacted())
          const upTo = Math.min(log.revision(), cursor + WINDOW)
          if (upTo <= cursor) {
            await sleep(sleeper)
            continue
          }
          for (const event of log.read(prefix, cursor, upTo)) {
            yield event
            if (ended()) return
          }
          cursor = upTo
        }
      } finally {
        signal.removeEventListener('abort', stop)
        leave(prefix, sleeper)
      }
    }

    return { [Symbol.asyncIterator]: events, progress }
  }

  return {
    watch,
    wake(keys, before) {
      for (const key of keys) {
        for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
          const set = sleepers.get(key.slice(0, slash + 1))
          if (set) for (const sleeper of set) wake(sleeper, before)
        }
      }
    },
    close() {
      isClosed = true
      for (const set of sleepers.values()) for (const sleeper of set) wake(sleeper, 0)
    },
  }
}

function wake(sleeper: Sleeper, before: number): void {
  const { wakeUp } = sleeper
  if (!wakeUp) return
  sleeper.wakeUp = undefined
  sleeper.before = before
  wakeUp()
}

/**
 * The newest events in memory, bounded by count and bytes, so that watches which keep up never touch the disk and all of
 * them share one copy. Revisions have no gaps, so an event is found by its number.
 */
export class EventTail {
  readonly #maxEvents: number
  readonly #maxBytes: number
  #events: StoreEvent[] = []
  #start = 0
  #bytes = 0

  constructor(limits: { readonly maxEvents: number; readonly maxBytes: number }) {
    this.#maxEvents = limits.maxEvents
    this.#maxBytes = limits.maxBytes
  }

  push(event: StoreEvent): void {
    this.#events.push(event)
    this.#bytes += sizeOf(event)
    while (
      this.#events.length - this.#start > this.#maxEvents ||
      (this.#bytes > this.#maxBytes && this.#events.length - this.#start > 1)
    ) {
      this.#bytes -= sizeOf(this.#events[this.#start]!)
      this.#start += 1
    }
    // Cutting the array only when half of it is dead keeps `push` cheap on average.
    if (this.#start > 64 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start)
      this.#start = 0
    }
  }

  /** The events below a prefix in (after, upTo], or undefined when some of them are no longer here. */
  read(prefix: string, after: number, upTo: number): StoreEvent[] | undefined {
    const first = this.#events[this.#start]
    if (!first || first.revision > after + 1) return undefined
    const found: StoreEvent[] = []
    const from = this.#start + (after + 1 - first.revision)
    for (let index = from; index < this.#events.length; index += 1) {
      const event = this.#events[index]!
      if (event.revision > upTo) break
      if (event.key.startsWith(prefix)) found.push(event)
    }
    return found
  }
}

function sizeOf(event: StoreEvent): number {
  return event.key.length + (event.value?.length ?? 0) + (event.previous?.length ?? 0)
}
