/** The thread that a bundle is rendered in: what a hostile chart uses up or breaks is this thread alone. */
import { parentPort, workerData } from 'node:worker_threads'
import { toError } from '../core/errors.ts'
import { systemClock } from '../core/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import type { FromRenderThread, RenderThreadData } from './limited-render.ts'
import { renderInPlace } from './render-in-place.ts'

const TELL_EVERY_MS = 20

/** Renders what it was started with, says what came out, and ends. */
export async function serveRender(): Promise<void> {
  const { request, timeMs } = workerData as RenderThreadData
  const port = parentPort!
  const post = (message: FromRenderThread): void => port.postMessage(message)
  const start = systemClock.monotonicMs()
  let told = start
  const render = renderInPlace({
    clock: systemClock,
    ids: systemIds,
    watch: (where, at) => {
      const now = systemClock.monotonicMs()
      if (at === 'file' || now - told > TELL_EVERY_MS) {
        told = now
        post({ type: 'at', place: where() })
      }
      return now - start > timeMs ? 'stop' : 'go on'
    },
  })
  post({ type: 'started' })
  try {
    post({ type: 'answer', answer: await render(request) })
  } catch (caught) {
    post({ type: 'failure', message: toError(caught).message })
  }
}
