/**
 * The render thread under guard: content that takes too long or too much fails its own bundle, and the next one
 * renders.
 */
import type { RenderPort } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import { createWorkGuard, LimitReached } from '../../core/async/work-guard.ts'
import type { WorkLimits } from '../../core/async/work-guard.ts'
import type { Logger } from '../../core/log.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { startThread } from './thread.ts'
import type { Thread } from './thread.ts'

/** The limits when nobody says otherwise; far above what real content needs. */
const RENDER_LIMITS: WorkLimits = { timeMs: 120_000, memoryMiB: 2048, graceMs: 5_000 }

/** Renders, one bundle after the other. */
export interface LimitedRenderer {
  readonly render: RenderPort
  close(): Promise<void>
}

/** What the renderer works with. */
export interface LimitedRendererOptions {
  readonly blobs: string
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: WorkLimits
  /** How long a thread with nothing to do stays; another is started when there is something again. */
  readonly restAfterMs?: number
}

// Longer than the bundles of one commit come after each other; for the next commit a thread is started in a blink.
const REST_AFTER_MS = 3_000

/** A renderer whose thread is there while there is something to render: a fleet at rest keeps no memory for it. */
export function createRenderer(options: LimitedRendererOptions): LimitedRenderer {
  const { blobs, clock, log, limits = RENDER_LIMITS, restAfterMs = REST_AFTER_MS } = options
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
    started.death.catch(() => (thread = undefined))
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
      // What takes too long, or nobody wants any more, would keep the next one waiting.
      if (signal.aborted || caught instanceof LimitReached) await end(running)
      if (!(caught instanceof LimitReached)) throw caught
      return failed(request, caught)
    }
  }

  async function rest(): Promise<void> {
    const idle = thread
    thread = undefined
    await idle?.close().catch((caught: unknown) => log.warn({ err: toError(caught) }, 'an idle thread was ended'))
  }

  /** Ends the thread when nothing came for a while. */
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
          if (!isClosed) restLater(resting).catch(() => {}) // something came first
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
