import type { Caller } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { Secret, ServiceAccount } from '../../kinds/builtin/core.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject } from '../storage/stored-object.ts'
import { createTokenSigner } from './jwt.ts'
import type { TokenKeys } from './jwt.ts'

/**
 * Tokens of service accounts: they live as long as they say, and die at once with their account or the object they are
 * bound to.
 */

/** What a token is issued for. */
export interface TokenGrant {
  readonly account: UnknownObject
  readonly audiences: readonly string[]
  readonly seconds: number
  readonly bound?: UnknownObject
}

/** A token and when it ends, in milliseconds. */
export interface IssuedToken {
  readonly token: string
  readonly expires: number
}

/** The identity that a token proves, and for which of the wanted audiences. */
export interface AuthenticatedToken {
  readonly caller: Caller
  readonly audiences: readonly string[]
  /** The end of the token, in milliseconds. */
  readonly expires: number
}

/** Issues and checks tokens. */
export interface ServiceAccountTokens {
  /** The audience of a token that asks for none: this API. */
  readonly audience: string
  /** What others need to verify tokens: the issuer's metadata and its keys. */
  readonly discovery: { readonly configuration: object; readonly keys: object }
  issue(grant: TokenGrant): IssuedToken
  /**
   * Undefined for a token of another issuer, an expired token, a token of another audience, or a token whose account or
   * bound object is gone.
   */
  prove(token: string, audiences?: readonly string[]): Promise<AuthenticatedToken | undefined>
}

/** The issuer that tokens name, and the audience of tokens for this API. */
const TOKEN_ISSUER = 'https://kubernetes.default.svc'

/** Kinds a token may be bound to, when they are served. */
const BINDABLE: Readonly<Record<string, Pick<Kind, 'group' | 'version' | 'plural'>>> = {
  Pod: { group: '', version: 'v1', plural: 'pods' },
  Secret,
  Node: { group: '', version: 'v1', plural: 'nodes' },
}

/** The kind of an object a token is to be bound to; undefined when tokens cannot be bound to it here. */
export function bindableKind({ registry }: Pick<ServerParts, 'registry'>, kind: string): Kind | undefined {
  const type = Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind] : undefined
  return type && registry.find(type.group, type.version, type.plural)
}

/** The bearer token of a header `Authorization`; undefined for other schemes. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/** Tokens signed with the first of some Ed25519 keys in PEM; tokens of the others still count. */
export function createServiceAccountTokens(
  parts: Pick<ServerParts, 'store' | 'clock' | 'ids' | 'registry'>,
  privateKeys: TokenKeys,
): ServiceAccountTokens {
  const { store, clock, ids } = parts
  const signer = createTokenSigner(privateKeys)

  async function isAlive(kind: Kind, namespace: string, reference: unknown): Promise<boolean> {
    if (!isObject(reference)) return false
    const { name, uid } = reference
    if (typeof name !== 'string' || typeof uid !== 'string') return false
    const stored = await readObject(store, kind, kind.scope === 'Namespaced' ? { namespace, name } : { name })
    return stored?.object.metadata.uid === uid && stored.object.metadata.deletionTimestamp === undefined
  }

  async function allAlive(claims: JsonObject, namespace: string): Promise<boolean> {
    const { serviceaccount, namespace: _namespace, ...bound } = claims
    if (!(await isAlive(ServiceAccount, namespace, serviceaccount))) return false
    for (const [field, reference] of Object.entries(bound)) {
      const kind = bindableKind(parts, `${field.slice(0, 1).toUpperCase()}${field.slice(1)}`)
      if (!kind || !(await isAlive(kind, namespace, reference))) return false
    }
    return true
  }

  return {
    audience: TOKEN_ISSUER,
    discovery: {
      configuration: {
        issuer: TOKEN_ISSUER,
        jwks_uri: `${TOKEN_ISSUER}/openid/v1/jwks`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['EdDSA'],
      },
      keys: { keys: signer.keys },
    },
    issue({ account, audiences, seconds, bound }) {
      const now = Math.floor(clock.now() / 1000)
      const { name, namespace = '', uid } = account.metadata
      const reference = bound && { [bound.kind.toLowerCase()]: { name: bound.metadata.name, uid: bound.metadata.uid } }
      const token = signer.sign({
        aud: audiences,
        exp: now + seconds,
        iat: now,
        iss: TOKEN_ISSUER,
        jti: ids.uid(),
        'kubernetes.io': { namespace, ...reference, serviceaccount: { name, uid } },
        nbf: now,
        sub: `system:serviceaccount:${namespace}:${name}`,
      })
      return { token, expires: (now + seconds) * 1000 }
    },
    async prove(token, audiences = [TOKEN_ISSUER]) {
      const claims = signer.open(token)
      if (!claims || claims['iss'] !== TOKEN_ISSUER) return undefined
      const { aud, exp, nbf, sub, jti } = claims
      const now = clock.now() / 1000
      if (typeof exp !== 'number' || now >= exp || typeof nbf !== 'number' || now < nbf - 1) return undefined
      const meant = audiences.filter((audience) => Array.isArray(aud) && aud.includes(audience))
      const own = claims['kubernetes.io']
      if (meant.length === 0 || !isObject(own) || typeof own['namespace'] !== 'string') return undefined
      const namespace = own['namespace']
      if (!(await allAlive(own, namespace))) return undefined
      const account = own['serviceaccount'] as { readonly uid: string }
      return {
        audiences: meant,
        expires: exp * 1000,
        caller: {
          user: String(sub),
          uid: account.uid,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${String(jti)}`] },
        },
      }
    },
  }
}
