/**
 * Runs work in a thread under limits on time and memory. The caller passes the thread in:
 * what it uses up or breaks is itself alone, and it is always ended here.
 */
import type { Clock } from '../time/clock.ts'
import { toError } from '../errors.ts'

/** What the work may use. */
export interface WorkLimits {
  /** For each part of it. */
  readonly timeMs: number
  readonly memoryMiB: number
  /** How long a thread that does not stop by itself goes on. */
  readonly graceMs: number
}

/** How far it is. */
export interface WorkProgress {
  /** Where in the content, as a person finds it. */
  readonly place: string
  /** How many parts were begun. */
  readonly part: number
}

/** Work that was stopped. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
  readonly limit: 'time' | 'memory'
  /** Where it was. */
  readonly place: string
  readonly #what: string

  constructor(limit: 'time' | 'memory', { timeMs, memoryMiB }: WorkLimits, place: string) {
    const what =
      limit === 'time'
        ? `was not rendered within ${timeMs / 1000} s and was stopped`
        : `needs more than ${memoryMiB} MiB of memory and was stopped`
    super(`it ${what}; it was at ${place}`)
    this.limit = limit
    this.place = place
    this.#what = what
  }

  /** What happened, without the place. */
  about(subject: string): string {
    return `${subject} ${this.#what}`
  }

  /** All of it, and what to do. */
  sentence(subject: string): string {
    return `${this.about(subject)}; it was at ${this.place}: look at what is made there`
  }
}

/** What guarding needs. */
export interface WorkGuardOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly limits: WorkLimits
  /** Where it is before it says so. */
  readonly place: string
}

/** Watches over one piece of work. */
export function createWorkGuard({ clock, limits, place }: WorkGuardOptions) {
  const begun = Promise.withResolvers<void>()
  let progress: WorkProgress = { place, part: 0 }
  let since = 0

  async function isLate(signal: AbortSignal): Promise<'late'> {
    await begun.promise
    for (;;) {
      const left = since + limits.timeMs + limits.graceMs - clock.monotonicMs()
      if (left <= 0) return 'late'
      await clock.sleep(left, signal)
    }
  }

  /** The time counts from now on: from the moment a thread runs, however busy the machine is. */
  function begin(): void {
    since = clock.monotonicMs()
    begun.resolve()
  }

  return {
    begin,
    /** Hears how far it is; another part has its own time. */
    at(next: WorkProgress): void {
      if (next.part !== progress.part) since = clock.monotonicMs()
      progress = next
    },
    /** The answer of the work; throws LimitReached when there will be none. */
    async watch<T>(work: Promise<T>): Promise<T> {
      const done = new AbortController()
      const late = isLate(done.signal)
      late.catch(() => {}) // it is told to stop below
      work.catch(() => {}) // its thread may be ended before it answers
      try {
        const first = await Promise.race([work.then((value) => ({ value })), late])
        if (first !== 'late') return first.value
        throw new LimitReached('time', limits, progress.place)
      } catch (caught) {
        if (isOutOfMemory(caught)) throw new LimitReached('memory', limits, progress.place)
        throw caught
      } finally {
        done.abort()
      }
    },
  }
}

/** A thread, as far as it matters here. */
export interface WorkThread {
  on(event: 'message' | 'error' | 'exit', heard: (value: unknown) => void): unknown
  terminate(): Promise<unknown>
}

/** What every thread says of its own accord. */
export type WorkThreadMessage = { readonly type: 'started' } | { readonly type: 'at'; readonly place: string }

/** What is to be done in a thread that is there for this alone. */
export interface ThreadWork<Message, Answer> extends WorkGuardOptions {
  readonly thread: WorkThread
  /** Hears the rest of what it says. */
  readonly hear: (message: Message, end: Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'>) => void
  readonly signal?: AbortSignal
}

/** The answer of a thread, which is gone afterwards; throws LimitReached when it took too much. */
export async function runInThread<Message extends { readonly type: string }, Answer>(
  work: ThreadWork<Message, Answer>,
): Promise<Answer> {
  const { thread, hear, signal } = work
  const guard = createWorkGuard(work)
  const end = Promise.withResolvers<Answer>()
  thread.on('message', (heard) => {
    const message = heard as Message | WorkThreadMessage
    if (isOwn(message, 'started')) guard.begin()
    else if (isOwn(message, 'at')) guard.at({ place: message.place, part: 0 })
    else hear(message, end)
  })
  thread.on('error', (caught) => end.reject(toError(caught)))
  thread.on('exit', (code) => end.reject(new Error(`the thread that renders ended with code ${String(code)}`)))
  signal?.addEventListener('abort', () => end.reject(toError(signal.reason)), { once: true })
  try {
    return await guard.watch(end.promise)
  } finally {
    await thread.terminate()
  }
}

function isOwn<T extends WorkThreadMessage['type']>(
  message: { readonly type: string },
  type: T,
): message is Extract<WorkThreadMessage, { readonly type: T }> {
  return message.type === type
}

/** Whether a thread ended because it needed more memory than its limit. */
export function isOutOfMemory(caught: unknown): boolean {
  const [own, cause] = caught instanceof Error ? [caught, caught.cause] : []
  return [own, cause].some((error) => (error as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY')
}

// Often enough to find the place, too seldom to cost anything.
const TELL_EVERY_MS = 20

/**
 * The thread's own side: what an engine asks at every step, which tells where it is, and to stop when its time is over.
 */
export function createStepBudget(
  { clock, timeMs }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly timeMs: number },
  tell: (progress: WorkProgress) => void,
) {
  let part = 0
  let told = Number.NEGATIVE_INFINITY
  let isSpent = false
  /** For each part; what ran out of time in one of them gets none for the others. */
  return () => {
    part += 1
    const own = part
    const start = clock.monotonicMs()
    return (where: () => string, at: string): 'stop' | 'go on' => {
      const now = clock.monotonicMs()
      if ((at === 'file' && own === 1) || now - told > TELL_EVERY_MS) {
        told = now
        tell({ place: where(), part: own })
      }
      isSpent ||= now - start > timeMs
      return isSpent ? 'stop' : 'go on'
    }
  }
}
