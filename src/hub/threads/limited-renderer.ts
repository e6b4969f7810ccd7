/**
 * Rendering under limits. Content that exceeds them fails its own bundle; bundles of other tenants do not wait for
 * it. There are two lanes, each with a thread of its own, and tenants take turns in each:
 *
 *     quick ──needs more than 10 s or 512 MiB──▶ slow ──exceeds the limits──▶ stopped
 *
 * A bundle that took more than 2 s once, and all bundles of a tenant with stopped content, begin in the slow lane until
 * a rendering of theirs was quick. While the quick lane renders for another tenant, a rendering takes the slow lane if
 * it is free, so that one busy tenant delays no other one. Content that was stopped before has a shorter limit when it
 * is tried again.
 */
import type { BlobsConfig } from '../../blobs/open-blobs.ts'
import type { RenderPort, RenderRequest } from '../../controllers/controllers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { LimitReached } from '../../core/async/work-guard.ts'
import type { WorkLimits } from '../../core/async/work-guard.ts'
import type { Logger } from '../../core/log.ts'
import type { VariantsRequest, VariantsResult } from '../../render/bundle/render-variants.ts'
import { causeOfDeath } from './part-records.ts'
import { createRenderLane } from './render-lane.ts'
import { turnKeyOf } from './render-turns.ts'
import type { Supervisor } from './supervisor.ts'
import { startThread } from './thread.ts'
import type { Thread } from './thread.ts'

export interface RendererLimits extends WorkLimits {
  /** Limits of the quick lane, for all results of a bundle together. */
  readonly quick: { readonly timeMs: number; readonly memoryMiB: number }
  /** Limit for content that was stopped before. */
  readonly againMs: number
}

/** The default limits, far above what real content needs. */
const RENDER_LIMITS: RendererLimits = {
  timeMs: 120_000,
  memoryMiB: 2048,
  graceMs: 5_000,
  quick: { timeMs: 10_000, memoryMiB: 512 },
  againMs: 20_000,
}

/** Renders bundles, one at a time in each lane. */
export interface LimitedRenderer {
  readonly render: RenderPort
  close(): Promise<void>
}

export interface LimitedRendererOptions {
  readonly blobs: BlobsConfig
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: RendererLimits
  /** Time after which an idle thread ends; the next rendering starts a new one. */
  readonly restAfterMs?: number
  /** Starts a render thread with this much memory. Defaults to a worker of this process. */
  readonly start?: (memoryMiB: number) => Promise<Thread<'render'>>
  /** Hears of each thread that ended because of its work. */
  readonly noteEnd?: Supervisor['noteEnd']
}

/** Content that takes longer begins in the slow lane the next time. */
const SLOW_MS = 2_000

// Longer than the pause between the bundles of one commit. A new thread for the next commit starts quickly.
const REST_AFTER_MS = 3_000

export function createRenderer(options: LimitedRendererOptions): LimitedRenderer {
  const { blobs, clock, log, limits = RENDER_LIMITS, restAfterMs = REST_AFTER_MS, noteEnd } = options
  const { quick, againMs, ...full } = limits
  const history = createHistory()
  const {
    start = (memoryMiB) =>
      startThread('render', { blobs, timeLimitMs: limits.timeMs }, { maxOldGenerationSizeMb: memoryMiB }),
  } = options
  const startWith = (memoryMiB: number) => () => start(memoryMiB)
  const noteDeath = (error: Error): void => noteEnd?.({ name: 'render', cause: causeOfDeath(error), error })
  const lane = { clock, log, restAfterMs }
  const quickLane = createRenderLane({
    ...lane,
    start: startWith(quick.memoryMiB),
    // Content that needs more memory is rendered in the slow lane.
    onDeath: (error) => (causeOfDeath(error) === 'memory' ? undefined : noteDeath(error)),
  })
  const slowLane = createRenderLane({ ...lane, start: startWith(full.memoryMiB), onDeath: noteDeath })

  function stop({ recipe, clusters, frozen }: VariantsRequest, stopped: LimitReached): VariantsResult {
    const { place, limit } = stopped
    log.warn({ bundle: recipe.bundle, place }, stopped.about('the content'))
    if (limit === 'time') {
      const error = new Error(stopped.about(`the content of bundle ${recipe.bundle}`))
      noteEnd?.({ name: 'render', cause: 'silent', error })
    }
    const names = clusters.map(({ name }) => name)
    const problems = [{ message: stopped.sentence('the content') }]
    return { variants: [{ when: {}, clusters: names, result: { ok: false, problems } }], frozen, notes: [] }
  }

  /** Whether the quick lane is busy with another tenant, and the slow lane is free. */
  function isOvertaking(request: RenderRequest): boolean {
    const current = quickLane.current()
    return current !== undefined && current !== turnKeyOf(request) && slowLane.current() === undefined
  }

  async function renderQuickly(request: RenderRequest, signal: AbortSignal): Promise<VariantsResult | undefined> {
    let began = 0
    const limitsNow = () => {
      began = clock.monotonicMs()
      return { ...quick, graceMs: 0, isTotal: true }
    }
    try {
      const result = await quickLane.render(request, limitsNow, signal)
      if (clock.monotonicMs() - began > SLOW_MS) history.noteSlow(request)
      return result
    } catch (caught) {
      if (!(caught instanceof LimitReached)) throw caught
      history.noteSlow(request)
      return undefined
    }
  }

  async function renderSlowly(request: RenderRequest, signal: AbortSignal): Promise<VariantsResult> {
    let began = 0
    const limitsNow = () => {
      began = clock.monotonicMs()
      const timeMs = history.wasStopped(request) ? Math.min(againMs, full.timeMs) : full.timeMs
      return { ...full, timeMs, isTotal: false }
    }
    try {
      const result = await slowLane.render(request, limitsNow, signal)
      const tookMs = clock.monotonicMs() - began
      // A template that used up its time stops by itself.
      if (tookMs >= full.timeMs && result.variants.some((variant) => variant.result.ok === false))
        history.noteStopped(request)
      else if (tookMs < Math.min(SLOW_MS, quick.timeMs)) history.noteQuick(request)
      return result
    } catch (caught) {
      if (!(caught instanceof LimitReached)) throw caught
      history.noteStopped(request)
      return stop(request, caught)
    }
  }

  return {
    render: async (request, signal) => {
      const done = history.isSlow(request) || isOvertaking(request) ? undefined : await renderQuickly(request, signal)
      return done ?? (await renderSlowly(request, signal))
    },
    close: async () => {
      await Promise.all([quickLane.close(), slowLane.close()])
    },
  }
}

/** Bundles and tenants that are remembered; the oldest is forgotten first. */
const REMEMBERED = 2_000

/** Remembers what was slow, and what was stopped. */
function createHistory() {
  /** Slow bundles, with the digest of the content that was stopped. */
  const slow = new Map<string, Digest | undefined>()
  /** Turn keys with stopped content. */
  const stopped = new Map<string, true>()

  function remember<T>(map: Map<string, T>, key: string, value: T): void {
    map.delete(key)
    map.set(key, value)
    if (map.size > REMEMBERED) map.delete(map.keys().next().value!)
  }

  return {
    isSlow: (request: RenderRequest) => slow.has(request.recipe.bundle) || stopped.has(turnKeyOf(request)),
    wasStopped({ recipe }: VariantsRequest): boolean {
      const digest = slow.get(recipe.bundle)
      return digest !== undefined && digest === digestOfJson(recipe)
    },
    noteSlow({ recipe: { bundle } }: VariantsRequest): void {
      remember(slow, bundle, slow.get(bundle))
    },
    noteStopped(request: RenderRequest): void {
      const { recipe } = request
      remember(slow, recipe.bundle, digestOfJson(recipe))
      remember(stopped, turnKeyOf(request), true)
    },
    noteQuick(request: RenderRequest): void {
      slow.delete(request.recipe.bundle)
      stopped.delete(turnKeyOf(request))
    },
  }
}
