// Tested by src/hub/console/oidc-sign-in.contract.test.ts
/** Signs a person in with an issuer: authorization code with PKCE, state and nonce, and the renewal of ID tokens. */
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  None,
  refreshTokenGrant,
} from 'openid-client'
import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import { base64url } from '../../core/bytes.ts'
import type { Ids } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import type { IssuerFetch } from './issuer-fetch.ts'
import type { OidcSettings } from './oidc-settings.ts'

/** A sign-in that has begun: what must be remembered until the browser comes back. */
export interface BegunSignIn {
  /** Address of the issuer that the browser must open. */
  readonly address: string
  readonly state: string
  readonly nonce: string
  readonly verifier: Secret<string>
}

/** Tokens of a person. */
export interface IssuedTokens {
  readonly idToken: Secret<string>
  /** Absent when the issuer gives none: the person signs in again when the ID token ends. */
  readonly refreshToken?: Secret<string>
  /** The person, as the issuer names them. */
  readonly subject: string
  /** The end of the ID token, in milliseconds. */
  readonly expires: number
}

export interface CodeFlow {
  begin(redirectUri: string): Promise<BegunSignIn>
  /** Exchanges the code of the address that the browser came back to. */
  finish(cameBackTo: string, begun: Omit<BegunSignIn, 'address'>): Promise<IssuedTokens>
  /** A new ID token of the same person. */
  renew(tokens: IssuedTokens): Promise<IssuedTokens>
}

export interface CodeFlowOptions {
  readonly settings: Pick<OidcSettings, 'issuer' | 'clientId'>
  /** Absent for a public client, whose only proof is PKCE. */
  readonly clientSecret?: Secret<string> | undefined
  readonly ids: Pick<Ids, 'bytes'>
  readonly fetch: IssuerFetch
  /** Whether refresh tokens are wanted; a program that keeps none asks for none. */
  readonly renews: boolean
}

const SCOPES = ['openid', 'profile', 'email', 'groups'] as const
const TIMEOUT_SECONDS = 10

/** The flow with one issuer, which is asked for its endpoints with the first sign-in. */
export function createCodeFlow({ settings, clientSecret, ids, fetch, renews }: CodeFlowOptions): CodeFlow {
  const wanted: readonly string[] = renews ? [...SCOPES, 'offline_access'] : SCOPES
  let discovered: Promise<Configuration> | undefined

  async function configuration(): Promise<Configuration> {
    discovered ??= discovery(
      new URL(settings.issuer),
      settings.clientId,
      clientSecret?.reveal(),
      clientSecret ? undefined : None(),
      { [customFetch]: fetch, timeout: TIMEOUT_SECONDS },
    )
    return await discovered.catch((caught: unknown) => {
      discovered = undefined
      throw caught
    })
  }

  return {
    begin: async (redirectUri) => {
      const config = await configuration()
      const random = () => base64url(ids.bytes(32))
      const [verifier, state, nonce] = [random(), random(), random()]
      const address = buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopeOf(config, wanted),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
      return { address: address.href, state, nonce, verifier: new Secret(verifier) }
    },
    finish: async (cameBackTo, { state, nonce, verifier }) =>
      tokensOf(
        await authorizationCodeGrant(await configuration(), new URL(cameBackTo), {
          pkceCodeVerifier: verifier.reveal(),
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        }),
      ),
    renew: async (tokens) => {
      if (!tokens.refreshToken) throw new Error('the issuer gave no refresh token')
      const answer = await refreshTokenGrant(await configuration(), tokens.refreshToken.reveal())
      const next = tokensOf(answer, tokens.refreshToken)
      if (next.subject !== tokens.subject) throw new Error('the issuer renewed the token of another person')
      return next
    },
  }
}

/** The scopes of these that the issuer knows; all of them if it does not say. */
function scopeOf(config: Configuration, wanted: readonly string[]): string {
  const known = config.serverMetadata().scopes_supported
  return wanted.filter((scope) => scope === 'openid' || known === undefined || known.includes(scope)).join(' ')
}

function tokensOf(answer: TokenEndpointResponse & TokenEndpointResponseHelpers, older?: Secret<string>): IssuedTokens {
  const claims = answer.claims()
  if (!claims || answer.id_token === undefined) throw new Error('the issuer sent no ID token')
  const refreshToken = answer.refresh_token === undefined ? older : new Secret(answer.refresh_token)
  return {
    idToken: new Secret(answer.id_token),
    subject: claims.sub,
    expires: claims.exp * 1000,
    ...(refreshToken && { refreshToken }),
  }
}
