// Tested by src/hub/console/oidc-sign-in.contract.test.ts
/** Sign-in with an OpenID Connect issuer. The browser never sees a token: it gets the cookie of a session. */
import type { ServerResponse } from 'node:http'
import type { CodeFlow } from '../../client/oidc/code-flow.ts'
import { aeadOpen, aeadSeal, base64url, concatBytes, fromBase64, fromUtf8, sha256, utf8 } from '../../core/bytes.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
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
  /** First part of the names of the cookies that bind a sign-in to the browser that began it. */
  readonly cookie: () => string
  /** `; Secure` with TLS, else empty. */
  readonly secure: string
}

/** A sign-in that has begun. It is sealed into a cookie of the browser that began it, so that the hub keeps nothing. */
interface Begun {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly next: string
  readonly endsMs: number
}

const SIGN_IN_MS = 600_000
const SEAL_NONCE_BYTES = 12

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  const { flow, openApi, openSession, clock, ids, log, cookie, secure } = options
  const key = ids.bytes(32)
  // Each sign-in has its own cookie: a person may begin one in two tabs.
  const cookieOf = (state: string): string => `${cookie()}_${base64url(sha256(state)).slice(0, 12)}`
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure}`

  function seal(begun: Begun): string {
    const nonce = ids.bytes(SEAL_NONCE_BYTES)
    return base64url(concatBytes([nonce, aeadSeal(key, nonce, utf8(JSON.stringify(begun)), utf8(begun.state))]))
  }

  /** The sign-in that this browser began; undefined for another browser, and after ten minutes. */
  function unseal(state: string, cookies: string | undefined): Begun | undefined {
    for (const value of cookieValues(cookies, cookieOf(state))) {
      try {
        const bytes = fromBase64(value)
        const [nonce, sealed] = [bytes.subarray(0, SEAL_NONCE_BYTES), bytes.subarray(SEAL_NONCE_BYTES)]
        const begun = JSON.parse(fromUtf8(aeadOpen(key, nonce, sealed, utf8(state)))) as Begun
        if (clock.now() < begun.endsMs) return begun
      } catch {
        // not sealed by this process
      }
    }
    return undefined
  }

  return {
    begin: async (response, { origin, next }) => {
      const begun = await flow.begin(`${origin}${OIDC_CALLBACK}`).catch((caught: unknown) => toError(caught))
      if (begun instanceof Error) return refuse(response, 502, begun.message)
      const { address, state, nonce, verifier } = begun
      const endsMs = clock.now() + SIGN_IN_MS
      const sealed = seal({ state, nonce, verifier: verifier.reveal(), next: pageOf(next), endsMs })
      // The browser comes back from another site, so the cookie cannot be strict.
      const set = `${cookieOf(state)}=${sealed}; ${attributes}; Max-Age=${SIGN_IN_MS / 1000}`
      response.writeHead(302, { ...consoleHeaders(), location: address, 'set-cookie': set }).end()
    },
    finish: async (response, { origin, query, cookies }) => {
      const begun = unseal(query.get('state') ?? '', cookies)
      if (!begun) {
        return refuse(response, 400, 'this browser did not begin this sign-in, or began it more than 10 minutes ago')
      }
      const refused = query.get('error')
      if (refused !== null) {
        const why = query.get('error_description') ?? refused
        return refuse(response, 401, `the issuer refused the sign-in: ${why.slice(0, 500)}`)
      }
      const cameBackTo = `${origin}${OIDC_CALLBACK}?${query.toString()}`
      const { state, nonce, next } = begun
      const verifier = new Secret(begun.verifier)
      const tokens = await flow
        .finish(cameBackTo, { state, nonce, verifier })
        .catch((caught: unknown) => toError(caught))
      if (tokens instanceof Error) {
        log.warn({ error: tokens.message }, 'a sign-in with the issuer failed')
        return refuse(response, 502, `the issuer did not confirm the sign-in: ${tokens.message}`)
      }
      try {
        const api = createRenewingApi(tokens, { flow, open: openApi, clock, log })
        // Without a refresh token, the session ends with the ID token.
        const endsMs = tokens.refreshToken ? undefined : tokens.expires
        const used = `${cookieOf(state)}=; ${attributes}; Max-Age=0`
        moveOn(response, { 'set-cookie': [await openSession(api, 'oidc', endsMs), used] }, next)
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
