/** Cleartext signatures of OpenPGP (RFC 4880), as much of it as signed charts need: version 4, RSA and Ed25519. */
import { createHash, createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** Something that cannot be read or does not verify. */
export class PgpError extends Error {
  override readonly name = 'PgpError'
}

interface Packet {
  readonly tag: number
  readonly body: Buffer
}

interface PublicKey {
  readonly id: string
  readonly key: KeyObject
}

const HASHES: Readonly<Record<number, string>> = { 8: 'sha256', 9: 'sha384', 10: 'sha512', 11: 'sha224' }
const ED25519_OID = '2b06010401da470f01'
const CLEARTEXT =
  /^-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:[A-Za-z]+: [^\r\n]*\r?\n)*\r?\n([\s\S]*?)\r?\n(-----BEGIN PGP SIGNATURE-----[\s\S]*?-----END PGP SIGNATURE-----)/

/** The text of a signed message, if a key of the keyring signed it; throws PgpError otherwise. */
export function verifyCleartext(message: string, keyring: string): { readonly text: string; readonly keyId: string } {
  const match = CLEARTEXT.exec(message)
  if (!match) throw new PgpError('it is no signed message')
  const text = match[1]!
    .split(/\r?\n/)
    .map((line) => line.replace(/^- /, '').replace(/[ \t]+$/, ''))
    .join('\r\n')
  const keys = armored(keyring).flatMap((bytes) => keysOf(packetsOf(bytes)))
  if (keys.length === 0)
    throw new PgpError('the keyring holds no public key that can be used (RSA or Ed25519, armored)')
  const signatures = armored(match[2]!).flatMap((bytes) => packetsOf(bytes).filter(({ tag }) => tag === 2))
  for (const { body } of signatures) {
    const keyId = signerOf(body, Buffer.from(text, 'utf8'), keys)
    if (keyId !== undefined) return { text: text.replaceAll('\r\n', '\n'), keyId }
  }
  throw new PgpError('no key of the keyring signed it')
}

function armored(text: string): Buffer[] {
  const blocks = text.matchAll(/-----BEGIN PGP [A-Z ]+-----\r?\n([\s\S]*?)-----END PGP [A-Z ]+-----/g)
  return Array.from(blocks, ([, inner = '']) => {
    const body = inner.replace(/^(?:[A-Za-z]+: [^\r\n]*\r?\n)*\r?\n/, '').replace(/^=[A-Za-z0-9+/]{4}\s*$/m, '')
    return Buffer.from(body.replaceAll(/\s/g, ''), 'base64')
  })
}

function packetsOf(bytes: Buffer): Packet[] {
  const packets: Packet[] = []
  for (let at = 0; at < bytes.length;) {
    const head = bytes[at++]!
    if ((head & 0x80) === 0) throw new PgpError('a packet has no header')
    const isNew = (head & 0x40) !== 0
    const tag = isNew ? head & 0x3f : (head >> 2) & 0x0f
    const { length, size } = isNew ? newLength(bytes, at) : oldLength(bytes, at, head & 0x03)
    at += size
    if (at + length > bytes.length) throw new PgpError('a packet ends early')
    packets.push({ tag, body: bytes.subarray(at, at + length) })
    at += length
  }
  return packets
}

function newLength(bytes: Buffer, at: number): { length: number; size: number } {
  const first = bytes[at] ?? 0
  if (first < 192) return { length: first, size: 1 }
  if (first < 224) return { length: ((first - 192) << 8) + (bytes[at + 1] ?? 0) + 192, size: 2 }
  if (first !== 255 || at + 5 > bytes.length) throw new PgpError('a packet of unknown length')
  return { length: bytes.readUInt32BE(at + 1), size: 5 }
}

function oldLength(bytes: Buffer, at: number, type: number): { length: number; size: number } {
  const size = [1, 2, 4][type]
  if (size === undefined || at + size > bytes.length) throw new PgpError('a packet of unknown length')
  return { length: bytes.readUIntBE(at, size), size }
}

function keysOf(packets: readonly Packet[]): PublicKey[] {
  return packets.flatMap(({ tag, body }) => {
    if ((tag !== 6 && tag !== 14) || body[0] !== 4) return []
    const key = keyOf(body)
    const prefix = Buffer.from([0x99, body.length >> 8, body.length & 0xff])
    const fingerprint = createHash('sha1').update(prefix).update(body).digest('hex')
    return key ? [{ id: fingerprint.slice(-16), key }] : []
  })
}

function keyOf(body: Buffer): KeyObject | undefined {
  const algorithm = body[5]
  if (algorithm === 1 || algorithm === 3) {
    const n = mpiAt(body, 6)
    const e = mpiAt(body, n.end)
    const jwk = { kty: 'RSA', n: n.value.toString('base64url'), e: e.value.toString('base64url') }
    return createPublicKey({ key: jwk, format: 'jwk' })
  }
  const length = body[6] ?? 0
  if (algorithm === 22 && body.subarray(7, 7 + length).toString('hex') === ED25519_OID) {
    const point = mpiAt(body, 7 + length).value
    return createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: point.subarray(1).toString('base64url') },
      format: 'jwk',
    })
  }
  return undefined
}

function mpiAt(bytes: Buffer, at: number): { readonly value: Buffer; readonly end: number } {
  if (at + 2 > bytes.length) throw new PgpError('a number ends early')
  const end = at + 2 + Math.ceil(bytes.readUInt16BE(at) / 8)
  if (end > bytes.length) throw new PgpError('a number ends early')
  return { value: bytes.subarray(at + 2, end), end }
}

/** The id of the key whose signature this is. */
function signerOf(signature: Buffer, text: Buffer, keys: readonly PublicKey[]): string | undefined {
  const [version, type, algorithm, hashId] = signature
  const hash = HASHES[hashId ?? -1]
  if (version !== 4 || type !== 1 || hash === undefined) return undefined
  const hashedEnd = 6 + signature.readUInt16BE(4)
  const at = hashedEnd + 2 + signature.readUInt16BE(hashedEnd) + 2
  const trailer = Buffer.alloc(6)
  trailer.writeUInt8(4, 0)
  trailer.writeUInt8(0xff, 1)
  trailer.writeUInt32BE(hashedEnd, 2)
  const signed = Buffer.concat([text, signature.subarray(0, hashedEnd), trailer])
  for (const { id, key } of keys) {
    if (algorithm === 1 && key.asymmetricKeyType === 'rsa') {
      const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
      const { value } = mpiAt(signature, at)
      if (value.length <= size && verify(hash, signed, key, padded(value, size))) return id
    } else if (algorithm === 22 && key.asymmetricKeyType === 'ed25519') {
      const r = mpiAt(signature, at)
      const s = mpiAt(signature, r.end)
      const whole = Buffer.concat([padded(r.value, 32), padded(s.value, 32)])
      if (verify(null, createHash(hash).update(signed).digest(), key, whole)) return id
    }
  }
  return undefined
}

function padded(value: Buffer, size: number): Buffer {
  return Buffer.concat([Buffer.alloc(Math.max(0, size - value.length)), value])
}
