/** HTTP GET with size limits. Credentials are sent only to the host they are bound to. */
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { compact } from '../core/compact.ts'
import type { EgressRules } from '../core/text/egress.ts'
import { readBody } from '../core/http.ts'
import { readWholeNumber } from '../core/read-number.ts'
import { authorizationOf } from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { guardedLookup } from './egress-lookup.ts'
import { asSourceError, guardHost } from './guard-source.ts'
import { SourceError } from './source-error.ts'

/** What to get. */
export interface HttpRequest {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent to the host of `url` only; its CA is trusted only for this host. */
  readonly credentials?: Credentials | undefined
  /** Replaces the header of the credential, for example by a registry's token. */
  readonly authorization?: string | undefined
  /** Defaults to GET. A redirect of another request is refused. */
  readonly method?: 'POST'
  /** Sent with a POST. */
  readonly body?: string
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** What came. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  /** The address of the final answer, after redirects. */
  readonly url: string
}

/** Sends a GET request. Answers of any status are returned; only network failures throw. */
export type HttpGet = (request: HttpRequest) => Promise<HttpAnswer>

const MAX_REDIRECTS = 5
const MAX_ERROR_BODY = 64 * 1024

/**
 * Creates an HttpGet over real sockets. Redirects to another host carry no credentials; redirects to plain http are
 * refused. The rules hold for each redirect.
 */
export function createHttpGet(rules: EgressRules): HttpGet {
  return (asked) => getUnder(rules, asked)
}

async function getUnder(rules: EgressRules, asked: HttpRequest): Promise<HttpAnswer> {
  let url = new URL(asked.url)
  const { origin, protocol } = url
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const isHome = url.origin === origin
    const authorization = asked.authorization ?? authorizationOf(asked.credentials)
    const dispatcher = agentFor(rules, url, isHome ? asked.credentials : undefined)
    try {
      const response = await request.call(dispatcher, {
        origin: url.origin,
        path: url.pathname + url.search,
        method: asked.method ?? 'GET',
        signal: asked.signal,
        ...compact({ body: asked.body }),
        headers: {
          'user-agent': 'flotilla',
          ...asked.headers,
          ...compact({ authorization: isHome && authorization !== undefined ? authorization : undefined }),
        },
      })
      const location = response.headers['location']
      if (response.statusCode >= 301 && response.statusCode <= 308 && typeof location === 'string') {
        // An aborted body emits an error, and an error without a listener would end the process.
        response.body.on('error', () => {}).destroy()
        if (asked.method) throw new SourceError('Redirected', `${url.origin} redirects a request that is not repeated.`)
        const next = URL.parse(location, url)
        if (!next) {
          const where = `${JSON.stringify(location)}, which is no address`
          throw new SourceError('Redirected', `${url.origin} redirects to ${where}.`, { retry: true })
        }
        if (next.protocol !== 'https:' && !(protocol === 'http:' && next.protocol === 'http:')) {
          throw new SourceError('Redirected', `${url.origin} redirects to ${next.origin}, which is not https.`)
        }
        url = next
        continue
      }
      const limit = response.statusCode < 300 ? asked.maxBytes : MAX_ERROR_BODY
      const length = readWholeNumber(String(response.headers['content-length'] ?? ''))
      if (length !== undefined && length > limit && response.statusCode < 300) throw tooLarge(url, asked.maxBytes)
      const body = await readBody(response.body, limit).catch((caught: unknown) => {
        throw caught instanceof RangeError ? tooLarge(url, asked.maxBytes) : caught
      })
      return { status: response.statusCode, headers: response.headers, body, url: url.href }
    } catch (caught) {
      asked.signal.throwIfAborted()
      const refused = asSourceError(caught)
      if (refused) throw refused
      const cause = caught as { code?: string; message?: string }
      const said = cause.message ?? cause.code ?? 'no answer'
      throw new SourceError('Unreachable', `${url.origin} cannot be reached: ${said}.`, { retry: true, cause: caught })
    } finally {
      void dispatcher.close().catch(() => {})
    }
  }
  throw new SourceError('Redirected', `${asked.url} redirects more than ${MAX_REDIRECTS} times.`, { retry: true })
}

function tooLarge(url: URL, maxBytes: number): SourceError {
  return new SourceError('TooLarge', `${url.origin}${url.pathname} is larger than the ${maxBytes} bytes allowed.`)
}

function agentFor(rules: EgressRules, url: URL, credentials: Credentials | undefined): Agent {
  const { ca, certificate, key } = credentials ?? {}
  const target = guardHost(rules, url)
  return new Agent({
    connect: compact({
      timeout: 15_000,
      lookup: guardedLookup(rules, target),
      ca,
      ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
    }),
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    allowH2: false,
    pipelining: 0,
  })
}
