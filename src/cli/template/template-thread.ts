/** The thread for large charts. A chart can exhaust or crash only this thread. */
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { WorkThreadMessage } from '../../core/async/work-guard.ts'
import type { FromTemplateThread, TemplateRequest } from './template-request.ts'

const { compileCache } = workerData as TemplateRequest
// Each thread enables the compile cache itself, before it loads the engine.
if (compileCache !== undefined) enableCompileCache(compileCache)
const [
  { systemClock },
  { createStepBudget: createStepWatch },
  { HelmError },
  { CliError },
  { renderRequest, reportableError: toldError },
] = await Promise.all([
  import('../../core/time/system-clock.ts'),
  import('../../core/async/work-guard.ts'),
  import('../../render/helm/helm-error.ts'),
  import('../errors/cli-error.ts'),
  import('./render-request.ts'),
])

const port = parentPort!
const post = (message: FromTemplateThread | WorkThreadMessage): void => port.postMessage(message)
const request = workerData as TemplateRequest
const limits = { clock: systemClock, timeMs: request.timeLimitMs }
const watchOf = createStepWatch(limits, ({ place }) => post({ type: 'at', place }))
post({ type: 'started' })

try {
  const answer = renderRequest(request, {
    warn: (text) => post({ type: 'warn', text }),
    watch: watchOf(),
  })
  post({ type: 'answer', answer })
  if (getCompileCacheDir() !== undefined) flushCompileCache()
} catch (error) {
  if (error instanceof HelmError) {
    const { error: told, text } = toldError(error, request.flags)
    post({ type: 'helm error', message: told.message, rendered: told.rendered, text })
  } else if (error instanceof CliError) {
    post({ type: 'refusal', exitCode: error.exitCode, report: error.report })
  } else throw error
}
