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

/** Signs and opens tokens with one key. */
export interface TokenSigner {
  sign(claims: object): string
  /** The claims of a token that this key signed; undefined for anything else. Times are not looked at. */
  open(token: string): JsonObject | undefined
}

// A token is a few hundred bytes; more is somebody's experiment.
const MAX_LENGTH = 16 * 1024

/** A signer over an Ed25519 private key in PEM. */
export function createTokenSigner(privateKey: string): TokenSigner {
  const publicKey = publicKeyOf(privateKey)
  const kid = base64url(sha256(publicKeyDer(publicKey)))
  const header = base64url(utf8(JSON.stringify({ alg: 'EdDSA', kid })))
  return {
    sign(claims) {
      const text = `${header}.${base64url(utf8(JSON.stringify(claims)))}`
      return `${text}.${base64url(sign(privateKey, utf8(text)))}`
    },
    open(token) {
      if (token.length > MAX_LENGTH) return undefined
      const [head, claims, signature, ...rest] = token.split('.')
      // The header must be the very one this key writes, so that nothing in it has to be trusted.
      if (head !== header || !claims || !signature || rest.length > 0) return undefined
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
