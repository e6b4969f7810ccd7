/** The one string a person pastes to join a cluster: where the hub is, which root to trust, and the token. */
import { base64url, fromBase64, hex, sha256, utf8 } from '../../core/bytes.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { parseJson, WireError } from '../validate.ts'

/** What a join code holds. */
export interface JoinCode {
  /** Gateways of the hub, `https://host:port`; the first that answers is used. */
  readonly endpoints: readonly string[]
  /** Digest of the root public key's DER: the rest is verified from it. */
  readonly root: Digest
  readonly token: JoinTokenSecret
}

/** A join token as its bearer has it; the hub stores only `tokenHash(secret)`. */
export interface JoinTokenSecret {
  /** The JoinToken object's name. */
  readonly name: string
  readonly secret: string
}

const PREFIX = 'flotilla1'
const MAX_CHARS = 4096

const Body = Type.Object(
  {
    u: Type.Array(Type.String({ maxLength: 512 }), { minItems: 1, maxItems: 8 }),
    r: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    n: Type.String({ minLength: 1, maxLength: 253 }),
    s: Type.String({ minLength: 16, maxLength: 128 }),
  },
  { additionalProperties: false },
)

/** What the hub stores of a token's secret. */
export function tokenHash(secret: string): string {
  return hex(sha256(secret))
}

/** A new token secret from 32 random bytes. */
export function tokenSecret(random: Uint8Array): string {
  return base64url(random)
}

/** The paste-able string: `flotilla1.<body>.<checksum>`. */
export function formatJoinCode(code: JoinCode): string {
  const body = {
    u: code.endpoints,
    r: code.root.slice('sha256:'.length),
    n: code.token.name,
    s: code.token.secret,
  }
  const text = `${PREFIX}.${base64url(utf8(JSON.stringify(body)))}`
  return `${text}.${checksum(text)}`
}

/** Reads a join code; a WireError says what is wrong with it, never showing the secret. */
export function parseJoinCode(pasted: string): JoinCode {
  const text = pasted.trim()
  const refuse = (problem: string): never => {
    throw new WireError('Malformed', `join code: ${problem}`)
  }
  if (text.length > MAX_CHARS) refuse(`longer than ${MAX_CHARS} characters`)
  const [prefix, body, check, ...more] = text.split('.')
  if (prefix !== PREFIX) {
    refuse(
      /^flotilla\d+$/.test(prefix ?? '')
        ? `made for a newer agent (${prefix}); this one reads ${PREFIX}`
        : `does not begin with "${PREFIX}."; copy the whole line that "flotilla cluster add" printed`,
    )
  }
  if (!body || !check || more.length > 0) return refuse('is cut short; copy it again as one line')
  if (checksum(`${prefix}.${body}`) !== check) return refuse('its checksum does not match; copy it again as one line')
  const value = parseJson(Body, fromBase64(body), { what: 'join code', maxBytes: MAX_CHARS })
  for (const endpoint of value.u) checkEndpoint(endpoint)
  const root = `sha256:${value.r}`
  if (!isDigest(root)) return refuse('has no root key fingerprint')
  return { endpoints: value.u, root, token: { name: value.n, secret: value.s } }
}

/** Throws unless the text is `https://host[:port]` and nothing more. */
export function checkEndpoint(endpoint: string): void {
  if (!/^https:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:\d{1,5})?$/.test(endpoint)) {
    throw new WireError('Malformed', `hub address ${JSON.stringify(endpoint)}: want https://host:port`)
  }
}

function checksum(text: string): string {
  return base64url(sha256(text)).slice(0, 8)
}
