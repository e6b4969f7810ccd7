/**
 * Renders in a thread with limits on time and memory, one bundle after the other. The thread loads the render engine
 * and ends with it, so that the agent's memory stays small.
 */
import { basename, dirname, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../core/time/clock.ts'
import { runInThread, LimitReached } from '../../core/async/work-guard.ts'
import type { WorkLimits } from '../../core/async/work-guard.ts'
import type { ClusterRenderAnswer, ClusterRenderRequest } from '../../render/bundle/render-in-cluster.ts'
import { RENDER_TIMING } from '../timing.ts'
import type { ClusterRenderPort } from './cluster-render.ts'

const RENDER_LIMITS: WorkLimits = {
  timeMs: RENDER_TIMING.limitMs,
  memoryMiB: 512,
  graceMs: RENDER_TIMING.graceMs,
}

/** The data of the thread; `role` tells the agent's executable that it runs as the render thread. */
export interface RenderThreadData {
  readonly role: 'render'
  readonly request: ClusterRenderRequest
  readonly timeMs: number
}

/** The messages of the thread, besides its progress. */
export type FromRenderThread =
  | { readonly type: 'answer'; readonly answer: ClusterRenderAnswer }
  | { readonly type: 'failure'; readonly message: string }

/** Creates the port that renders in threads. */
export function renderInThreads(
  clock: Pick<Clock, 'sleep' | 'monotonicMs'>,
  limits: WorkLimits = RENDER_LIMITS,
): ClusterRenderPort {
  let tail: Promise<unknown> = Promise.resolve()

  async function renderOnce(request: ClusterRenderRequest, signal: AbortSignal): Promise<ClusterRenderAnswer> {
    signal.throwIfAborted()
    const workerData: RenderThreadData = { role: 'render', request, timeMs: limits.timeMs }
    const resourceLimits = { maxOldGenerationSizeMb: limits.memoryMiB }
    const thread = new Worker(threadFile(), { name: 'flotilla-agent-render', workerData, resourceLimits })
    const place = request.recipe.bundle
    try {
      return await runInThread<FromRenderThread, ClusterRenderAnswer>({ thread, clock, limits, place, signal, hear })
    } catch (caught) {
      if (!(caught instanceof LimitReached)) throw caught
      const result = { ok: false as const, problems: [{ message: caught.sentence('it') }] }
      return { kind: 'Rendered', result, frozen: request.frozen }
    }
  }

  return (request, signal) => {
    const turn = tail.then(() => renderOnce(request, signal))
    tail = turn.catch(() => {})
    return turn
  }
}

function hear(
  message: FromRenderThread,
  { resolve, reject }: Pick<PromiseWithResolvers<ClusterRenderAnswer>, 'resolve' | 'reject'>,
): void {
  if (message.type === 'answer') resolve(message.answer)
  else reject(new Error(message.message))
}

/** In a clone a file beside this file; the agent's image has one file for both roles; the CLI has a file of its own. */
function threadFile(): URL {
  const here = import.meta.filename
  if (extname(here) === '.ts') return new URL('./render-thread-main.ts', import.meta.url)
  if (basename(here) === 'agent.mjs') return new URL(import.meta.url)
  // A thread of the hub is in the folder of threads already.
  const folder = basename(dirname(here)) === 'threads' ? './' : './threads/'
  return new URL(`${folder}agent-render-thread.mjs`, import.meta.url)
}
