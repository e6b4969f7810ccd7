/** The render thread with limits: content that exceeds them fails its own bundle, and the next bundle renders. */
import type { RenderPort } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { createWorkGuard, LimitReached } from '../../core/async/work-guard.ts'
import type { WorkLimits } from '../../core/async/work-guard.ts'
import type { Logger } from '../../core/log.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { causeOfDeath } from './part-records.ts'
import type { Supervisor } from './supervisor.ts'
import { startThread } from './thread.ts'
import type { Thread } from './thread.ts'

/** The default limits, far above what real content needs. */
const RENDER_LIMITS: WorkLimits = { timeMs: 120_000, memoryMiB: 2048, graceMs: 5_000 }

/** Renders one bundle after the other. */
export interface LimitedRenderer {
  readonly render: RenderPort
  close(): Promise<void>
}

export interface LimitedRendererOptions {
  readonly blobs: string
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: WorkLimits
  /** Time after which an idle thread ends; the next rendering starts a new one. */
  readonly restAfterMs?: number
  /** Hears of each thread that ended because of its work. */
  readonly noteEnd?: Supervisor['noteEnd']
}

// Longer than the pause between the bundles of one commit. A new thread for the next commit starts quickly.
const REST_AFTER_MS = 3_000

/** A renderer whose thread lives only while there is work, so that an idle hub needs no memory for it. */
export function createRenderer(options: LimitedRendererOptions): LimitedRenderer {
  const { blobs, clock, log, limits = RENDER_LIMITS, restAfterMs = REST_AFTER_MS, noteEnd } = options
  let resting = new AbortController()
  let thread: Thread<'render'> | undefined
  let isBusy = false
  let isClosed = false
  let tail: Promise<unknown> = Promise.resolve()

  async function start(): Promise<Thread<'render'>> {
    const started = await startThread(
      'render',
      { blobs, timeLimitMs: limits.timeMs },
      { maxOldGenerationSizeMb: limits.memoryMiB },
    )
    started.death.catch((caught: unknown) => {
      thread = undefined
      const error = toError(caught)
      noteEnd?.({ name: 'render', cause: causeOfDeath(error), error })
    })
    return (thread = started)
  }

  async function end(running: Thread<'render'>): Promise<void> {
    thread = undefined
    await running.kill()
  }

  function failed({ recipe, clusters, frozen }: VariantsRequest, stopped: LimitReached): VariantsResult {
    const { place } = stopped
    log.warn({ bundle: recipe.bundle, place }, stopped.about('the content'))
    const names = clusters.map(({ name }) => name)
    const problems = [{ message: stopped.sentence('the content') }]
    return { variants: [{ when: {}, clusters: names, result: { ok: false, problems } }], frozen, notes: [] }
  }

  async function renderNow(request: VariantsRequest, signal: AbortSignal): Promise<VariantsResult> {
    signal.throwIfAborted()
    if (isClosed) throw new Error('the hub is closing')
    const running = thread ?? (await start())
    if (isClosed) {
      await end(running)
      throw new Error('the hub is closing')
    }
    const guard = createWorkGuard({ clock, limits, place: request.recipe.path ?? request.recipe.bundle })
    guard.begin()
    try {
      return await guard.watch(running.call(request, signal, guard.at))
    } catch (caught) {
      // A rendering that is too slow or cancelled would delay the next one.
      if (signal.aborted || caught instanceof LimitReached) await end(running)
      if (caught instanceof LimitReached && caught.limit === 'time') {
        const error = new Error(caught.about(`the content of bundle ${request.recipe.bundle}`))
        noteEnd?.({ name: 'render', cause: 'silent', error })
      }
      if (!(caught instanceof LimitReached)) throw caught
      return failed(request, caught)
    }
  }

  async function rest(): Promise<void> {
    const idle = thread
    thread = undefined
    await idle?.close().catch((caught: unknown) => log.warn({ err: toError(caught) }, 'an idle thread was ended'))
  }

  /** Ends the thread after an idle time. */
  async function restLater({ signal }: AbortController): Promise<void> {
    await clock.sleep(restAfterMs, signal)
    tail = tail.then(rest)
    await tail
  }

  return {
    render: (request, signal) => {
      resting.abort()
      const turn = tail.then(async () => {
        isBusy = true
        try {
          return await renderNow(request, signal)
        } finally {
          isBusy = false
          resting.abort()
          resting = new AbortController()
          if (!isClosed) restLater(resting).catch(() => {}) // another rendering came first
        }
      })
      tail = turn.catch(() => {})
      return turn
    },
    close: async () => {
      isClosed = true
      resting.abort()
      await (isBusy ? thread?.kill() : thread?.close())
      await tail
    },
  }
}
