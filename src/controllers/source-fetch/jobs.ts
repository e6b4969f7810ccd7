/** Fetches in the background: a few at a time, fewer per host, at most one per source; suspects apart from the others. */
import type { Clock } from '../../core/time/clock.ts'
import { untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { FETCH_STOPPED } from '../../source/fetch-request.ts'
import type { FetchOutcome } from '../../source/fetch-request.ts'

/** What a finished fetch says. */
export interface FinishedFetch {
  readonly outcome: FetchOutcome
  /** What it was begun for; an edit meanwhile makes it old news. */
  readonly wanted: string
  readonly ms: number
}

/** One fetch to run. */
export interface FetchJob {
  readonly key: string
  /** Whoever is asked; jobs of one host wait for each other. */
  readonly host: string
  readonly wanted: string
  /** Few jobs of one namespace run alone at once. */
  readonly namespace: string
  /** Fetched apart from all others; these jobs take no place of the others. */
  readonly isAlone: boolean
  work(signal: AbortSignal): Promise<FetchOutcome>
}

/** The fetches of all sources. */
export interface FetchJobs {
  begin(job: FetchJob): void
  isRunning(key: string): boolean
  /** Takes what finished; each outcome is given once. */
  take(key: string): FinishedFetch | undefined
  /** When to ask again, in milliseconds from now; 0: now. */
  dueInMs(key: string): number
  /** Notes when to ask again, and for what the source was asked. */
  schedule(key: string, wanted: string, ms: number): void
  /** For what the source was asked last. */
  lastWanted(key: string): string | undefined
  /** How many fetches failed in a row. */
  failures(key: string): number
  /** Whether the source was being fetched when the thread of all fetches had to be ended, and has not been cleared since. */
  isSuspect(key: string): boolean
  forget(key: string): void
  close(): Promise<void>
}

interface Note {
  readonly wanted: string
  readonly dueAt: number
}

/** A source that may have ended the thread of all. */
interface Suspicion {
  /** How many fetches alone must succeed in a row before it is fetched with the others again. */
  readonly left: number
  /** How many that were when it was suspected last; twice as many the next time. */
  readonly of: number
}

/** How many at once; those that run alone count for themselves. Two of a namespace: a suspect need not wait for the one that did it. */
const JOB_LIMITS = { total: 12, perHost: 3, alone: 4, alonePerNamespace: 2 } as const
// A server that misbehaves only now and then is with the others ever more seldom.
const MAX_SUSPICION = 64

/** Makes the jobs; `onDone` hears each source whose fetch finished. */
export function createFetchJobs(clock: Clock, onDone: (key: string) => void): FetchJobs {
  const closing = new AbortController()
  const running = new Map<string, { readonly job: FetchJob; readonly ended: Promise<void> }>()
  const waiting = new Map<string, FetchJob>()
  const finished = new Map<string, FinishedFetch>()
  const notes = new Map<string, Note>()
  const failures = new Map<string, number>()
  const suspicions = new Map<string, Suspicion>()

  function pump(): void {
    for (const [key, job] of waiting) {
      if (!hasPlace(job)) continue
      waiting.delete(key)
      running.set(key, { job, ended: run(job) })
    }
  }

  function hasPlace({ isAlone, namespace, host }: FetchJob): boolean {
    const beside = [...running.values()].flatMap(({ job }) => (job.isAlone === isAlone ? [job] : []))
    if (isAlone) {
      const sameNamespace = beside.filter((job) => job.namespace === namespace).length
      return beside.length < JOB_LIMITS.alone && sameNamespace < JOB_LIMITS.alonePerNamespace
    }
    const sameHost = beside.filter((job) => job.host === host).length
    return beside.length < JOB_LIMITS.total && sameHost < JOB_LIMITS.perHost
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
    // A fetch that does not hear that it should stop keeps nobody waiting.
    const outcome = await untilAborted(work(closing.signal), closing.signal).catch((caught: unknown): FetchOutcome => ({
      kind: 'Failed',
      reason: 'FetchFailed',
      message: `The source could not be fetched: ${toError(caught).message}`,
      retry: true,
    }))
    running.delete(key)
    if (closing.signal.aborted) return
    suspect(key, outcome)
    // One that was interrupted has not been tried yet.
    if (outcome.kind !== 'Interrupted') failures.set(key, outcome.kind === 'Failed' ? (failures.get(key) ?? 0) + 1 : 0)
    finished.set(key, { outcome, wanted, ms: Math.round(clock.monotonicMs() - began) })
    onDone(key)
    pump()
  }

  return {
    begin: (job) => {
      if (running.has(job.key) || closing.signal.aborted) return
      waiting.set(job.key, job)
      // After the caller's own step: a job that ends at once must not finish before it was begun.
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
