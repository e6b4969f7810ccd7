/**
 * Keeps the parts of a hub running: its threads, and the loops of the main thread. A part that ends, or a thread that
 * no longer answers, is ended and started again after a growing pause. The supervisor never gives up: a part that ends
 * again and again is tried once a minute, and the hub is not ready meanwhile.
 *
 *     Running ──ends, or does not answer──▶ Down ──pause, start──▶ Running
 *                                            ▲                       │ three ends without a minute in between
 *                                            └────── Unstable ◀──────┘
 */
import { untilAborted } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import type { HubPorts } from '../ports.ts'
import { isAnswering } from './heartbeat.ts'
import type { ThreadName, ThreadProtocol } from './messages.ts'
import { causeOfDeath, createPartRecords } from './part-records.ts'
import type { PartEnd, PartRecords } from './part-records.ts'
import type { Thread } from './thread.ts'

/** A thread that is started again when it ends. */
export interface KeptThread<N extends ThreadName> {
  /** What the first thread said. Later threads listen on the same address. */
  readonly ready: ThreadProtocol[N]['ready']
  /** Gives the thread new settings. A thread that starts later gets them, too. */
  tell(settings: ThreadProtocol[N]['call'], signal: AbortSignal): Promise<void>
  /** Asks the thread that runs now; nothing is done without one. */
  ask(input: ThreadProtocol[N]['call'], signal: AbortSignal): Promise<void>
  /** The metrics of the thread; undefined while it does not run. */
  metrics(): Promise<string> | undefined
  close(): Promise<void>
}

export interface KeepThreadOptions<N extends ThreadName> {
  /** Starts a thread with the newest settings; `first` is what the first thread said. */
  readonly start: (
    settings: ThreadProtocol[N]['call'] | undefined,
    first: ThreadProtocol[N]['ready'] | undefined,
  ) => Promise<Thread<N>>
  /** Time for which the thread may be too busy to answer. Defaults to 30 s. */
  readonly silenceMs?: number
}

export interface Supervisor extends Pick<PartRecords, 'health' | 'onChange' | 'onEnd' | 'noteEnd' | 'keepLoop'> {
  /** Starts a thread and keeps it running. Rejects when the first start fails. */
  keepThread<N extends ThreadName>(name: N, options: KeepThreadOptions<N>): Promise<KeptThread<N>>
  /** Rejects when a thread cannot be ended, which only the end of the process changes. */
  readonly fatal: Promise<never>
}

const PING_EVERY_MS = 2_000
const SILENCE_MS = 30_000
/** A thread that is not gone this long after its termination is stuck in code that cannot be interrupted. */
const KILL_WITHIN_MS = 20_000

export function createSupervisor(ports: HubPorts): Supervisor {
  const { clock } = ports
  const records = createPartRecords(ports)
  const fatal = Promise.withResolvers<never>()
  fatal.promise.catch(() => {}) // callers race it

  /** Resolves when a thread has ended, also because it did not answer and was ended here. */
  async function endOf<N extends ThreadName>(
    name: N,
    thread: Thread<N>,
    { silenceMs, life }: { readonly silenceMs: number; readonly life: AbortSignal },
  ): Promise<PartEnd> {
    const death = thread.death.catch((caught: unknown): PartEnd => {
      const error = toError(caught)
      return { name, cause: causeOfDeath(error), error }
    })
    const over = AbortSignal.any([life, abortedWith(death)])
    const silence = (async (): Promise<PartEnd> => {
      while (await isAnswering(thread, { clock, silenceMs })) await clock.sleep(PING_EVERY_MS, over)
      const error = new Error(`the ${name} thread did not answer for ${silenceMs / 1000} s and was ended`)
      return { name, cause: 'silent', error }
    })()
    silence.catch(() => {}) // the thread or the hub ended
    const end = await untilAborted(Promise.race([death, silence.catch(() => death)]), life)
    if (end.cause === 'silent') await endThread(name, thread)
    return end
  }

  async function endThread<N extends ThreadName>(name: N, thread: Thread<N>): Promise<void> {
    const done = new AbortController()
    const late = clock.sleep(KILL_WITHIN_MS, done.signal).then(
      () => 'late' as const,
      () => 'ended' as const,
    )
    const first = await Promise.race([thread.kill(), late])
    done.abort()
    if (first !== 'late') return
    const seconds = KILL_WITHIN_MS / 1000
    throw new Error(
      `the ${name} thread does not answer and did not end within ${seconds} s; the hub ends, and its process manager must start it again`,
    )
  }

  async function keepThread<N extends ThreadName>(
    name: N,
    { start, silenceMs = SILENCE_MS }: KeepThreadOptions<N>,
  ): Promise<KeptThread<N>> {
    const closing = new AbortController()
    const life = closing.signal
    let settings: ThreadProtocol[N]['call'] | undefined
    let current: Thread<N> | undefined
    const { ready } = adopt(await start(undefined, undefined))

    function adopt(thread: Thread<N>): Thread<N> {
      current = thread
      // At once, so that a caller whose call fails finds no thread.
      thread.death.catch(() => (current = undefined))
      records.noteStart(name, life)
      return thread
    }

    async function startAgain(): Promise<PartEnd | undefined> {
      const given = settings
      let thread: Thread<N> | undefined
      try {
        thread = await start(given, ready)
        if (settings !== given) await thread.call(settings as ThreadProtocol[N]['call'], life)
        adopt(thread)
        return undefined
      } catch (caught) {
        await thread?.kill()
        return { name, cause: 'start', error: toError(caught) }
      }
    }

    async function keep(): Promise<void> {
      while (!life.aborted) {
        const end = current ? await endOf(name, current, { silenceMs, life }) : await startAgain()
        if (!end) continue
        current = undefined
        await records.waitForRestart(end, life)
      }
    }
    const keeping = keep().catch((caught: unknown) => {
      if (!life.aborted) fatal.reject(caught)
    })

    return {
      ready,
      tell: async (next, signal) => {
        settings = next
        const thread = current
        try {
          await thread?.call(next, signal)
        } catch (caught) {
          // The thread that follows gets the settings at its start.
          if (thread === current) throw caught
        }
      },
      ask: async (input, signal) => void (await current?.call(input, signal)),
      metrics: () => current?.metrics(),
      close: async () => {
        closing.abort(new Error('the hub is closing'))
        await keeping
        await current?.close()
      },
    }
  }

  return { ...records, keepThread, fatal: fatal.promise }
}

/** A signal that is aborted when the promise resolves. */
function abortedWith(promise: Promise<unknown>): AbortSignal {
  const controller = new AbortController()
  void promise.then(() => controller.abort())
  return controller.signal
}
