import {
  base64url,
  fromBase64,
  fromUtf8,
  publicKeyDer,
  publicKeyOf,
  sha256,
  sign,
  utf8,
  verify,
} from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

/** Signed tokens in the form of RFC 7519, with Ed25519 alone: a token that names another algorithm is no token. */

/** Signs tokens with the newest of its keys and opens tokens of all keys. */
export interface TokenSigner {
  sign(claims: object): string
  /** The claims of a token that one of the keys signed; undefined for anything else. Times are not looked at. */
  open(token: string): JsonObject | undefined
  /** The public keys as others verify tokens with them (RFC 7517). */
  readonly keys: readonly PublicJwk[]
}

/** An Ed25519 public key in the form of RFC 8037. */
export interface PublicJwk {
  readonly use: 'sig'
  readonly kty: 'OKP'
  readonly kid: string
  readonly crv: 'Ed25519'
  readonly alg: 'EdDSA'
  readonly x: string
}

/** PEM of private keys: the first one signs. */
export type TokenKeys = readonly [string, ...string[]]

// A token has a few hundred bytes; longer values are not parsed.
const MAX_LENGTH = 16 * 1024

const ED25519_BYTES = 32

/** A signer over Ed25519 private keys. */
export function createTokenSigner(privateKeys: TokenKeys): TokenSigner {
  const [signing] = privateKeys
  const known = privateKeys.map((privateKey) => {
    const publicKey = publicKeyOf(privateKey)
    const der = publicKeyDer(publicKey)
    const kid = base64url(sha256(der))
    const x = base64url(der.subarray(-ED25519_BYTES))
    const jwk: PublicJwk = { use: 'sig', kty: 'OKP', kid, crv: 'Ed25519', alg: 'EdDSA', x }
    return { header: base64url(utf8(JSON.stringify({ alg: 'EdDSA', kid }))), publicKey, jwk }
  })
  const [{ header: newest } = { header: '' }] = known
  const byHeader = new Map(known.map(({ header, publicKey }) => [header, publicKey]))
  return {
    keys: known.map(({ jwk }) => jwk),
    sign(claims) {
      const text = `${newest}.${base64url(utf8(JSON.stringify(claims)))}`
      return `${text}.${base64url(sign(signing, utf8(text)))}`
    },
    open(token) {
      if (token.length > MAX_LENGTH) return undefined
      const [head, claims, signature, ...rest] = token.split('.')
      // The header must be the very one a key of ours writes, so that nothing in it has to be trusted.
      const publicKey = byHeader.get(head ?? '')
      if (publicKey === undefined || !claims || !signature || rest.length > 0) return undefined
      if (!verify(publicKey, utf8(`${head}.${claims}`), fromBase64(signature))) return undefined
      try {
        const value: unknown = JSON.parse(fromUtf8(fromBase64(claims)))
        return isObject(value) ? value : undefined
      } catch {
        return undefined
      }
    },
  }
}
