import { ApiError, toError } from '../core/errors.ts'
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

/** The open watches of a store. */
export interface Watches {
  watch(prefix: string, after: number, signal: AbortSignal): StoreWatch
  /** Wakes the watches whose prefix covers a key of the list, which changed after the revision `before`. */
  wake(keys: Iterable<string>, before: number): void
  /** Ends all watches. */
  close(): void
}

/** How many revisions one synchronous read of the log may span, so that a long replay yields in between. */
const WINDOW = 1000

/** The answer to a request for history that is gone, in Kubernetes' words. */
export function historyExpiredError(requested: number, compacted: number): ApiError {
  return new ApiError('Expired', `too old resource version: ${requested} (${compacted})`)
}

/** Watches over a log. */
export function createWatches(log: EventLog): Watches {
  // A watch stays here for as long as it is read: a busy watch sleeps and wakes all the time.
  const open = new Map<string, Set<Cursor>>()
  let isClosed = false

  const home: Home = {
    log,
    isClosed: () => isClosed,
    join(cursor) {
      const set = open.get(cursor.prefix) ?? new Set()
      open.set(cursor.prefix, set.add(cursor))
    },
    leave(cursor) {
      const set = open.get(cursor.prefix)
      set?.delete(cursor)
      if (set?.size === 0) open.delete(cursor.prefix)
    },
  }

  return {
    watch: (prefix, after, signal) => new Cursor(home, prefix, after, signal),
    wake(keys, before) {
      for (const key of keys) {
        for (let slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
          const set = open.get(key.slice(0, slash + 1))
          if (set) for (const cursor of set) cursor.wake(before)
        }
      }
    },
    close() {
      isClosed = true
      for (const set of open.values()) for (const cursor of set) cursor.wake(0)
    },
  }
}

/** What the watches of a store share. */
interface Home {
  readonly log: EventLog
  isClosed(): boolean
  join(cursor: Cursor): void
  leave(cursor: Cursor): void
}

type Taken = IteratorResult<StoreEvent, undefined>

const DONE: Taken = { done: true, value: undefined }
const NOTHING: readonly StoreEvent[] = []

/**
 * A watch. A generator would be shorter, but there may be thousands of them and each change goes through all that
 * follow it: a watch is an object, and a promise for each event.
 */
class Cursor implements StoreWatch, AsyncIterator<StoreEvent, undefined> {
  readonly prefix: string
  readonly #home: Home
  readonly #signal: AbortSignal
  /** The reader has seen all revisions up to here. */
  #seen: number
  /** What was read from the log after that, up to this revision. */
  #upTo: number
  #batch = NOTHING
  /** How much of the batch was handed out. */
  #taken = 0
  #state: 'new' | 'open' | 'over' = 'new'
  /** The waiter for the next event; undefined if there is none. */
  #waiting: PromiseWithResolvers<Taken> | undefined

  constructor(home: Home, prefix: string, after: number, signal: AbortSignal) {
    this.#home = home
    this.prefix = prefix
    this.#seen = after
    this.#upTo = after
    this.#signal = signal
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Taken> {
    if (this.#waiting) return this.#waiting.promise.then(() => this.next())
    if (this.#isEnded()) return this.return()
    this.#join()
    try {
      const event = this.atHand() ?? this.#read()
      if (event) return Promise.resolve({ done: false, value: event })
    } catch (error) {
      this.#leave()
      return Promise.reject(toError(error))
    }
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  atHand(): StoreEvent | undefined {
    return this.#isEnded() ? undefined : this.#batch[this.#taken++]
  }

  return(): Promise<Taken> {
    this.#leave()
    this.#settle(DONE)
    return Promise.resolve(DONE)
  }

  /** No key below the prefix changes while a watch waits undisturbed, so the watch has seen all events. */
  progress(): number {
    if (this.#waiting) this.#pass(this.#home.log.revision())
    return this.#seen
  }

  /** A key below the prefix changed, first after the revision `before`; or the store was closed. */
  wake(before: number): void {
    if (!this.#waiting) return
    if (this.#isEnded()) return void this.return()
    this.#pass(before)
    try {
      const event = this.#read()
      if (event) this.#settle({ done: false, value: event })
    } catch (error) {
      this.#leave()
      const { reject } = this.#waiting
      this.#waiting = undefined
      reject(error)
    }
  }

  /** The signal was aborted. */
  handleEvent(): void {
    void this.return()
  }

  /** The next event of the log; the reader has seen all events before it. */
  #read(): StoreEvent | undefined {
    const { log } = this.#home
    for (;;) {
      this.#pass(this.#upTo)
      if (this.#seen < log.compacted()) throw historyExpiredError(this.#seen, log.compacted())
      const upTo = Math.min(log.revision(), this.#seen + WINDOW)
      if (upTo <= this.#seen) return undefined
      this.#batch = log.read(this.prefix, this.#seen, upTo)
      this.#upTo = upTo
      this.#taken = 1
      const [first] = this.#batch
      if (first) return first
    }
  }

  #pass(revision: number): void {
    this.#batch = NOTHING
    this.#seen = Math.max(this.#seen, revision)
  }

  #settle(taken: Taken): void {
    this.#waiting?.resolve(taken)
    this.#waiting = undefined
  }

  #isEnded(): boolean {
    return this.#state === 'over' || this.#signal.aborted || this.#home.isClosed()
  }

  #join(): void {
    if (this.#state !== 'new') return
    this.#state = 'open'
    this.#home.join(this)
    this.#signal.addEventListener('abort', this)
  }

  #leave(): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'over'
    if (!wasOpen) return
    this.#home.leave(this)
    this.#signal.removeEventListener('abort', this)
  }
}

/** A watch that translates each event. */
export function mapWatch(watch: StoreWatch, map: (event: StoreEvent) => StoreEvent): StoreWatch {
  return {
    progress: () => watch.progress(),
    atHand() {
      const event = watch.atHand()
      return event && map(event)
    },
    [Symbol.asyncIterator]() {
      const events = watch[Symbol.asyncIterator]()
      return {
        next: async () => {
          const taken = await events.next()
          return taken.done ? taken : { done: false, value: map(taken.value) }
        },
        return: async () => (await events.return?.()) ?? DONE,
      }
    },
  }
}

/**
 * The newest events in memory, bounded by count and bytes, so that watches which keep up never touch the disk and all
 * of them share one copy. Revisions have no gaps, so an event is found by its number.
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
