/**
 * Keys that wait for a worker. A key is in the queue at most once, at most one worker has it, and a key that is added
 * while a worker has it is queued again afterwards:
 *
 *     add ──▶ ready ──next──▶ working ──done──▶ (gone)
 *              ▲                │ add: dirty ──done──┐
 *              ├────────────────┴────────────────────┘
 *              └── after a while ◀── addAfter, retry
 *
 * Keys are taken from each lane (the tenant, by default the namespace) in turn, so that one busy tenant does not delay
 * the other tenants. With `perLane`, slow keys of one lane leave workers to the other lanes.
 */
import { backoffMs } from '../core/time/backoff.ts'
import type { BackoffOptions } from '../core/time/backoff.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { QueueMetrics } from './metrics.ts'

export interface WorkQueue {
  add(key: string): void
  /** Adds later. Of several waits for one key the earliest counts; a worker that takes the key ends all waits. */
  addAfter(key: string, ms: number): void
  /** Adds after a delay that doubles with each retry until `forget`. */
  retry(key: string): void
  /** The key's pass succeeded: the next retry begins with the shortest delay. */
  forget(key: string): void
  /** The next key, or undefined when the queue is closed. The caller must call `done`. */
  next(): Promise<string | undefined>
  done(key: string): void
  depth(): number
  /** Gives out no more keys; resolves when all keys given out are done. */
  close(): Promise<void>
}

export interface WorkQueueOptions {
  readonly name: string
  readonly clock: Clock
  readonly ids: Ids
  readonly metrics?: QueueMetrics
  readonly backoff?: BackoffOptions
  /** The lane of a key. Defaults to the key's namespace. */
  readonly laneOf?: (key: string) => string
  /** Maximum number of keys of one lane that workers have at the same time. If omitted, there is no maximum. */
  readonly perLane?: number
}

const BACKOFF: BackoffOptions = { baseMs: 100, maxMs: 300_000, jitter: 0.3 }
const OVERTAKEN = new Error('a worker has the key')

export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock, ids, metrics, backoff = BACKOFF, laneOf = namespaceOf, perLane = Infinity } = options
  const labels = { name: options.name }
  const lanes = createLanes(laneOf, perLane)
  const ready = new Map<string, number>() // key → when it was added
  const working = new Map<string, number>() // key → when it was taken
  const dirty = new Set<string>()
  const waits = new Map<string, { readonly at: number; readonly cancel: AbortController }>()
  const failures = new Map<string, number>()
  const takers: ((key: string | undefined) => void)[] = []
  const drained = Promise.withResolvers<void>()
  let closed = false

  function add(key: string): void {
    if (closed || ready.has(key) || dirty.has(key)) return
    metrics?.adds(labels, 1)
    if (working.has(key)) {
      dirty.add(key)
      return
    }
    ready.set(key, clock.monotonicMs())
    lanes.add(key)
    metrics?.depth(labels, ready.size)
    hand()
  }

  function hand(): void {
    while (takers.length > 0) {
      const key = take()
      if (key === undefined) return
      takers.shift()!(key)
    }
  }

  function take(): string | undefined {
    const key = lanes.take()
    if (key === undefined) return undefined
    const now = clock.monotonicMs()
    metrics?.queueSeconds(labels, (now - ready.get(key)!) / 1000)
    ready.delete(key)
    cancelWait(key)
    working.set(key, now)
    metrics?.depth(labels, ready.size)
    return key
  }

  function cancelWait(key: string): void {
    waits.get(key)?.cancel.abort(OVERTAKEN)
    waits.delete(key)
  }

  function addAfter(key: string, ms: number): void {
    if (closed) return
    if (ms <= 0) return add(key)
    const at = clock.monotonicMs() + ms
    const present = waits.get(key)
    if (present && present.at <= at) return
    cancelWait(key)
    const cancel = new AbortController()
    waits.set(key, { at, cancel })
    clock.sleep(ms, cancel.signal).then(
      () => due(key),
      () => {}, // cancelled
    )
  }

  function due(key: string): void {
    waits.delete(key)
    add(key)
  }

  return {
    add,
    addAfter,
    retry: (key) => {
      const failed = failures.get(key) ?? 0
      failures.set(key, failed + 1)
      metrics?.retries(labels, 1)
      addAfter(key, backoffMs(failed, ids.fraction(), backoff))
    },
    forget: (key) => {
      failures.delete(key)
    },
    next: () => {
      if (closed) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<string | undefined>()
      takers.push(resolve)
      hand()
      return promise
    },
    done: (key) => {
      const since = working.get(key)
      if (since === undefined) return
      working.delete(key)
      metrics?.workSeconds(labels, (clock.monotonicMs() - since) / 1000)
      lanes.done(key)
      if (dirty.delete(key)) add(key)
      hand()
      if (closed && working.size === 0) drained.resolve()
    },
    depth: () => ready.size,
    close: () => {
      closed = true
      for (const key of waits.keys()) cancelWait(key)
      for (const taker of takers.splice(0)) taker(undefined)
      if (working.size === 0) drained.resolve()
      return drained.promise
    },
  }
}

/** The keys by lane. The lane of a key may change; a key that is taken counts for the lane it waited in. */
function createLanes(laneOf: (key: string) => string, perLane: number) {
  const waiting = new Map<string, string[]>() // a lane exists while it has keys; taken from in turn
  const busy = new Map<string, number>() // lane → how many of its keys are working
  const taken = new Map<string, string>() // key → lane
  return {
    add(key: string): void {
      const lane = laneOf(key)
      const keys = waiting.get(lane)
      if (keys) keys.push(key)
      else waiting.set(lane, [key])
    },
    /** The next key of a lane that may have one more worker. */
    take(): string | undefined {
      const lane = waiting.keys().find((name) => (busy.get(name) ?? 0) < perLane)
      if (lane === undefined) return undefined
      const keys = waiting.get(lane)!
      const key = keys.shift()
      waiting.delete(lane)
      if (keys.length > 0) waiting.set(lane, keys) // to the back: the next lane is next
      busy.set(lane, (busy.get(lane) ?? 0) + 1)
      if (key !== undefined) taken.set(key, lane)
      return key
    },
    done(key: string): void {
      const lane = taken.get(key) ?? ''
      taken.delete(key)
      const left = (busy.get(lane) ?? 0) - 1
      if (left > 0) busy.set(lane, left)
      else busy.delete(lane)
    },
  }
}

function namespaceOf(key: string): string {
  const slash = key.indexOf('/')
  return slash < 0 ? '' : key.slice(0, slash)
}
