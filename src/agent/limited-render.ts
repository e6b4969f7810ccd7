/** Rendering in a thread with limits on time and memory, one bundle after the other; the engine is loaded there and gone afterwards. */
import { basename, extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import type { ClusterRenderAnswer, ClusterRenderRequest } from '../render/bundle/render-in-cluster.ts'
import type { ClusterRenderPort } from './cluster-render.ts'

/** What one render may use. */
export interface RenderLimits {
  readonly timeMs: number
  readonly memoryMiB: number
  /** How long a thread that does not stop by itself goes on. */
  readonly graceMs: number
}

/** The limits when nobody says otherwise. */
export const RENDER_LIMITS: RenderLimits = { timeMs: 60_000, memoryMiB: 512, graceMs: 2_000 }

/** What the thread is started with; it is how the agent's own file knows that it is to render. */
export interface RenderThreadData {
  readonly role: 'render'
  readonly request: ClusterRenderRequest
  readonly timeMs: number
}

/** What the thread says. */
export type FromRenderThread =
  | { readonly type: 'started' }
  | { readonly type: 'at'; readonly place: string }
  | { readonly type: 'answer'; readonly answer: ClusterRenderAnswer }
  | { readonly type: 'failure'; readonly message: string }

/** Renders in threads. */
export function renderInThreads(clock: Pick<Clock, 'sleep'>, limits: RenderLimits = RENDER_LIMITS): ClusterRenderPort {
  let tail: Promise<unknown> = Promise.resolve()
  return (request, signal) => {
    const turn = tail.then(() => renderOnce(request, { clock, limits, signal }))
    tail = turn.catch(() => {})
    return turn
  }
}

interface Turn {
  readonly clock: Pick<Clock, 'sleep'>
  readonly limits: RenderLimits
  readonly signal: AbortSignal
}

async function renderOnce(
  request: ClusterRenderRequest,
  { clock, limits, signal }: Turn,
): Promise<ClusterRenderAnswer> {
  signal.throwIfAborted()
  const workerData: RenderThreadData = { role: 'render', request, timeMs: limits.timeMs }
  const worker = new Worker(threadFile(), {
    name: 'flotilla-agent-render',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: limits.memoryMiB },
  })
  const done = new AbortController()
  const started = Promise.withResolvers<void>()
  let place = request.recipe.bundle
  const stopped = (what: string): ClusterRenderAnswer => ({
    kind: 'Rendered',
    result: { ok: false, problems: [{ message: `${what}; it was at ${place}: look at what is made there` }] },
    frozen: request.frozen,
  })
  const answered = new Promise<ClusterRenderAnswer>((resolve, reject) => {
    worker.on('message', (message: FromRenderThread) => {
      if (message.type === 'started') started.resolve()
      else if (message.type === 'at') place = message.place
      else if (message.type === 'answer') resolve(message.answer)
      else reject(new Error(message.message))
    })
    worker.on('error', (caught) => {
      const error = toError(caught)
      const isFull = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (isFull) resolve(stopped(`it needs more than ${limits.memoryMiB} MiB of memory and was stopped`))
      else reject(error)
    })
    worker.on('exit', (code) => reject(new Error(`the thread that renders ended with code ${code}`)))
    signal.addEventListener('abort', () => reject(toError(signal.reason)), { once: true })
  })
  // The time counts from the moment the thread runs, however busy the machine is.
  const late = started.promise
    .then(() => clock.sleep(limits.timeMs + limits.graceMs, done.signal))
    .then(() => stopped(`it was not rendered within ${limits.timeMs / 1000} s and was stopped`))
  try {
    return await Promise.race([answered, late])
  } finally {
    done.abort()
    late.catch(() => {}) // it was told to stop
    answered.catch(() => {}) // the thread is ended below
    await worker.terminate()
  }
}

/** In a clone a file beside this one; a cluster has one file, which begins as whatever it is asked for; the CLI has it with its other threads. */
function threadFile(): URL {
  const here = import.meta.filename
  if (extname(here) === '.ts') return new URL('./render-thread-main.ts', import.meta.url)
  return basename(here) === 'agent.mjs'
    ? new URL(import.meta.url)
    : new URL('./threads/agent-render-thread.mjs', import.meta.url)
}
