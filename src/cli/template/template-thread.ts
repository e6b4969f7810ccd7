/** The thread a large chart is rendered in: what it uses up or breaks is this thread alone. */
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import type { FromTemplateThread, TemplateRequest } from './template-request.ts'

/** How often the place in the chart is told, at most. */
const TELL_EVERY_MS = 20

const { compileCache } = workerData as TemplateRequest
// Each thread asks for itself, and before the engine is loaded.
if (compileCache !== undefined) enableCompileCache(compileCache)
const [{ systemClock }, { HelmError }, { CliError }, { renderRequest, textBeforeError }] = await Promise.all([
  import('../../core/system-clock.ts'),
  import('../../render/helm/helm-error.ts'),
  import('../exit.ts'),
  import('./render-request.ts'),
])

const port = parentPort!
const post = (message: FromTemplateThread): void => port.postMessage(message)
const request = workerData as TemplateRequest
const start = systemClock.monotonicMs()
let told = start
post({ type: 'started' })

try {
  const answer = renderRequest(request, {
    warn: (text) => post({ type: 'warn', text }),
    watch: (where, at) => {
      const now = systemClock.monotonicMs()
      if (at === 'file' || now - told > TELL_EVERY_MS) {
        told = now
        post({ type: 'at', place: where() })
      }
      return now - start > request.timeLimitMs ? 'stop' : 'go on'
    },
  })
  post({ type: 'answer', answer })
  if (getCompileCacheDir() !== undefined) flushCompileCache()
} catch (error) {
  if (error instanceof HelmError) {
    const { message, rendered } = error
    post({ type: 'helm error', message, rendered, text: textBeforeError(error, request.flags) })
  } else if (error instanceof CliError) {
    post({ type: 'refusal', exitCode: error.exitCode, trouble: error.trouble })
  } else throw error
}
