/** The main thread's side of a thread: starts it, waits until it is ready, calls it, and reports its death. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { ResourceLimits } from 'node:worker_threads'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { WorkProgress } from '../../core/async/work-guard.ts'
import type { FromThread, ThreadName, ThreadProtocol, ToThread } from './messages.ts'

/** A thread that is ready. */
export interface Thread<N extends ThreadName> {
  readonly ready: ThreadProtocol[N]['ready']
  call(
    input: ThreadProtocol[N]['call'],
    signal: AbortSignal,
    onProgress?: (progress: WorkProgress) => void,
  ): Promise<ThreadProtocol[N]['answer']>
  /** The thread's metrics in the Prometheus text format. */
  metrics(): Promise<string>
  /** Resolves when the thread answers; a thread that is busy with synchronous work does not. */
  ping(): Promise<void>
  /** Rejects when the thread ends unasked; never resolves. */
  readonly death: Promise<never>
  /** Asks the thread to end. After the time limit the thread is terminated, and the promise rejects. */
  close(): Promise<void>
  /** Terminates the thread at once. */
  kill(): Promise<void>
}

/** Memory limits of the threads that serve requests. A thread that needs more ends, and is started again. */
export const THREAD_LIMITS = {
  /**
   * The API thread allocates many short-lived objects and keeps few. A small young generation (three semispaces of half
   * this size) stays in the processor's cache and needs a third of the memory of V8's default. V8 grows a heap with a
   * limit below 2 GB in smaller steps. The heap holds requests, watches and the newest changes, not the stored objects.
   */
  api: { maxYoungGenerationSizeMb: 12, maxOldGenerationSizeMb: 1536 },
  /** Streams and sessions of 10,000 agents. */
  gateway: { maxOldGenerationSizeMb: 1536 },
  /** A copy of the objects that rows are made of. */
  view: { maxOldGenerationSizeMb: 3072 },
} as const satisfies Partial<Record<ThreadName, ResourceLimits>>

/** Time limits of a thread's start and close. */
export interface ThreadTiming {
  readonly clock: Pick<Clock, 'sleep'>
  readonly closeMs: number
  /** Defaults to 5 minutes: the API thread may open a large database on a busy machine. */
  readonly readyMs?: number
}

const TIMING: ThreadTiming = { clock: systemClock, closeMs: 8_000 }
const READY_MS = 300_000

/** Starts a thread and waits until it is ready. */
export async function startThread<N extends ThreadName>(
  name: N,
  init: ThreadProtocol[N]['init'],
  resourceLimits: ResourceLimits = {},
): Promise<Thread<N>> {
  // In a clone the threads are TypeScript files beside this file; in a build they are next to the bundle.
  const ending = extname(import.meta.filename)
  const folder = ending === '.ts' ? './' : './threads/'
  const file = new URL(`${folder}${name}-thread${ending}`, import.meta.url)
  return await superviseThread(name, new Worker(file, { name: `flotilla-${name}`, workerData: init, resourceLimits }))
}

/** Waits until a started worker is ready, and reports its death from then on. */
export async function superviseThread<N extends ThreadName>(
  name: N,
  worker: Worker,
  { clock, closeMs, readyMs = READY_MS }: ThreadTiming = TIMING,
): Promise<Thread<N>> {
  type Answer = ThreadProtocol[N]['answer']
  const ready = Promise.withResolvers<ThreadProtocol[N]['ready']>()
  const death = Promise.withResolvers<never>()
  death.promise.catch(() => {}) // callers race it
  const pending = createPending<N>(ready.resolve)
  let nextId = 1
  let isClosing = false
  let cause: Error | undefined
  /** Set when the thread has ended: it receives no further message. */
  let gone: Error | undefined

  const exited = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      const error = (gone = deathError(name, code, cause))
      ready.reject(error)
      // First, so that a caller whose call fails finds the thread dead.
      if (!isClosing) death.reject(error)
      pending.fail(error)
      resolve()
    })
  })
  worker.on('error', (error) => (cause = toError(error)))
  worker.on('message', pending.receive)
  const post = (message: ToThread<N>): void => worker.postMessage(message) // oxlint-disable-line unicorn/require-post-message-target-origin -- that is for windows

  function call(
    input: ThreadProtocol[N]['call'],
    signal: AbortSignal,
    onProgress: WaitingCall<Answer>['onProgress'] = () => {},
  ): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      signal.throwIfAborted()
      if (gone) throw gone
      const id = nextId++
      const onAbort = (): void => {
        pending.calls.delete(id)
        post({ type: 'cancel', id })
        reject(toError(signal.reason))
      }
      const done = <T>(settle: (value: T) => void) => {
        return (value: T): void => {
          signal.removeEventListener('abort', onAbort)
          settle(value)
        }
      }
      pending.calls.set(id, { resolve: done(resolve), reject: done(reject), onProgress })
      signal.addEventListener('abort', onAbort, { once: true })
      post({ type: 'call', id, input })
    })
  }

  async function ask<T>(type: 'metrics' | 'ping', waiting: Map<number, PromiseWithResolvers<T>>): Promise<T> {
    if (gone) throw gone
    const id = nextId++
    const asked = Promise.withResolvers<T>()
    waiting.set(id, asked)
    post({ type, id })
    return await asked.promise
  }

  const started = new AbortController()
  const endLate = async (): Promise<void> => {
    await clock.sleep(readyMs, started.signal)
    cause = new Error(`the thread was not ready within ${readyMs / 1000} s and was ended`)
    await worker.terminate()
  }
  endLate().catch(() => {}) // the thread is ready, or has ended
  return {
    ready: await ready.promise.finally(() => started.abort()),
    death: death.promise,
    call,
    metrics: () => ask('metrics', pending.scrapes),
    ping: () => ask('ping', pending.pings),
    close: async () => {
      isClosing = true
      post({ type: 'close' })
      const waiting = new AbortController()
      const late = clock.sleep(closeMs, waiting.signal).then(
        () => 'late' as const,
        () => 'waited enough' as const,
      )
      const first = await Promise.race([exited, late])
      waiting.abort()
      if (first !== 'late') return
      await worker.terminate()
      await exited
      throw new Error(`the ${name} thread did not close within ${closeMs / 1000} s and was ended`)
    },
    kill: async () => {
      isClosing = true
      await worker.terminate()
      await exited
    },
  }
}

/** The questions to a thread that it has not answered, and the process groups that it has started. */
function createPending<N extends ThreadName>(onReady: (value: ThreadProtocol[N]['ready']) => void) {
  const calls = new Map<number, WaitingCall<ThreadProtocol[N]['answer']>>()
  const scrapes = new Map<number, PromiseWithResolvers<string>>()
  const pings = new Map<number, PromiseWithResolvers<void>>()
  const processes = new Set<number>()
  return {
    calls,
    scrapes,
    pings,
    receive(message: FromThread<N>): void {
      if (message.type === 'ready') return onReady(message.value)
      if (message.type === 'process') {
        if (message.isRunning) processes.add(message.group)
        else processes.delete(message.group)
        return
      }
      if (message.type === 'pong') {
        pings.get(message.id)?.resolve()
        pings.delete(message.id)
        return
      }
      const call = calls.get(message.id)
      if (message.type === 'progress') return call?.onProgress(message.progress)
      const scrape = scrapes.get(message.id)
      calls.delete(message.id)
      scrapes.delete(message.id)
      if (message.type === 'metrics') scrape?.resolve(message.text)
      else if (message.type === 'answer') call?.resolve(message.value)
      else (call ?? scrape)?.reject(new Error(message.message))
    },
    /** The thread has ended: rejects all questions and ends its processes. */
    fail(error: Error): void {
      for (const { reject } of [...calls.values(), ...scrapes.values(), ...pings.values()]) reject(error)
      for (const asked of [calls, scrapes, pings]) asked.clear()
      for (const group of processes) endGroup(group)
    },
  }
}

/**
 * A listener's error, like an address in use, names its address and stays as it is; the thread adds nothing to it.
 */
function deathError(name: ThreadName, code: number, cause: Error | undefined): Error {
  if (cause && 'syscall' in cause && cause.syscall === 'listen') return cause
  return new Error(`the ${name} thread ended${cause ? `: ${cause.message}` : ` with code ${code}`}`, { cause })
}

// A thread ends its processes itself; this is for a thread that was terminated.
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // the group has already ended
  }
}

interface WaitingCall<Answer> {
  resolve(value: Answer): void
  reject(error: Error): void
  onProgress(progress: WorkProgress): void
}
