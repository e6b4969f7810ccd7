/** `--dry-run`: the hub validates the writes and does not store them. */
import type { Rest, RestRequest } from '../../client/rest.ts'
import { isObject } from '../../core/json.ts'
import type { Terminal } from '../print/terminal.ts'

/** A run of a command without stored writes. */
export interface DryRun {
  /** The same API, with every write as a dry run. */
  over(rest: Rest): Rest
  /** The same terminal without hints at the next command, because nothing was changed. */
  on(terminal: Terminal): Terminal
  /** Whether the command sent a write. */
  wrote(): boolean
}

export function createDryRun(): DryRun {
  let wrote = false
  const dry = (request: RestRequest): RestRequest => {
    const [path = '', query] = request.path.split('?')
    // Reviews are read requests sent by POST.
    if (request.method === 'GET' || path.endsWith('reviews') || query?.includes('dryRun=')) return request
    wrote = true
    // The API reads the options of a delete from its body if it has one.
    const { body } = request
    if (request.method === 'DELETE' && isObject(body)) return { ...request, body: { ...body, dryRun: ['All'] } }
    return { ...request, path: `${path}?${query === undefined ? '' : `${query}&`}dryRun=All` }
  }
  return {
    over: (rest) => ({
      json: (request) => rest.json(dry(request)),
      stream: (request, signal) => rest.stream(dry(request), signal),
    }),
    on: (terminal) => ({
      ...terminal,
      step: (sign, text) => {
        if (sign !== 'next') terminal.step(sign, text)
      },
    }),
    wrote: () => wrote,
  }
}
