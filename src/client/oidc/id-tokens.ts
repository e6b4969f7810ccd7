/** Verifies ID tokens of an issuer with the keys that it publishes. */
import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify } from 'jose'
import { base64url, sha256 } from '../../core/bytes.ts'
import { ApiError, toError } from '../../core/errors.ts'
import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toDate } from '../../core/time/time.ts'
import { readIdentity } from './identity-claims.ts'
import type { IssuerFetch } from './issuer-fetch.ts'
import type { OidcSettings } from './oidc-settings.ts'

/** The user that an ID token proves. */
export interface ProvenIdToken {
  readonly caller: Caller
  /** The end of the token, in milliseconds. */
  readonly expires: number
}

export interface IdTokens {
  /**
   * Undefined for a token of another issuer or client and an expired token. Rejects with ServiceUnavailable while the
   * keys of the issuer are unknown.
   */
  prove(token: string): Promise<ProvenIdToken | undefined>
}

export interface IdTokenPorts {
  readonly clock: Pick<Clock, 'now'>
  readonly fetch: IssuerFetch
  readonly log: Logger
}

/** Asymmetric algorithms: with a shared secret, each client of the issuer could make tokens. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const MAX_TOKEN = 16 * 1024
/** After a failure, the issuer is not asked again for this long. */
const PAUSE_MS = 10_000
/** Keys are read again after this time; meanwhile, and while the issuer does not answer, the known keys count. */
const REFRESH_MS = 600_000
/** Keys that could not be read again for this long do not count. */
const MAX_AGE_MS = 86_400_000
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

type PublishedKeys = Awaited<ReturnType<typeof discoverKeys>>

/** Tokens of the issuer of these settings. The issuer is asked with the first token, not before. */
export function createIdTokens(settings: OidcSettings, { clock, fetch, log }: IdTokenPorts): IdTokens {
  const { issuer, clientId } = settings
  let keys: PublishedKeys | undefined
  let reading: Promise<PublishedKeys> | undefined
  let readMs = -Infinity
  let triedMs = -Infinity

  async function readKeys(): Promise<PublishedKeys> {
    triedMs = clock.now()
    try {
      const found = await discoverKeys(issuer, fetch)
      await found.reload()
      readMs = clock.now()
      return (keys = found)
    } catch (caught) {
      log.warn({ issuer, error: toError(caught).message }, 'the keys of the issuer cannot be read')
      throw caught
    } finally {
      reading = undefined
    }
  }

  /** The published keys; rejects while they are unknown or too old. */
  async function publishedKeys(): Promise<PublishedKeys> {
    const now = clock.now()
    if (now - readMs >= REFRESH_MS && now - triedMs >= PAUSE_MS) reading ??= readKeys()
    if (keys && now - readMs < MAX_AGE_MS) {
      reading?.catch(() => {}) // logged; the known keys count
      return keys
    }
    if (!reading) throw new Error('the issuer did not answer the last request; try again later')
    return await reading
  }

  async function verified(token: string): Promise<JsonObject | undefined> {
    try {
      const { payload } = await jwtVerify(token, await publishedKeys(), {
        issuer,
        audience: clientId,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iss', 'aud'],
        currentDate: toDate(clock.now()),
      })
      return payload
    } catch (caught) {
      if (isRefusal(caught)) return undefined
      const why = `the token cannot be verified: the issuer ${issuer} does not answer`
      throw new ApiError('ServiceUnavailable', why, {}, { cause: caught })
    }
  }

  return {
    async prove(token) {
      if (token.length > MAX_TOKEN || issuerOf(token) !== issuer) return undefined
      const claims = await verified(token)
      if (!claims) return undefined
      const identity = readIdentity(claims, settings)
      if ('problem' in identity) {
        log.info({ issuer, problem: identity.problem }, 'an ID token was refused')
        return undefined
      }
      const { exp, jti } = claims
      const credential = typeof jti === 'string' ? `JTI=${jti}` : `SHA256=${base64url(sha256(token))}`
      return {
        expires: (exp as number) * 1000,
        caller: {
          user: identity.username,
          groups: [...identity.groups, 'system:authenticated'],
          extra: { [CREDENTIAL_ID]: [credential] },
        },
      }
    },
  }
}

/** The issuer that a token names, before anything of it is believed. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

/** Whether the token is at fault, not the issuer. */
function isRefusal(caught: unknown): boolean {
  return (
    caught instanceof errors.JWTClaimValidationFailed ||
    caught instanceof errors.JWTExpired ||
    caught instanceof errors.JWTInvalid ||
    caught instanceof errors.JWSInvalid ||
    caught instanceof errors.JWSSignatureVerificationFailed ||
    caught instanceof errors.JOSEAlgNotAllowed ||
    caught instanceof errors.JOSENotSupported ||
    caught instanceof errors.JWKSNoMatchingKey ||
    caught instanceof errors.JWKSMultipleMatchingKeys
  )
}

async function discoverKeys(issuer: string, fetch: IssuerFetch): Promise<ReturnType<typeof createRemoteJWKSet>> {
  const answer = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  if (answer.status !== 200) throw new Error(`the issuer answered the discovery with ${answer.status}`)
  const metadata: unknown = await answer.json()
  if (!isObject(metadata) || metadata['issuer'] !== issuer) {
    throw new Error(
      `the discovery document of the issuer has the issuer ${JSON.stringify(isObject(metadata) ? metadata['issuer'] : undefined)}`,
    )
  }
  const address = metadata['jwks_uri']
  if (typeof address !== 'string') throw new Error('the issuer publishes no jwks_uri')
  return createRemoteJWKSet(new URL(address), {
    cacheMaxAge: Infinity,
    [customFetch]: async (url, { headers, method, signal }) => await fetch(url, { headers, method, signal }),
  })
}
