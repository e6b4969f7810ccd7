/** Renders in a thread with a cap on time and memory: what is too much ends that thread. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { runInThread, LimitReached } from '../../core/async/work-guard.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import type { RenderCaps } from './render-limited.ts'
import type { FromTemplateThread, TemplateAnswer, TemplateRequest } from './template-request.ts'

/** How long a thread that does not stop by itself goes on. */
const GRACE_MS = 2_000

/** Renders; throws HelmError with what helm would say, or CliError when a limit was reached. */
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
            reject(new CliError(message.exitCode, message.trouble))
        }
      },
    })
  } catch (caught) {
    if (!(caught instanceof LimitReached)) throw caught
    const { verb, flag } = TODO[caught.limit]
    const todo = `look at what this template ${verb}; ${flag} allows more`
    throw new CliError(EXIT.failed, { what: caught.about('the chart'), where: caught.place, todo })
  }
}

const TODO = {
  time: { verb: 'does', flag: '--time-limit SECONDS' },
  memory: { verb: 'makes', flag: '--memory-limit MIB' },
} as const

/** In a clone a TypeScript file beside this one, built a file below the folder of the bundle. */
function threadFile(folder: URL | undefined): URL {
  if (folder) return new URL('template-thread.mjs', folder)
  const ending = extname(import.meta.filename)
  return new URL(`${ending === '.ts' ? './' : './threads/'}template-thread${ending}`, import.meta.url)
}
