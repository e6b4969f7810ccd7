// Tested by src/dialects/argo/scm/services.contract.test.ts
/** Requests to the API of a service: JSON, pages, limits, and errors as sentences. */
import { deadline } from '../../../core/async/deadline.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { HttpAnswer, HttpGet } from '../../../source/http-get.ts'
import { SourceError } from '../../../source/source-error.ts'
import { AnswerBudget } from './answer-budget.ts'

/** The service answered that something does not exist. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly isNotFound: boolean

  constructor(message: string, isNotFound = false) {
    super(message)
    this.isNotFound = isNotFound
  }
}

/** Asks one service. */
export interface ServiceClient {
  /** The answer as JSON; undefined if there is none (404). */
  find(path: string): Promise<unknown>
  /** What `keep` takes of each item of a list that comes in pages. */
  list<T>(path: string, keep: (item: JsonObject) => T): Promise<readonly T[]>
  /** The answer to a request with a body. */
  post(path: string, body: JsonObject): Promise<unknown>
}

/** Where a service is, and the token it is asked with. */
export interface ServiceTarget {
  /** The address of the API, with a slash at its end. */
  readonly api: string
  /** The value of the header `authorization`. */
  readonly authorization: string | undefined
  readonly httpGet: HttpGet
  readonly clock: Clock
  readonly signal: AbortSignal
}

const MAX_BYTES = 8 * 1024 * 1024
const MAX_PAGES = 50
/** A request ends after this time, also while bytes still come. */
const REQUEST_MS = 30_000

/** Creates a client; the token is sent to this service only, and never over plain http to another machine. */
export function createServiceClient({ api, authorization, httpGet, clock, signal }: ServiceTarget): ServiceClient {
  const base = URL.parse(api)
  if (!base || !['https:', 'http:'].includes(base.protocol))
    throw new ServiceError(`${api} is not an address of an API`)
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(base.hostname)
  if (authorization !== undefined && base.protocol !== 'https:' && !isHere)
    throw new ServiceError(`${base.origin} is not https, and a token would be readable on the way`)

  async function get(path: string, body?: JsonObject): Promise<HttpAnswer> {
    const url = new URL(path, base!).href
    try {
      return await deadline({ clock, ms: REQUEST_MS, signal, what: url }, (ended) =>
        httpGet({
          url,
          headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
          authorization,
          maxBytes: MAX_BYTES,
          signal: ended,
        }),
      )
    } catch (caught) {
      signal.throwIfAborted()
      if (caught instanceof SourceError) throw new ServiceError(caught.message)
      if ((caught as { readonly code?: unknown }).code === 'ETIMEDOUT')
        throw new ServiceError(
          `${base!.origin} took more than ${REQUEST_MS / 1000} s for a response; ask for less, or make the service faster`,
        )
      throw caught
    }
  }

  function jsonOf({ status, body, url }: HttpAnswer): unknown {
    const { origin, pathname } = new URL(url)
    if (status === 404) throw new ServiceError(`${origin}${pathname} does not exist, or the token may not see it`, true)
    if (status === 401 || status === 403) throw new ServiceError(`${origin} refuses the token (${status})`)
    if (status !== 200) throw new ServiceError(`${origin}${pathname} answered ${status}`)
    try {
      return JSON.parse(fromUtf8(body)) as unknown
    } catch {
      throw new ServiceError(`${origin}${pathname} sent a response that is not JSON`)
    }
  }

  return {
    async find(path) {
      const answer = await get(path)
      return answer.status === 404 ? undefined : jsonOf(answer)
    },
    post: async (path, body) => jsonOf(await get(path, body)),
    async list<T>(path: string, keep: (item: JsonObject) => T) {
      const { origin, pathname } = new URL(path, base)
      const budget = new AnswerBudget(`the list of ${origin}${pathname} has`, 'use a filter')
      const items: T[] = []
      let next: string | undefined = path
      for (let page = 1; next !== undefined; page++) {
        if (page > MAX_PAGES) throw new ServiceError(`${base.origin} has more than ${MAX_PAGES} pages; use a filter`)
        const answer: HttpAnswer = await get(next)
        const value = jsonOf(answer)
        if (!Array.isArray(value)) throw new ServiceError(`${base.origin} sent a response that is not a list`)
        const kept = value.filter(isObject).map(keep)
        const problem = budget.add(kept)
        if (problem !== undefined) throw new ServiceError(problem)
        items.push(...kept)
        next = nextPage(answer, base)
      }
      return items
    },
  }
}

/** The next page, which must be of the same service. */
function nextPage({ headers, url }: HttpAnswer, base: URL): string | undefined {
  const { link } = headers
  const text = Array.isArray(link) ? link.join(',') : (link ?? '')
  const [, found] = /<([^<>]*)>\s*;\s*rel="next"/.exec(text) ?? []
  const next = found === undefined ? undefined : URL.parse(found, url)
  if (!next) return undefined
  // A service behind a proxy may name itself otherwise.
  return next.origin === base.origin ? next.href : `${base.origin}${next.pathname}${next.search}`
}

/** Texts of an answer; another type is empty. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  let at = value
  for (const key of path) at = isObject(at) ? at[key] : undefined
  return typeof at === 'string' ? at : ''
}

/** A number of an answer. */
export function numberAt(value: JsonObject, key: string): number {
  const found = value[key]
  return typeof found === 'number' ? found : 0
}

/** The texts of a list, or the names of its objects. */
export function namesAt(value: JsonObject, key: string): string[] {
  const list = value[key]
  if (!Array.isArray(list)) return []
  return (list as unknown[]).map((one) => (typeof one === 'string' ? one : textAt(one, 'name')))
}

/** A part of a path. */
export function segment(text: string): string {
  return encodeURIComponent(text)
}
