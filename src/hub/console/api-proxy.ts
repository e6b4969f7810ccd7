// Tested by src/hub/console/console.test.ts
/**
 * Forwards requests of a signed-in browser to the hub's API under the user's own credentials. Only what a page needs
 * passes: paths of the API, four headers, bodies of a bounded size. Headers that change who asks never pass.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from 'node:events'
import { readBody } from '../../core/http.ts'
import type { ConsoleSession } from './console-sessions.ts'
import { consoleHeaders, sendFailure } from './respond.ts'
import { CONSOLE_AGENT } from './user-api.ts'

/** Browsers add this header only to requests of the console's own pages. */
export const ACTION_HEADER = 'x-flotilla-console'

/** Header with the reason of a change; the page sends it percent-encoded. */
const REASON_HEADER = 'x-flotilla-reason'
const MAX_REASON = 900
const MAX_BODY_BYTES = 3 * 1024 * 1024
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const ANSWER_HEADERS = ['content-type', 'audit-id', 'warning', 'retry-after'] as const

/** Whether a path belongs to the API. */
export function isApiPath(path: string): boolean {
  return (
    path === '/version' ||
    path === '/audit' ||
    path === '/audit/head' ||
    path.startsWith('/api/') ||
    path.startsWith('/apis/')
  )
}

/** Forwards one request; ends the session if the API no longer accepts its credentials. */
export async function forwardToApi(
  request: IncomingMessage,
  response: ServerResponse,
  { session, endSession }: { readonly session: ConsoleSession; readonly endSession: () => void },
): Promise<void> {
  const { method = 'GET', url = '', headers } = request
  const problem = refusal(method, url)
  if (problem !== undefined) return sendFailure(response, 405, 'MethodNotAllowed', problem)
  let body: Uint8Array | undefined
  if (method !== 'GET') {
    try {
      body = await readBody(request, MAX_BODY_BYTES)
    } catch (caught) {
      if (!(caught instanceof RangeError)) throw caught
      return sendFailure(response, 413, 'RequestEntityTooLarge', `the request is larger than ${MAX_BODY_BYTES} bytes`)
    }
  }
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const signal = AbortSignal.any([gone.signal, session.ended])
  const answer = await session.api.transport(
    {
      method,
      path: url,
      headers: {
        accept: headers.accept ?? 'application/json',
        'user-agent': userAgent(headers[REASON_HEADER]),
        ...(body && body.byteLength > 0 && { 'content-type': headers['content-type'] ?? 'application/json' }),
      },
      ...(body && body.byteLength > 0 && { body }),
    },
    signal,
  )
  if (answer.status === 401) endSession()
  const passed = ANSWER_HEADERS.flatMap((name) =>
    answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]],
  )
  response.writeHead(answer.status, { ...consoleHeaders(), ...Object.fromEntries(passed) })
  for await (const chunk of answer.body) {
    if (!response.write(chunk)) await once(response, 'drain', { signal })
  }
  response.end()
}

function refusal(method: string, url: string): string | undefined {
  if (!METHODS.has(method)) return `the console does not forward ${method}`
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  // A browser has six connections for all tabs of a hub; changes come by /console/events.
  if (query.get('watch') === 'true' || query.get('watch') === '1') return 'the console does not forward watches'
  return undefined
}

/** The audit log of both homes records the user agent; the CLI sends the reason of a change in the same form. */
function userAgent(reason: string | string[] | undefined): string {
  if (typeof reason !== 'string' || !/^[\x20-\x7e]+$/.test(reason)) return CONSOLE_AGENT
  return `${CONSOLE_AGENT} (${reason.slice(0, MAX_REASON).replaceAll('%20', ' ')})`
}
