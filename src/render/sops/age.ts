/**
 * Files of age with X25519 recipients: what SOPS wraps data keys in. Passphrases (scrypt) are refused without work, and
 * so are other recipients.
 */
import {
  agreeRaw,
  chachaOpen,
  concatBytes,
  equalBytes,
  fromBase64,
  fromUtf8,
  hkdf,
  hmacSha256,
  publicRaw,
  utf8,
} from '../../core/bytes.ts'
import { Secret } from '../../core/secret.ts'
import { SopsError } from './sops-error.ts'

/** A private key. It does not print. */
export interface AgeIdentity {
  readonly key: Secret<Uint8Array>
  readonly recipient: Uint8Array
}

const IDENTITY = 'AGE-SECRET-KEY-'
const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const MAX_IDENTITIES = 100

/** The identities of a key file; throws SopsError, without a part of a key in its message. */
export function readIdentities(text: string): AgeIdentity[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  const found = lines.flatMap((line, at) => {
    if (line === '' || line.startsWith('#')) return []
    const key = line.startsWith(`${IDENTITY}1`) ? decodeBech32(line) : undefined
    if (key?.byteLength !== 32) throw new SopsError(`error at line ${at + 1}: malformed secret key`)
    return [{ key: new Secret(key), recipient: publicRaw(key) }]
  })
  if (found.length === 0) throw new SopsError('no secret keys found')
  if (found.length > MAX_IDENTITIES) throw new SopsError(`more than ${MAX_IDENTITIES} secret keys in one file`)
  return found
}

/** The bytes of an identity, or undefined where its checksum is wrong. */
function decodeBech32(text: string): Uint8Array | undefined {
  const end = text.lastIndexOf('1')
  const words = [...text.slice(end + 1).toLowerCase()].map((letter) => ALPHABET.indexOf(letter))
  if (text !== text.toUpperCase() || words.includes(-1) || words.length < 6) return undefined
  const prefix = [...text.slice(0, end).toLowerCase()].map((letter) => letter.charCodeAt(0))
  if (checksum([...prefix.map((c) => c >> 5), 0, ...prefix.map((c) => c & 31), ...words]) !== 1) return undefined
  const bytes: number[] = []
  let [buffer, bits] = [0, 0]
  for (const word of words.slice(0, -6)) {
    buffer = (buffer << 5) | word
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push(buffer >> bits)
    buffer &= (1 << bits) - 1
  }
  return bits < 5 && buffer === 0 ? Uint8Array.from(bytes) : undefined
}

function checksum(words: readonly number[]): number {
  let sum = 1
  for (const word of words) {
    const top = sum >>> 25
    sum = ((sum & 0x1ffffff) << 5) ^ word
    for (const [bit, generator] of GENERATORS.entries()) if ((top >> bit) & 1) sum ^= generator
  }
  return sum
}

interface Stanza {
  readonly type: string
  readonly args: readonly string[]
  readonly body: Uint8Array
}

const BEGIN = '-----BEGIN AGE ENCRYPTED FILE-----'
const END = '-----END AGE ENCRYPTED FILE-----'
const VERSION = 'age-encryption.org/v1'
/** A wrapped data key has some 400 bytes. */
const MAX_ARMOR = 64 * 1024
const MAX_STANZAS = 64
const INCORRECT = 'identity did not match any of the recipients: incorrect identity for recipient block'

/** Counts key agreements, each of which takes time; throws SopsError when there were too many. */
export type Spend = () => void

/** The content of an armored file; throws SopsError. */
export function openAge(armored: string, identities: readonly AgeIdentity[], spend: Spend): Uint8Array {
  const { stanzas, header, mac, payload } = readFile(armored)
  const fileKey = fileKeyOf(stanzas, identities, spend)
  const headerKey = hkdf(fileKey, new Uint8Array(), 'header', 32)
  if (!equalBytes(hmacSha256(headerKey, header), mac)) throw new SopsError('bad header MAC')
  return openPayload(fileKey, payload)
}

function readFile(armored: string) {
  const malformed = (): never => {
    throw new SopsError('malformed age file')
  }
  const text = armored.trim()
  if (text.length > MAX_ARMOR || !text.startsWith(BEGIN) || !text.endsWith(END)) return malformed()
  const bytes = fromBase64(text.slice(BEGIN.length, -END.length))
  const lines: string[] = []
  let at = 0
  const line = (): string => {
    const end = bytes.indexOf(0x0a, at)
    if (end < 0) return malformed()
    const found = textIn(bytes.subarray(at, end)) ?? malformed()
    at = end + 1
    lines.push(found)
    return found
  }
  if (line() !== VERSION) return malformed()
  const stanzas: Stanza[] = []
  for (;;) {
    const first = line()
    if (first.startsWith('--- ')) {
      const header = utf8(`${lines.slice(0, -1).join('\n')}\n---`)
      return { stanzas, header, mac: fromBase64(first.slice(4)), payload: bytes.subarray(at) }
    }
    const [arrow, type, ...args] = first.split(' ')
    if (arrow !== '->' || type === undefined || stanzas.length >= MAX_STANZAS) return malformed()
    const body: string[] = []
    do body.push(line())
    while (body.at(-1)!.length === 64)
    stanzas.push({ type, args, body: fromBase64(body.join('')) })
  }
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}

function fileKeyOf(stanzas: readonly Stanza[], identities: readonly AgeIdentity[], spend: Spend): Uint8Array {
  const others = stanzas.filter(({ type }) => type !== 'X25519').map(({ type }) => type.slice(0, 32))
  for (const identity of identities) {
    for (const stanza of stanzas) {
      if (stanza.type !== 'X25519') continue
      spend()
      const found = unwrap(stanza, identity)
      if (found) return found
    }
  }
  const refused =
    others.length === 0 ? '' : ` (recipients of type ${[...new Set(others)].join(', ')} are not supported)`
  throw new SopsError(`${INCORRECT}${refused}`)
}

function unwrap({ args, body }: Stanza, { key, recipient }: AgeIdentity): Uint8Array | undefined {
  const share = fromBase64(args[0] ?? '')
  // The length of the body is checked, because one ciphertext can open under several keys.
  if (share.byteLength !== 32 || body.byteLength !== 32) return undefined
  try {
    const shared = agreeRaw(key.reveal(), share)
    const wrapping = hkdf(shared, concatBytes([share, recipient]), `${VERSION}/X25519`, 32)
    return chachaOpen(wrapping, new Uint8Array(12), body)
  } catch {
    return undefined
  }
}

const CHUNK = 64 * 1024 + 16

function openPayload(fileKey: Uint8Array, payload: Uint8Array): Uint8Array {
  const key = hkdf(fileKey, payload.subarray(0, 16), 'payload', 32)
  const parts: Uint8Array[] = []
  for (let [at, count] = [16, 0]; at === 16 || at < payload.byteLength; at += CHUNK, count += 1) {
    const nonce = new Uint8Array(12)
    new DataView(nonce.buffer).setUint32(7, count)
    nonce[11] = at + CHUNK >= payload.byteLength ? 1 : 0
    try {
      parts.push(chachaOpen(key, nonce, payload.subarray(at, at + CHUNK)))
    } catch {
      throw new SopsError('failed to decrypt and authenticate payload chunk')
    }
  }
  return concatBytes(parts)
}
