// Tested by src/cli/commands/evidence/evidence.test.ts
/**
 * Exports: subresources that answer POST with a stream of lines. The verb is `create`, as for tokens: roles that may
 * read everything of a group do not include it.
 */
import { ApiError } from '../../core/errors.ts'
import type { Caller, HttpResponse } from '../../core/http.ts'
import { methodNotAllowed } from '../http/api-errors.ts'
import type { RequestInfo } from '../http/request-info.ts'

export interface ApiExport {
  readonly group: string
  readonly version: string
  /** Resource that the export belongs to, in the plural. */
  readonly plural: string
  readonly subresource: string
  /** Lines without their line breaks. An ApiError before the first line is the answer. */
  serve(request: ExportCall): Promise<AsyncIterable<Uint8Array>>
}

export interface ExportCall {
  /** Name of the object. */
  readonly name: string
  readonly query: URLSearchParams
  readonly caller: Caller
  readonly signal: AbortSignal
}

// An export reads history for as long as it lasts; more at once would slow down all other requests.
const MAX_AT_ONCE = 2

/** Answers requests for exports, after they were authorized; undefined for all other requests. */
export function createExports(exports: readonly ApiExport[]) {
  let running = 0

  async function* counted(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    running += 1
    try {
      for await (const chunk of body) {
        if (signal.aborted) return
        yield chunk
      }
    } finally {
      running -= 1
    }
  }

  return async function serve(
    info: RequestInfo,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<HttpResponse | undefined> {
    const { resource, query } = info
    const found = exports.find(
      ({ group, version, plural, subresource }) =>
        resource?.group === group &&
        resource.version === version &&
        resource.plural === plural &&
        resource.subresource === subresource,
    )
    if (!found || resource?.name === undefined) return undefined
    if (resource.verb !== 'create') throw methodNotAllowed()
    if (running >= MAX_AT_ONCE) {
      const message = `${MAX_AT_ONCE} exports are running; try again when one of them has ended`
      throw new ApiError('TooManyRequests', message, { retryAfterSeconds: 10 })
    }
    const body = await found.serve({ name: resource.name, query, caller, signal })
    return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: counted(body, signal) }
  }
}
