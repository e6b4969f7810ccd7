/** Checksums and encodings. */
import { base64, hex, sha1, sha256, sha512 } from '../../../../core/bytes.ts'
import { smallSha256 } from '../../../../core/crypto/small-sha256.ts'
import { GoError, goFunction } from '../../../gotemplate/function.ts'
import type { GoFunction } from '../../../gotemplate/function.ts'
import { fromGoBytes, goBytes } from '../../../gotemplate/go-string.ts'

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** base64.StdEncoding.DecodeString; throws GoError with Go's words. Line breaks do not count. */
export function decodeBase64(text: string): Uint8Array {
  return decodeBits(goBytes(text), { alphabet: BASE64, bits: 6, group: 4, padded: [2, 3], name: 'base64' })
}

interface BitCode {
  readonly alphabet: string
  readonly bits: number
  /** Characters of a full group. */
  readonly group: number
  /** How many characters may stand before padding. */
  readonly padded: readonly number[]
  readonly name: string
}

function decodeBits(text: Uint8Array, code: BitCode): Uint8Array {
  const corrupt = (at: number) => new GoError(`illegal ${code.name} data at input byte ${at}`)
  const out: number[] = []
  let buffer = 0
  let bits = 0
  let inGroup = 0
  for (let at = 0; at < text.length; at++) {
    const char = String.fromCharCode(text[at]!)
    if (char === '\n' || char === '\r') continue
    if (char === '=') {
      checkPadding(text, at, { ...code, inGroup, corrupt })
      return Uint8Array.from(out)
    }
    const value = code.alphabet.indexOf(char)
    if (value < 0) throw corrupt(at)
    buffer = ((buffer << code.bits) | value) & 0xffff
    bits += code.bits
    inGroup = (inGroup + 1) % code.group
    if (bits >= 8) {
      bits -= 8
      out.push((buffer >> bits) & 0xff)
    }
  }
  if (inGroup !== 0) throw corrupt(text.length - inGroup)
  return Uint8Array.from(out)
}

function checkPadding(
  text: Uint8Array,
  start: number,
  code: BitCode & { inGroup: number; corrupt: (at: number) => GoError },
): void {
  if (!code.padded.includes(code.inGroup)) throw code.corrupt(start)
  let needed = code.group - code.inGroup
  let at = start
  for (; at < text.length && needed > 0; at++) {
    const char = text[at]!
    if (char === 0x0a || char === 0x0d) continue
    if (char !== 0x3d) throw code.corrupt(at)
    needed -= 1
  }
  if (needed > 0) throw code.corrupt(text.length)
  for (; at < text.length; at++) if (text[at] !== 0x0a && text[at] !== 0x0d) throw code.corrupt(at)
}

function encodeBase32(bytes: Uint8Array): string {
  let out = ''
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += BASE32[(buffer >> bits) & 31]
    }
  }
  if (bits > 0) out += BASE32[(buffer << (5 - bits)) & 31]
  return out.padEnd(Math.ceil(out.length / 8) * 8, '=')
}

function adler32(bytes: Uint8Array): string {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65521
    b = (b + a) % 65521
  }
  return String(b * 65536 + a)
}

function orProblem(decode: () => Uint8Array): string {
  try {
    return fromGoBytes(decode())
  } catch (error) {
    if (error instanceof GoError) return error.message
    throw error
  }
}

/** In bytes: what is larger is worth to load Node's own. */
const SMALL = 16 * 1024

const onBytes = (call: (bytes: Uint8Array) => string) =>
  goFunction(['string'], ([text]) => call(goBytes(text as string)))

/** Checksums and encodings. */
export const ENCODING_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  b64enc: onBytes(base64),
  b64dec: goFunction(['string'], ([text]) => orProblem(() => decodeBase64(text as string))),
  b32enc: onBytes(encodeBase32),
  b32dec: onBytes((bytes) =>
    // The decoder never sees line breaks, and counts without them.
    orProblem(() =>
      decodeBits(
        bytes.filter((byte) => byte !== 10 && byte !== 13),
        { alphabet: BASE32, bits: 5, group: 8, padded: [2, 4, 5, 7], name: 'base32' },
      ),
    ),
  ),
  sha1sum: onBytes((bytes) => hex(sha1(bytes))),
  sha256sum: onBytes((bytes) => hex(bytes.length <= SMALL ? smallSha256(bytes) : sha256(bytes))),
  sha512sum: onBytes((bytes) => hex(sha512(bytes))),
  adler32sum: onBytes(adler32),
}
