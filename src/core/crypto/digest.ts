import { hex, sha256 } from '../bytes.ts'
import { canonicalJson } from '../json.ts'

/** `sha256:` and 64 hexadecimal digits: the name of immutable bytes. */
export type Digest = `sha256:${string}`

/** The digest of bytes or of a string's UTF-8. */
export function digestOf(data: Uint8Array | string): Digest {
  return `sha256:${hex(sha256(data))}`
}

/** The digest of a JSON value's canonical form. */
export function digestOfJson(value: unknown): Digest {
  return digestOf(canonicalJson(value))
}

/** True for well-formed digests; check before using a digest as a key or file name. */
export function isDigest(text: unknown): text is Digest {
  return typeof text === 'string' && /^sha256:[0-9a-f]{64}$/.test(text)
}
