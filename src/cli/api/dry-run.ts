/** `--dry-run`: writes that the hub checks as it would the real ones, and does not store. */
import type { Rest, RestRequest } from '../../client/rest.ts'
import { isObject } from '../../core/json.ts'
import type { Terminal } from '../print/terminal.ts'

/** One run of a command in which nothing is stored. */
export interface DryRun {
  /** The same API, with every write as a dry run. */
  over(rest: Rest): Rest
  /** The same terminal, without what to do next: nothing was done. */
  on(terminal: Terminal): Terminal
  /** Whether something would have been stored. */
  wrote(): boolean
}

/** Begins one. */
export function createDryRun(): DryRun {
  let wrote = false
  const dry = (request: RestRequest): RestRequest => {
    const [path = '', query] = request.path.split('?')
    // Reviews are questions, though they are asked by POST.
    if (request.method === 'GET' || path.endsWith('reviews') || query?.includes('dryRun=')) return request
    wrote = true
    // What a delete says in its body is all that counts of it.
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
