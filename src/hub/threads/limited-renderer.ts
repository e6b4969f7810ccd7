/** The render thread under guard: content that takes too long or too much fails its own bundle, and the next one renders. */
import type { RenderPort } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { startThread } from './thread.ts'
import type { Thread } from './thread.ts'

/** What the content of one bundle may use. */
export interface RenderThreadLimits {
  /** For one cluster, in milliseconds. */
  readonly timeMs: number
  /** For all clusters together. */
  readonly memoryMiB: number
  /** How long a thread that does not stop by itself goes on. */
  readonly graceMs: number
}

/** The limits when nobody says otherwise; far above what real content needs. */
export const RENDER_LIMITS: RenderThreadLimits = { timeMs: 120_000, memoryMiB: 2048, graceMs: 5_000 }

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
  readonly limits?: RenderThreadLimits
  /** How long a thread with nothing to do stays; another is started when there is something again. */
  readonly restAfterMs?: number
}

// Longer than a person takes between two commits that belong together, shorter than anybody minds the memory.
const REST_AFTER_MS = 20_000

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

  function failed({ recipe, clusters, frozen }: VariantsRequest, what: string, place: string): VariantsResult {
    const message = `${what}; it was at ${place}: look at what is made there`
    log.warn({ bundle: recipe.bundle, place }, what)
    const names = clusters.map(({ name }) => name)
    return {
      variants: [{ when: {}, clusters: names, result: { ok: false, problems: [{ message }] } }],
      frozen,
      notes: [],
    }
  }

  async function renderNow(request: VariantsRequest, signal: AbortSignal): Promise<VariantsResult> {
    signal.throwIfAborted()
    if (isClosed) throw new Error('the hub is closing')
    const running = thread ?? (await start())
    if (isClosed) {
      await end(running)
      throw new Error('the hub is closing')
    }
    const done = new AbortController()
    let progress = { place: request.recipe.path ?? request.recipe.bundle, part: 0 }
    let begun = clock.monotonicMs()
    const call = running.call(request, signal, (next) => {
      if (next.part !== progress.part) begun = clock.monotonicMs()
      progress = next
    })
    const isLate = async (): Promise<'late'> => {
      for (;;) {
        const left = begun + limits.timeMs + limits.graceMs - clock.monotonicMs()
        if (left <= 0) return 'late'
        await clock.sleep(left, done.signal)
      }
    }
    const late = isLate()
    late.catch(() => {}) // it is told to stop below
    call.catch(() => {}) // the thread may be ended before it answers
    try {
      const first = await Promise.race([call, late])
      if (first !== 'late') return first
      await end(running)
      return failed(
        request,
        `the content was not rendered within ${limits.timeMs / 1000} s and was stopped`,
        progress.place,
      )
    } catch (caught) {
      // What nobody wants any more would keep the next one waiting.
      if (signal.aborted) await end(running)
      if (!isOutOfMemory(caught)) throw caught
      return failed(
        request,
        `the content needs more than ${limits.memoryMiB} MiB of memory and was stopped`,
        progress.place,
      )
    } finally {
      done.abort()
    }
  }

  async function rest(): Promise<void> {
    const idle = thread
    thread = undefined
    await idle?.close()
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

function isOutOfMemory(caught: unknown): boolean {
  const cause = caught instanceof Error ? (caught.cause as NodeJS.ErrnoException | undefined) : undefined
  return cause?.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
