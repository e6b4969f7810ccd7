import { ApiError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'

/**
 * Seats for requests, so that no class of callers starves another: each class has seats of its own, and within a class
 * the callers that wait take turns. The ServiceAccounts of one tenant wait in one line. When too many requests wait,
 * the longest line is told to come back, so that a caller at the limit refuses itself. A watch holds its seat only
 * until it has begun.
 */

/** The classes of callers. */
export type CallerClass = 'gateway' | 'controllers' | 'people'

/** How much of a class is let in. */
export interface ClassLimit {
  /** Requests served at once. */
  readonly seats: number
  /** Maximum number of waiting requests; beyond it, requests of the longest line are answered 429. */
  readonly waiting: number
}

/** Limits per class. */
export type FairLimits = Readonly<Record<CallerClass, ClassLimit>>

/** Limits of each class in a process. */
export const FAIR_LIMITS: FairLimits = {
  gateway: { seats: 200, waiting: 4_000 },
  controllers: { seats: 200, waiting: 2_000 },
  people: { seats: 200, waiting: 1_000 },
}

const RETRY_AFTER_SECONDS = 1

/** The class of a caller. With impersonation, the real user decides, not the impersonated user. */
export function callerClass({ user, impersonator }: Caller): CallerClass {
  const real = impersonator ?? user
  if (real === 'system:flotilla:gateway') return 'gateway'
  return real.startsWith('system:flotilla:') ? 'controllers' : 'people'
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):/

/** The line that a caller waits in: the tenant of a ServiceAccount, or the user. */
function lineOf({ user, impersonator }: Caller, tenantOf: TenantOf): string {
  const real = impersonator ?? user
  const namespace = SERVICE_ACCOUNT.exec(real)?.[1]
  return namespace === undefined ? `user ${real}` : `tenant ${tenantOf(namespace)}`
}

/** The tenant of a namespace. */
export type TenantOf = (namespace: string) => string

/** Seats for requests. */
export interface FairQueue {
  /** Runs the work when there is a seat; 429 when too many wait already. */
  run<T>(caller: Caller, signal: AbortSignal, work: () => Promise<T>): Promise<T>
}

/** A queue with these limits. */
export function createFairQueue(
  limits: FairLimits = FAIR_LIMITS,
  tenantOf: TenantOf = (namespace) => namespace,
): FairQueue {
  const classes = {
    gateway: createSeats(limits.gateway),
    controllers: createSeats(limits.controllers),
    people: createSeats(limits.people),
  }
  return {
    async run(caller, signal, work) {
      const seats = classes[callerClass(caller)]
      await seats.take(lineOf(caller, tenantOf), signal)
      try {
        return await work()
      } finally {
        seats.leave()
      }
    },
  }
}

interface Waiter {
  readonly seated: () => void
  readonly refused: () => void
}

function tooMany(): ApiError {
  const message = 'too many requests, please try again later'
  return new ApiError('TooManyRequests', message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

function createSeats({ seats, waiting }: ClassLimit) {
  // The order of this map is the order of turns.
  const lines = new Map<string, Set<Waiter>>()
  let taken = 0
  let count = 0

  function forget(name: string, waiter: Waiter): void {
    const line = lines.get(name)
    if (!line?.delete(waiter)) return
    count -= 1
    if (line.size === 0) lines.delete(name)
  }

  /** Refuses the newest request of the longest line; false when no line is longer than this one. */
  function makeRoom(name: string): boolean {
    let longest: readonly [string, Set<Waiter>] | undefined
    for (const entry of lines) if (!longest || entry[1].size > longest[1].size) longest = entry
    if (!longest || longest[1].size <= (lines.get(name)?.size ?? 0) + 1) return false
    const newest = [...longest[1]].at(-1)!
    forget(longest[0], newest)
    newest.refused()
    return true
  }

  return {
    async take(name: string, signal: AbortSignal): Promise<void> {
      if (taken < seats) {
        taken += 1
        return
      }
      if (count >= waiting && !makeRoom(name)) throw tooMany()
      const turn = Promise.withResolvers<void>()
      const waiter: Waiter = { seated: () => turn.resolve(), refused: () => turn.reject(tooMany()) }
      const line = lines.get(name) ?? new Set()
      lines.set(name, line.add(waiter))
      count += 1
      const gone = () => {
        forget(name, waiter)
        turn.reject(new ApiError('Timeout', 'the client disconnected while its request was queued'))
      }
      signal.addEventListener('abort', gone, { once: true })
      try {
        if (signal.aborted) gone()
        await turn.promise
      } finally {
        signal.removeEventListener('abort', gone)
      }
    },
    leave(): void {
      const next = lines.entries().next().value
      if (!next) {
        taken -= 1
        return
      }
      // The seat is passed on; the caller's line moves to the end.
      const [name, line] = next
      const waiter: Waiter = line.values().next().value!
      forget(name, waiter)
      if (line.size > 0) {
        lines.delete(name)
        lines.set(name, line)
      }
      waiter.seated()
    },
  }
}
