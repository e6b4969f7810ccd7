/** Fetches in the background: a few at a time, fewer per host, at most one per source. */
import type { Clock } from '../../core/clock.ts'
import { untilAborted } from '../../core/deadline.ts'
import { toError } from '../../core/errors.ts'
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
  forget(key: string): void
  close(): Promise<void>
}

interface Note {
  readonly wanted: string
  readonly dueAt: number
}

/** How many at once. */
export const JOB_LIMITS = { total: 12, perHost: 3 } as const

/** Makes the jobs; `onDone` hears each source whose fetch finished. */
export function createFetchJobs(clock: Clock, onDone: (key: string) => void): FetchJobs {
  const closing = new AbortController()
  const running = new Map<string, { readonly host: string; readonly ended: Promise<void> }>()
  const waiting = new Map<string, FetchJob>()
  const finished = new Map<string, FinishedFetch>()
  const notes = new Map<string, Note>()
  const failures = new Map<string, number>()

  function pump(): void {
    for (const [key, job] of waiting) {
      if (running.size >= JOB_LIMITS.total) return
      const sameHost = [...running.values()].filter(({ host }) => host === job.host).length
      if (sameHost >= JOB_LIMITS.perHost) continue
      waiting.delete(key)
      running.set(key, { host: job.host, ended: run(job) })
    }
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
    failures.set(key, outcome.kind === 'Failed' ? (failures.get(key) ?? 0) + 1 : 0)
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
    forget: (key) => {
      for (const map of [waiting, finished, notes, failures]) map.delete(key)
    },
    close: async () => {
      closing.abort(new Error('the hub is stopping'))
      waiting.clear()
      await Promise.all([...running.values()].map(({ ended }) => ended))
    },
  }
}
