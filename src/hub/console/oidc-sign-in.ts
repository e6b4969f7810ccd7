// Tested by src/hub/console/oidc-sign-in.contract.test.ts
/** Sign-in with an OpenID Connect issuer. The browser never sees a token: it gets the cookie of a session. */
import type { ServerResponse } from 'node:http'
import type { BegunSignIn, CodeFlow } from '../../client/oidc/code-flow.ts'
import { base64url, equalBytes, sha256 } from '../../core/bytes.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Secret } from '../../core/secret.ts'
import type { Clock } from '../../core/time/clock.ts'
import { cookieValues } from './console-sessions.ts'
import { createRenewingApi } from './renewing-api.ts'
import { consoleHeaders, sendText } from './respond.ts'
import { moveOn } from './sign-in.ts'
import type { OpenSession } from './sign-in.ts'
import type { UserApi } from './user-api.ts'

export const OIDC_BEGIN = '/console/oidc'
export const OIDC_CALLBACK = '/console/oidc/callback'

export interface OidcSignIn {
  /** Sends the browser to the issuer. */
  begin(response: ServerResponse, about: { readonly origin: string; readonly next: string | null }): Promise<void>
  /** Answers the browser that comes back from the issuer. */
  finish(response: ServerResponse, about: CameBack): Promise<void>
}

interface CameBack {
  readonly origin: string
  readonly query: URLSearchParams
  readonly cookies: string | undefined
}

export interface OidcSignInOptions {
  readonly flow: CodeFlow
  readonly openApi: (token: Secret<string>) => UserApi
  readonly openSession: OpenSession
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly ids: Pick<Ids, 'bytes'>
  readonly log: Logger
  /** Name of the cookie that binds a sign-in to the browser that began it. */
  readonly cookie: () => string
  /** `; Secure` with TLS, else empty. */
  readonly secure: string
}

interface Pending extends Omit<BegunSignIn, 'address'> {
  readonly browser: Uint8Array
  readonly next: string
  readonly endsMs: number
}

const MAX_PENDING = 1000
const PENDING_MS = 600_000

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  const { flow, openApi, openSession, clock, ids, log, cookie, secure } = options
  const pending = new Map<string, Pending>()

  function remember(state: string, one: Pending): void {
    for (const [known, { endsMs }] of pending) {
      if (pending.size < MAX_PENDING && clock.now() < endsMs) break // the oldest are first
      pending.delete(known)
    }
    pending.set(state, one)
  }

  /** The sign-in that this browser began; each can be used once. */
  function take(state: string, cookies: string | undefined): Pending | undefined {
    const found = pending.get(state)
    if (!found) return undefined
    const isOwn = cookieValues(cookies, cookie()).some((value) => equalBytes(sha256(value), found.browser))
    if (!isOwn) return undefined
    pending.delete(state)
    return clock.now() < found.endsMs ? found : undefined
  }

  return {
    begin: async (response, { origin, next }) => {
      const begun = await flow.begin(`${origin}${OIDC_CALLBACK}`).catch((caught: unknown) => toError(caught))
      if (begun instanceof Error) return refuse(response, 502, begun.message)
      const { address, ...rest } = begun
      const browser = base64url(ids.bytes(32))
      remember(rest.state, {
        ...rest,
        browser: sha256(browser),
        next: pageOf(next),
        endsMs: clock.now() + PENDING_MS,
      })
      // The browser comes back from another site, so the cookie cannot be strict.
      const set = `${cookie()}=${browser}; Path=${OIDC_BEGIN}; HttpOnly; SameSite=Lax; Max-Age=${PENDING_MS / 1000}${secure}`
      response.writeHead(302, { ...consoleHeaders(), location: address, 'set-cookie': set }).end()
    },
    finish: async (response, { origin, query, cookies }) => {
      const begun = take(query.get('state') ?? '', cookies)
      if (!begun) {
        return refuse(response, 400, 'this browser did not begin this sign-in, or began it more than 10 minutes ago')
      }
      const refused = query.get('error')
      if (refused !== null) {
        const why = query.get('error_description') ?? refused
        return refuse(response, 401, `the issuer refused the sign-in: ${why.slice(0, 500)}`)
      }
      const cameBackTo = `${origin}${OIDC_CALLBACK}?${query.toString()}`
      const tokens = await flow.finish(cameBackTo, begun).catch((caught: unknown) => toError(caught))
      if (tokens instanceof Error) {
        log.warn({ error: tokens.message }, 'a sign-in with the issuer failed')
        return refuse(response, 502, `the issuer did not confirm the sign-in: ${tokens.message}`)
      }
      try {
        const api = createRenewingApi(tokens, { flow, open: openApi, clock, log })
        // Without a refresh token, the session ends with the ID token.
        const endsMs = tokens.refreshToken ? undefined : tokens.expires
        moveOn(response, { 'set-cookie': await openSession(api, 'oidc', endsMs) }, begun.next)
      } catch (caught) {
        if (!isApiError(caught, 'Unauthorized')) throw caught
        refuse(
          response,
          401,
          'the API does not accept the ID token: the claim of the user name is missing, or the API does not know the issuer',
        )
      }
    },
  }
}

function refuse(response: ServerResponse, status: number, why: string): void {
  sendText(response, status, `Not signed in: ${why}.\nOpen the console again to sign in.\n`)
}

/** A path of this console; an address of another site is never followed. */
function pageOf(next: string | null): string {
  return next !== null && next.length <= 2000 && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : '/'
}
