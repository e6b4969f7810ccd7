// Tested by src/hub/threads/limited-renderer.contract.test.ts
/** A render thread and the renderings that wait for it. The thread runs only while there is work. */
import { createWorkGuard, LimitReached } from '../../core/async/work-guard.ts'
import type { WorkLimits } from '../../core/async/work-guard.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { RenderRequest } from '../../controllers/controllers.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { createTurns, turnKeyOf } from './render-turns.ts'
import type { Thread } from './thread.ts'

export interface RenderLaneOptions {
  readonly start: () => Promise<Thread<'render'>>
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly log: Pick<Logger, 'warn'>
  /** Time after which an idle thread ends; the next rendering starts a new one. */
  readonly restAfterMs: number
  /** Hears of the death of a thread that the lane did not end. */
  readonly onDeath: (error: Error) => void
}

/** The limits of a rendering. */
export interface RenderLimits extends WorkLimits {
  /** Whether all parts of the rendering share the time. If false, each distinct result has its own. */
  readonly isTotal: boolean
}

export interface RenderLane {
  /** Renders when the turn comes. Throws LimitReached when the limits, read at that moment, stopped the rendering. */
  render(request: RenderRequest, limits: () => RenderLimits, signal: AbortSignal): Promise<VariantsResult>
  /** The turn key of the rendering that has its turn; undefined when the lane is free. */
  current(): string | undefined
  close(): Promise<void>
}

interface Waiting {
  /** Resolves when the turn is over. */
  run(): Promise<void>
}

export function createRenderLane(options: RenderLaneOptions): RenderLane {
  const { clock, log, restAfterMs, onDeath } = options
  const turns = createTurns<Waiting>(() => clock.monotonicMs())
  let resting = new AbortController()
  let thread: Thread<'render'> | undefined
  let isClosed = false
  let working: Promise<void> | undefined
  let current: string | undefined

  async function start(): Promise<Thread<'render'>> {
    const started = await options.start()
    started.death.catch((caught: unknown) => {
      thread = undefined
      onDeath(toError(caught))
    })
    return (thread = started)
  }

  async function end(running: Thread<'render'>): Promise<void> {
    thread = undefined
    await running.kill()
  }

  async function renderNow(
    request: VariantsRequest,
    limits: RenderLimits,
    signal: AbortSignal,
  ): Promise<VariantsResult> {
    signal.throwIfAborted()
    requireOpen()
    const running = thread ?? (await start())
    if (isClosed) await end(running)
    requireOpen()
    const guard = createWorkGuard({ clock, limits, place: request.recipe.path ?? request.recipe.bundle })
    guard.begin()
    try {
      return await guard.watch(
        running.call(request, signal, (at) => guard.at(limits.isTotal ? { ...at, part: 0 } : at)),
      )
    } catch (caught) {
      // A rendering that is too slow or cancelled would delay the next.
      if (signal.aborted || caught instanceof LimitReached) await end(running)
      throw caught
    }
  }

  function requireOpen(): void {
    if (isClosed) throw new Error('the hub is closing')
  }

  /** Takes turns until none waits, then ends the thread after an idle time. */
  async function work(): Promise<void> {
    for (let next = turns.take(); next; next = turns.take()) {
      const began = clock.monotonicMs()
      current = next.key
      await next.work.run()
      turns.noteUse(next.key, clock.monotonicMs() - began)
    }
    current = undefined
    working = undefined
    resting.abort()
    resting = new AbortController()
    if (!isClosed && thread) restLater(resting).catch(() => {}) // another rendering came first
  }

  async function restLater({ signal }: AbortController): Promise<void> {
    await clock.sleep(restAfterMs, signal)
    if (working) return
    const idle = thread
    thread = undefined
    working = (async () => {
      await idle?.close().catch((caught: unknown) => log.warn({ err: toError(caught) }, 'an idle thread was ended'))
      await work()
    })()
    await working
  }

  return {
    render: (request, limits, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const key = turnKeyOf(request)
        const waiting: Waiting = {
          run: async () => {
            signal.removeEventListener('abort', leave)
            await renderNow(request, limits(), signal).then(resolve, reject)
          },
        }
        const leave = (): void => {
          if (turns.remove(key, waiting)) reject(toError(signal.reason))
        }
        signal.addEventListener('abort', leave, { once: true })
        resting.abort()
        turns.add(key, waiting)
        working ??= work()
      }),
    current: () => current,
    close: async () => {
      isClosed = true
      resting.abort()
      await (working ? thread?.kill() : thread?.close())
      await working
    },
  }
}
