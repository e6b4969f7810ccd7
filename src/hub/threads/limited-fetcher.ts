/**
 * The source thread with limits. All fetches share one thread. Content that keeps this thread busy stops all of them,
 * and the hub cannot tell which fetch caused it. The guard therefore ends the thread and reports each fetch as
 * interrupted. A fetch that is tried again alone has its own thread, so a second stop is its own fault.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FetchSourcePort } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { createWorkGuard, LimitReached } from '../../core/async/work-guard.ts'
import type { Logger } from '../../core/log.ts'
import { FETCH_STOPPED } from '../../source/fetch-request.ts'
import type { FetchFailure, FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import { fetchTimeoutMs } from '../../source/fetch-timeout.ts'
import { isAnswering } from './heartbeat.ts'
import { causeOfDeath } from './part-records.ts'
import type { SourceInit } from './messages.ts'
import type { Supervisor } from './supervisor.ts'
import { startThread } from './thread.ts'
import type { Thread } from './thread.ts'

export interface FetchLimits {
  /** Time after spec.timeout until the thread of a fetch is ended; longer than `sharedSilenceMs`. */
  readonly marginMs: number
  /** Time for which the shared thread may be too busy to answer. */
  readonly sharedSilenceMs: number
  /** Time for which the thread of a single fetch may be too busy to answer; far above what real content needs. */
  readonly ownSilenceMs: number
  readonly memoryMiB: number
}

export const FETCH_LIMITS: FetchLimits = {
  marginMs: 20_000,
  sharedSilenceMs: 10_000,
  ownSilenceMs: 60_000,
  memoryMiB: 2048,
}

export interface LimitedFetcher {
  readonly fetch: FetchSourcePort
  close(): Promise<void>
}

/** Starts a thread with its own folders. */
export type StartSourceThread = (init: SourceInit, memoryMiB: number) => Promise<Thread<'source'>>

export interface LimitedFetcherOptions {
  readonly init: SourceInit
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly ids: Pick<Ids, 'suffix'>
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: FetchLimits
  readonly start?: StartSourceThread
  /** Hears of each thread that ended because of its work. */
  readonly noteEnd?: Supervisor['noteEnd']
}

/** A thread and its state. */
interface Running {
  readonly thread: Thread<'source'>
  readonly silenceMs: number
  fetches: number
  isWatched: boolean
  /** Why the thread ended. */
  end: 'silent' | 'late' | 'died' | undefined
}

/** The folder with one subfolder for each thread that fetches a single source. */
const ALONE = 'alone'

const PING_EVERY_MS = 2_000

const startSourceThread: StartSourceThread = (init, memoryMiB) =>
  startThread('source', init, { maxOldGenerationSizeMb: memoryMiB })

/** Starts the shared thread. A hub that cannot start it does not start. */
export async function startFetcher(options: LimitedFetcherOptions): Promise<LimitedFetcher> {
  const { init, clock, ids, log, limits = FETCH_LIMITS, start = startSourceThread, noteEnd } = options
  const closing = new AbortController()
  const alone = new Set<Running>()
  let shared: Promise<Running> | undefined
  let current: Running | undefined
  /** A shared thread starts when the thread before it has ended: both use the same folder. */
  let before: Promise<void> = Promise.resolve()

  async function run(own: SourceInit, silenceMs: number): Promise<Running> {
    const thread = await start(own, limits.memoryMiB)
    const running: Running = { thread, silenceMs, fetches: 0, isWatched: false, end: undefined }
    thread.death.catch(() => (running.end ??= 'died'))
    return running
  }

  async function startShared(): Promise<Running> {
    await before
    closing.signal.throwIfAborted()
    const running = (current = await run(init, limits.sharedSilenceMs))
    running.thread.death.catch((caught: unknown) => endShared(running, 'died', toError(caught)))
    return running
  }

  function sharedThread(): Promise<Running> {
    if (shared) return shared
    const starting = startShared()
    starting.catch(() => {
      if (shared === starting) shared = undefined // the next fetch tries again
    })
    return (shared = starting)
  }

  async function endShared(running: Running, why: NonNullable<Running['end']>, died?: Error): Promise<void> {
    if (closing.signal.aborted || current !== running) return
    current = undefined
    shared = undefined
    log.warn({ fetches: running.fetches, why }, 'the source thread was ended; its fetches are retried one by one')
    tellEnd(why, died)
    before = endThread(running, why)
    await before
  }

  function tellEnd(why: NonNullable<Running['end']>, died?: Error): void {
    if (died) return noteEnd?.({ name: 'source', cause: causeOfDeath(died), error: died })
    const what = why === 'late' ? 'a fetch did not end in time' : 'the source thread did not answer'
    noteEnd?.({ name: 'source', cause: 'silent', error: new Error(`${what}, and the hub ended the thread`) })
  }

  async function fetchIn(
    running: Running,
    { request, signal, endIt }: { request: FetchRequest; signal: AbortSignal; endIt: typeof endThread },
  ): Promise<FetchOutcome> {
    const { marginMs: graceMs, memoryMiB } = limits
    const timeMs = fetchTimeoutMs(request.spec)
    const guard = createWorkGuard({ clock, limits: { timeMs, graceMs, memoryMiB }, place: 'the fetch' })
    guard.begin()
    running.fetches += 1
    try {
      const work = running.thread.call(request, signal)
      void watchThread(running, endIt, { clock, closing: closing.signal })
      return await guard.watch(work)
    } catch (caught) {
      if (caught instanceof LimitReached && caught.limit === 'time') await endIt(running, 'late')
      throw caught
    } finally {
      running.fetches -= 1
    }
  }

  async function fetchShared(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    const running = await sharedThread()
    try {
      return await fetchIn(running, { request, signal, endIt: endShared })
    } catch (caught) {
      if (signal.aborted || closing.signal.aborted || running.end === undefined) throw caught
      return { kind: 'Interrupted' }
    }
  }

  async function fetchAlone(request: FetchRequest, signal: AbortSignal): Promise<FetchOutcome> {
    const folder = join(init.folder, ALONE, ids.suffix(10))
    const git = { ...init.git, home: join(folder, 'home') }
    const running = await run({ ...init, folder, git }, limits.ownSilenceMs)
    alone.add(running)
    try {
      closing.signal.throwIfAborted()
      return await fetchIn(running, { request, signal, endIt: endThread })
    } catch (caught) {
      if (signal.aborted || closing.signal.aborted || running.end === undefined) throw caught
      tellEnd(running.end, running.end === 'died' ? await deathOf(running.thread) : undefined)
      return stoppedFetch(request, { why: running.end, caught: toError(caught), limits })
    } finally {
      alone.delete(running)
      await running.thread.kill()
      // Processes of the ended thread may still be writing.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch((caught: unknown) =>
        log.warn({ err: toError(caught), folder }, 'the folder of a fetch could not be removed'),
      )
    }
  }

  // Folders of a hub that was killed; no fetch runs yet.
  await rm(join(init.folder, ALONE), { recursive: true, force: true })
  await sharedThread()
  return {
    fetch: async (request, signal) => {
      closing.signal.throwIfAborted()
      return await (request.isAlone ? fetchAlone : fetchShared)(request, signal)
    },
    close: async () => {
      closing.abort(new Error('the hub is closing'))
      const running = await shared?.catch(() => undefined)
      await Promise.all([running?.thread.close(), ...[...alone].map(({ thread }) => thread.kill())])
      await before
    },
  }
}

async function endThread(running: Running, why: NonNullable<Running['end']>): Promise<void> {
  running.end ??= why
  await running.thread.kill()
}

async function deathOf({ death }: Thread<'source'>): Promise<Error> {
  return await death.catch(toError)
}

type SleepClock = Pick<Clock, 'sleep'>

/** Pings a thread while it fetches, and once more after that: a cancelled fetch may still keep the thread busy. */
async function watchThread(
  running: Running,
  end: typeof endThread,
  { clock, closing }: { readonly clock: SleepClock; readonly closing: AbortSignal },
): Promise<void> {
  if (running.isWatched) return
  running.isWatched = true
  for (let wasBusy = true; wasBusy || running.fetches > 0;) {
    wasBusy = running.fetches > 0
    if (!(await isAnswering(running.thread, { clock, silenceMs: running.silenceMs }))) await end(running, 'silent')
    if (running.end !== undefined || closing.aborted) return
    await clock.sleep(PING_EVERY_MS, closing).catch(() => {}) // the hub closes
  }
  running.isWatched = false
}

function stoppedFetch(
  request: FetchRequest,
  { why, caught, limits }: { why: NonNullable<Running['end']>; caught: Error; limits: FetchLimits },
): FetchFailure {
  const seconds = (fetchTimeoutMs(request.spec) + limits.marginMs) / 1000
  const because = {
    silent: `its content kept a thread of the hub busy for ${limits.ownSilenceMs / 1000} s`,
    late: `it did not end within ${seconds} s, which is spec.timeout and ${limits.marginMs / 1000} s more`,
    died:
      caught instanceof LimitReached
        ? `it needed more than ${limits.memoryMiB} MiB of memory`
        : `it ended the thread that ran it (${caught.message})`,
  }[why]
  const message = `The hub stopped the fetch because ${because}. Check what the address in spec serves. Until a fetch succeeds, the hub fetches this source apart from the others, and less often.`
  return { kind: 'Failed', reason: FETCH_STOPPED, message, retry: true }
}
