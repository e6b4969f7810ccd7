/** The main thread's side: starts a thread, waits until it is ready, calls it, and hears when it dies. */
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
  /** What the thread counted, as Prometheus reads it. */
  metrics(): Promise<string>
  /** Resolves when the thread has time to answer; one that is busy with a single piece of work has none. */
  ping(): Promise<void>
  /** Rejects when the thread ends without being asked to; never resolves. */
  readonly death: Promise<never>
  /** Asks the thread to end. A thread that has not ended in time is ended, and this rejects. */
  close(): Promise<void>
  /** Ends the thread at once, whatever it is doing. */
  kill(): Promise<void>
}

/**
 * The API makes many short-lived objects and keeps few: a small young generation stays in the processor's cache and costs
 * a third of the memory of V8's own choice. Three halves of this many megabytes each. What may grow to less than 2 GB is
 * let grow in smaller steps; it holds requests, watches and the newest changes, and never its objects.
 */
export const API_THREAD_LIMITS = {
  maxYoungGenerationSizeMb: 12,
  maxOldGenerationSizeMb: 1536,
} as const satisfies ResourceLimits

/** How long a thread that is asked to end may take. */
export interface Closing {
  readonly clock: Pick<Clock, 'sleep'>
  readonly withinMs: number
}

const CLOSING: Closing = { clock: systemClock, withinMs: 8_000 }

/** Starts a thread and waits until it is ready. */
export async function startThread<N extends ThreadName>(
  name: N,
  init: ThreadProtocol[N]['init'],
  resourceLimits: ResourceLimits = {},
): Promise<Thread<N>> {
  // In a clone these are TypeScript files beside this one, built they are next to the bundle: the same folder and ending.
  const ending = extname(import.meta.filename)
  const folder = ending === '.ts' ? './' : './threads/'
  const file = new URL(`${folder}${name}-thread${ending}`, import.meta.url)
  return await superviseThread(name, new Worker(file, { name: `flotilla-${name}`, workerData: init, resourceLimits }))
}

/** Waits until a started worker is ready, and watches over it from then on. */
export async function superviseThread<N extends ThreadName>(
  name: N,
  worker: Worker,
  closing: Closing = CLOSING,
): Promise<Thread<N>> {
  type Ready = ThreadProtocol[N]['ready']
  type Answer = ThreadProtocol[N]['answer']
  const ready = Promise.withResolvers<Ready>()
  const death = Promise.withResolvers<never>()
  death.promise.catch(() => {}) // who cares races it
  const waiting = new Map<number, WaitingCall<Answer>>()
  const scrapes = new Map<number, PromiseWithResolvers<string>>()
  const pings = new Map<number, PromiseWithResolvers<void>>()
  const processes = new Set<number>()
  let nextId = 1
  let isClosing = false
  let cause: Error | undefined
  /** Set when the thread is no more: nothing that is said to it is heard. */
  let gone: Error | undefined

  const exited = new Promise<void>((resolve) => {
    worker.on('exit', (code) => {
      const error = (gone = new Error(
        `the ${name} thread ended${cause ? `: ${cause.message}` : ` with code ${code}`}`,
        {
          cause,
        },
      ))
      ready.reject(error)
      // First, so that who hears that a call failed knows that the thread is gone.
      if (!isClosing) death.reject(error)
      for (const call of [...waiting.values(), ...scrapes.values(), ...pings.values()]) call.reject(error)
      for (const calls of [waiting, scrapes, pings]) calls.clear()
      for (const group of processes) endGroup(group)
      resolve()
    })
  })
  worker.on('error', (error) => (cause = toError(error)))
  worker.on('message', (message: FromThread<N>) => {
    if (message.type === 'ready') return ready.resolve(message.value)
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
    const call = waiting.get(message.id)
    if (message.type === 'progress') return call?.onProgress(message.progress)
    const scrape = scrapes.get(message.id)
    waiting.delete(message.id)
    scrapes.delete(message.id)
    if (message.type === 'metrics') scrape?.resolve(message.text)
    else if (message.type === 'answer') call?.resolve(message.value)
    else (call ?? scrape)?.reject(new Error(message.message))
  })
  const post = (message: ToThread<N>): void => worker.postMessage(message) // oxlint-disable-line unicorn/require-post-message-target-origin -- that is for windows

  return {
    ready: await ready.promise,
    death: death.promise,
    call: (input, signal, onProgress = () => {}) =>
      new Promise<Answer>((resolve, reject) => {
        signal.throwIfAborted()
        if (gone) throw gone
        const id = nextId++
        const onAbort = (): void => {
          waiting.delete(id)
          post({ type: 'cancel', id })
          reject(toError(signal.reason))
        }
        const done = <T>(settle: (value: T) => void) => {
          return (value: T): void => {
            signal.removeEventListener('abort', onAbort)
            settle(value)
          }
        }
        waiting.set(id, { resolve: done(resolve), reject: done(reject), onProgress })
        signal.addEventListener('abort', onAbort, { once: true })
        post({ type: 'call', id, input })
      }),
    metrics: async () => {
      if (gone) throw gone
      const id = nextId++
      const scrape = Promise.withResolvers<string>()
      scrapes.set(id, scrape)
      post({ type: 'metrics', id })
      return await scrape.promise
    },
    ping: async () => {
      if (gone) throw gone
      const id = nextId++
      const ping = Promise.withResolvers<void>()
      pings.set(id, ping)
      post({ type: 'ping', id })
      return await ping.promise
    },
    close: async () => {
      isClosing = true
      post({ type: 'close' })
      const waiting = new AbortController()
      const late = closing.clock.sleep(closing.withinMs, waiting.signal).then(
        () => 'late' as const,
        () => 'waited enough' as const,
      )
      const first = await Promise.race([exited, late])
      waiting.abort()
      if (first !== 'late') return
      await worker.terminate()
      await exited
      throw new Error(`the ${name} thread did not close within ${closing.withinMs / 1000} s and was ended`)
    },
    kill: async () => {
      isClosing = true
      await worker.terminate()
      await exited
    },
  }
}

// What a thread started, it ends itself; this is for one that was ended in the middle.
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // gone already
  }
}

interface WaitingCall<Answer> {
  resolve(value: Answer): void
  reject(error: Error): void
  onProgress(progress: WorkProgress): void
}
