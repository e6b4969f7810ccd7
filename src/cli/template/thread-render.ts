/** Renders in a thread with a cap on time and memory: what is too much ends that thread. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { toError } from '../../core/errors.ts'
import { systemClock } from '../../core/system-clock.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import { CliError, EXIT } from '../exit.ts'
import type { RenderCaps } from './limited-render.ts'
import type { FromTemplateThread, TemplateAnswer, TemplateRequest } from './template-request.ts'

/** How long a thread that does not stop by itself goes on. */
const GRACE_MS = 2_000

/** Renders; throws HelmError with what helm would say, or CliError when a limit was reached. */
export async function renderInThread(request: TemplateRequest, limits: RenderCaps): Promise<TemplateAnswer> {
  const worker = new Worker(threadFile(), {
    name: 'flotilla-template',
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: limits.memoryMiB },
  })
  const done = new AbortController()
  const started = Promise.withResolvers<void>()
  let place = request.words.at(-1) ?? ''
  const answered = new Promise<TemplateAnswer>((resolve, reject) => {
    worker.on('message', (message: FromTemplateThread) => {
      switch (message.type) {
        case 'started':
          return started.resolve()
        case 'at':
          place = message.place
          return
        case 'warn':
          return limits.warn(message.text)
        case 'answer':
          return resolve(message.answer)
        case 'helm error':
          if (message.text !== '') limits.debug(message.text)
          return reject(new HelmError(message.message, { rendered: message.rendered }))
        case 'refusal':
          reject(new CliError(message.exitCode, message.trouble))
      }
    })
    worker.on('error', (error) => reject(ended(toError(error), place, limits.memoryMiB)))
    worker.on('exit', (code) => reject(new Error(`the thread that renders ended with code ${code}`)))
  })
  // The time counts from the moment the thread runs, however busy the machine is.
  const late = started.promise
    .then(() => systemClock.sleep(request.timeLimitMs + GRACE_MS, done.signal))
    .then(() => {
      throw new CliError(EXIT.failed, {
        what: `the chart was not rendered within ${request.timeLimitMs / 1000} s and was stopped`,
        where: place,
        todo: 'look at what this template does; --time-limit SECONDS allows more',
      })
    })
  try {
    return await Promise.race([answered, late])
  } finally {
    done.abort()
    late.catch(() => {})
    answered.catch(() => {})
    await worker.terminate()
  }
}

function ended(error: Error, place: string, memoryMiB: number): Error {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error
  return new CliError(EXIT.failed, {
    what: `the chart needs more than ${memoryMiB} MiB of memory and was stopped`,
    where: place,
    todo: 'look at what this template makes; --memory-limit MIB allows more',
  })
}

/** In a clone a TypeScript file beside this one, built a file below the folder of the bundle. */
function threadFile(): URL {
  const ending = extname(import.meta.filename)
  return new URL(`${ending === '.ts' ? './' : './threads/'}template-thread${ending}`, import.meta.url)
}
