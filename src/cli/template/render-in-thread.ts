/** Renders in a thread with limits on time and memory. Exceeding a limit ends the thread. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { runInThread, LimitReached } from '../../core/async/work-guard.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import type { RenderCaps } from './render-limited.ts'
import type { FromTemplateThread, TemplateAnswer, TemplateRequest } from './template-request.ts'

/** Grace period before a thread is terminated. */
const GRACE_MS = 2_000

/** Renders. Throws HelmError with the error of helm, or CliError if a limit was reached. */
export async function renderInThread(request: TemplateRequest, caps: RenderCaps): Promise<TemplateAnswer> {
  const { memoryMiB } = caps
  const resourceLimits = { maxOldGenerationSizeMb: memoryMiB }
  const thread = new Worker(threadFile(caps.threadsFolder?.()), {
    name: 'flotilla-template',
    workerData: request,
    resourceLimits,
  })
  const limits = { timeMs: request.timeLimitMs, memoryMiB, graceMs: GRACE_MS }
  const place = request.words.at(-1) ?? ''
  const heard = { thread, clock: systemClock, limits, place }
  try {
    return await runInThread<FromTemplateThread, TemplateAnswer>({
      ...heard,
      hear: (message, { resolve, reject }) => {
        switch (message.type) {
          case 'warn':
            return caps.warn(message.text)
          case 'answer':
            return resolve(message.answer)
          case 'helm error':
            if (message.text !== '') caps.debug(message.text)
            return reject(new HelmError(message.message, { rendered: message.rendered }))
          case 'refusal':
            reject(new CliError(message.exitCode, message.report))
        }
      },
    })
  } catch (caught) {
    if (!(caught instanceof LimitReached)) throw caught
    const { verb, flag } = TODO[caught.limit]
    const todo = `check what this template ${verb}, or raise the limit with ${flag}`
    throw new CliError(EXIT.failed, { where: caught.place, what: caught.about('the chart'), todo })
  }
}

const TODO = {
  time: { verb: 'does', flag: '--time-limit SECONDS' },
  memory: { verb: 'makes', flag: '--memory-limit MIB' },
} as const

/** In a clone a TypeScript file beside this file; in the bundle a file in its `threads/` folder. */
function threadFile(folder: URL | undefined): URL {
  if (folder) return new URL('template-thread.mjs', folder)
  const ending = extname(import.meta.filename)
  return new URL(`${ending === '.ts' ? './' : './threads/'}template-thread${ending}`, import.meta.url)
}
