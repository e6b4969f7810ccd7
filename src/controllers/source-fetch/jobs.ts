/**
 * Fetches in the background: a few at the same time, fewer per host, and one per Source; suspects run apart from all
 * other fetches.
 */
import type { Clock } from '../../core/time/clock.ts'
import { untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { FETCH_STOPPED } from '../../source/fetch-request.ts'
import type { FetchOutcome } from '../../source/fetch-request.ts'

/** The result of a fetch. */
export interface FinishedFetch {
  readonly outcome: FetchOutcome
  /** The request that the fetch was started for; after an edit of the Source the result is outdated. */
  readonly wanted: string
  readonly ms: number
}

/** A fetch to run. */
export interface FetchJob {
  readonly key: string
  /** The server; the number of fetches per host is limited. */
  readonly host: string
  readonly wanted: string
  /** The number of fetches of a tenant is limited, and tenants take turns. */
  readonly tenant: string
  /** Whether the fetch runs apart from all other fetches, with limits of its own. */
  readonly isAlone: boolean
  work(signal: AbortSignal): Promise<FetchOutcome>
}

/** The fetches of all Sources. */
export interface FetchJobs {
  begin(job: FetchJob): void
  isRunning(key: string): boolean
  /** Returns the result of a finished fetch, once. */
  take(key: string): FinishedFetch | undefined
  /** Milliseconds until the next fetch; 0 means now. */
  dueInMs(key: string): number
  /** Records the time of the next fetch, and the request of the last fetch. */
  schedule(key: string, wanted: string, ms: number): void
  /** The request of the last fetch. */
  lastWanted(key: string): string | undefined
  /** The number of fetches in a row that failed. */
  failures(key: string): number
  /**
   * Whether the Source was being fetched when the shared fetch thread had to be stopped, and has not been cleared
   * since.
   */
  isSuspect(key: string): boolean
  forget(key: string): void
  close(): Promise<void>
}

interface Note {
  readonly wanted: string
  readonly dueAt: number
}

/** A Source that may have stopped the shared fetch thread. */
interface Suspicion {
  /**
   * The number of fetches alone that must still succeed in a row before the Source is fetched with other Sources again.
   */
  readonly left: number
  /** The full number at the last suspicion; twice this number at the next. */
  readonly of: number
}

/**
 * Limits of fetches at the same time; fetches alone have their own. Two per tenant: an innocent suspect need not
 * wait for the Source that stopped the thread.
 */
const JOB_LIMITS = { total: 12, perTenant: 8, perHost: 4, perHostOfTenant: 3, alone: 4, alonePerTenant: 2 } as const
// A server that fails rarely is fetched alone for longer each time.
const MAX_SUSPICION = 64

/** Creates the jobs; `onDone` is called with each Source whose fetch finished. */
export function createFetchJobs(clock: Clock, onDone: (key: string) => void): FetchJobs {
  const closing = new AbortController()
  const running = new Map<string, { readonly job: FetchJob; readonly ended: Promise<void> }>()
  const waiting = new Map<string, FetchJob>()
  const finished = new Map<string, FinishedFetch>()
  const notes = new Map<string, Note>()
  const failures = new Map<string, number>()
  const suspicions = new Map<string, Suspicion>()

  function pump(): void {
    for (let job = nextJob(); job; job = nextJob()) {
      const { key } = job
      waiting.delete(key)
      running.set(key, { job, ended: run(job) })
    }
  }

  /** A job of the tenant with the fewest running fetches: many Sources of one tenant do not delay the others. */
  function nextJob(): FetchJob | undefined {
    if (running.size >= JOB_LIMITS.total + JOB_LIMITS.alone) return undefined
    const counts = new Map<string, number>()
    for (const { job } of running.values()) counts.set(job.tenant, (counts.get(job.tenant) ?? 0) + 1)
    let [best, fewest]: [FetchJob | undefined, number] = [undefined, Infinity]
    for (const job of waiting.values()) {
      const count = counts.get(job.tenant) ?? 0
      if (count >= fewest || !hasPlace(job)) continue
      ;[best, fewest] = [job, count]
      if (count === 0) break
    }
    return best
  }

  function hasPlace({ isAlone, tenant, host }: FetchJob): boolean {
    const beside = [...running.values()].flatMap(({ job }) => (job.isAlone === isAlone ? [job] : []))
    const sameTenant = beside.filter((job) => job.tenant === tenant).length
    if (isAlone) {
      return beside.length < JOB_LIMITS.alone && sameTenant < JOB_LIMITS.alonePerTenant
    }
    const sameHost = beside.filter((job) => job.host === host)
    const isBelow = beside.length < JOB_LIMITS.total && sameTenant < JOB_LIMITS.perTenant
    // A tenant whose fetches from a server are slow leaves a place at that server to the others.
    const ofTenant = sameHost.filter((job) => job.tenant === tenant).length
    return isBelow && sameHost.length < JOB_LIMITS.perHost && ofTenant < JOB_LIMITS.perHostOfTenant
  }

  function suspect(key: string, outcome: FetchOutcome): void {
    const { left, of } = suspicions.get(key) ?? { left: 0, of: 0 }
    if (outcome.kind === 'Interrupted') {
      const next = Math.min(MAX_SUSPICION, Math.max(1, of * 2))
      suspicions.set(key, { left: next, of: next })
    } else if (outcome.kind === 'Failed' && outcome.reason === FETCH_STOPPED)
      suspicions.set(key, { left: Math.max(1, of), of: Math.max(1, of) })
    else if (left > 0) suspicions.set(key, { left: left - 1, of })
  }

  async function run({ key, wanted, work }: FetchJob): Promise<void> {
    const began = clock.monotonicMs()
    // A fetch that ignores its signal does not delay the stop.
    const outcome = await untilAborted(work(closing.signal), closing.signal).catch((caught: unknown): FetchOutcome => ({
      kind: 'Failed',
      reason: 'FetchFailed',
      message: `The source could not be fetched: ${toError(caught).message}`,
      retry: true,
    }))
    running.delete(key)
    if (closing.signal.aborted) return
    suspect(key, outcome)
    // An interrupted fetch does not count as a try.
    if (outcome.kind !== 'Interrupted') failures.set(key, outcome.kind === 'Failed' ? (failures.get(key) ?? 0) + 1 : 0)
    finished.set(key, { outcome, wanted, ms: Math.round(clock.monotonicMs() - began) })
    onDone(key)
    pump()
  }

  return {
    begin: (job) => {
      if (running.has(job.key) || closing.signal.aborted) return
      waiting.set(job.key, job)
      // In a later step: an immediate result must not arrive before the job is recorded.
      queueMicrotask(pump)
    },
    isRunning: (key) => running.has(key) || waiting.has(key),
    take: (key) => {
      const found = finished.get(key)
      finished.delete(key)
      return found
    },
    dueInMs: (key) => Math.max(0, (notes.get(key)?.dueAt ?? 0) - clock.monotonicMs()),
    schedule: (key, wanted, ms) => void notes.set(key, { wanted, dueAt: clock.monotonicMs() + ms }),
    lastWanted: (key) => notes.get(key)?.wanted,
    failures: (key) => failures.get(key) ?? 0,
    isSuspect: (key) => (suspicions.get(key)?.left ?? 0) > 0,
    forget: (key) => {
      for (const map of [waiting, finished, notes, failures, suspicions]) map.delete(key)
    },
    close: async () => {
      closing.abort(new Error('the hub is stopping'))
      waiting.clear()
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}
