/** The thread in which one bundle is rendered: a hostile chart can exhaust or break only this thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { toError } from '../../core/errors.ts'
import { createStepBudget } from '../../core/async/work-guard.ts'
import type { WorkThreadMessage } from '../../core/async/work-guard.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import type { FromRenderThread, RenderThreadData } from './render-in-threads.ts'
import { renderInPlace } from './render-in-place.ts'

/** Renders the request of the thread's data, sends the result, and ends. */
export async function serveRender(): Promise<void> {
  const { request, timeMs } = workerData as RenderThreadData
  const port = parentPort!
  const post = (message: FromRenderThread | WorkThreadMessage): void => port.postMessage(message)
  const watchOf = createStepBudget({ clock: systemClock, timeMs }, ({ place }) => post({ type: 'at', place }))
  const render = renderInPlace({ clock: systemClock, ids: systemIds, watch: watchOf() })
  post({ type: 'started' })
  try {
    post({ type: 'answer', answer: await render(request) })
  } catch (caught) {
    post({ type: 'failure', message: toError(caught).message })
  }
}
