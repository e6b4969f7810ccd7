// Tested by src/client/oidc/id-tokens.test.ts
/** `fetch` for requests to an issuer: HTTPS only, with its CA, no redirects, bounded in time and size. */
import { toError } from '../../core/errors.ts'
import { readBody } from '../../core/http.ts'
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { createHttpsTransport } from '../https-transport.ts'
import type { OidcSettings } from './oidc-settings.ts'

export interface IssuerRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>> | Headers
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

export type IssuerFetch = (url: string, request?: IssuerRequest) => Promise<Response>

const TIMEOUT_MS = 10_000
const MAX_BODY_BYTES = 1024 * 1024

/** A `fetch` for the issuer of these settings. */
export function createIssuerFetch({ ca }: Pick<OidcSettings, 'ca'>): IssuerFetch {
  return async (address, { method = 'GET', headers = {}, body, signal } = {}) => {
    const url = new URL(address)
    if (url.protocol !== 'https:') throw new Error(`${url.origin}: an issuer must be reached over https`)
    const { transport, close } = createHttpsTransport(compact({ server: url.origin, ca }))
    const late = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const answer = await transport(
        compact({
          method,
          path: `${url.pathname}${url.search}`,
          headers: Object.fromEntries(headers instanceof Headers ? headers : Object.entries(headers)),
          body: bodyOf(body),
        }),
        signal ? AbortSignal.any([signal, late]) : late,
      )
      const bytes = await readBody(answer.body, MAX_BODY_BYTES)
      return new Response(Buffer.from(bytes), { status: answer.status, headers: answer.headers })
    } catch (caught) {
      const { message } = toError(caught)
      throw new Error(`the issuer at ${url.origin} does not answer: ${message}`, { cause: caught })
    } finally {
      await close()
    }
  }
}

function bodyOf(body: unknown): Uint8Array | undefined {
  if (body === undefined || body === null) return undefined
  if (body instanceof Uint8Array) return body
  return utf8(body instanceof URLSearchParams ? body.toString() : (body as string))
}
