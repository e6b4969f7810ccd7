/**
 * The one door of the pure rooms to Node: synchronous hashing, signing, sealing and compression.
 * Key generation and randomness are here too, but only composition roots and `system-ids.ts` may call them.
 */
import type * as Crypto from 'node:crypto'
import type * as Zlib from 'node:zlib'
import { compact } from './compact.ts'

/**
 * Node's modules, loaded when they are first used: that takes some 15 ms, which a command that hashes nothing does not
 * pay.
 */
const node = {
  get crypto(): typeof Crypto {
    const loaded = process.getBuiltinModule('node:crypto')
    Object.defineProperty(node, 'crypto', { value: loaded })
    return loaded
  },
  get zlib(): typeof Zlib {
    const loaded = process.getBuiltinModule('node:zlib')
    Object.defineProperty(node, 'zlib', { value: loaded })
    return loaded
  },
}

// Made once: making a decoder costs more than decoding a small body.
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** UTF-8 bytes of a string. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The string of UTF-8 bytes; throws on invalid sequences. */
export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Joins byte strings. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let offset = 0
  for (const part of parts) {
    whole.set(part, offset)
    offset += part.byteLength
  }
  return whole
}

/** Lower-case hexadecimal. */
export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}

/** Standard base64 with padding. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Base64 for URLs, without padding. */
export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

/** Bytes of base64 or base64url text. */
export function fromBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}

/** SHA-256 of bytes or of a string's UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(node.crypto.hash('sha256', data, 'buffer'))
}

/** SHA-1, for formats that ask for it; never for security. */
export function sha1(data: Uint8Array): Uint8Array {
  return new Uint8Array(node.crypto.createHash('sha1').update(data).digest())
}

/** MD5, for names that other systems made with it; never for security. */
export function md5(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(node.crypto.createHash('md5').update(data).digest())
}

/** SHA-512. */
export function sha512(data: Uint8Array): Uint8Array {
  return new Uint8Array(node.crypto.createHash('sha512').update(data).digest())
}

/** HMAC-SHA-256. */
export function hmacSha256(key: Uint8Array, data: Uint8Array | string): Uint8Array {
  return new Uint8Array(node.crypto.createHmac('sha256', key).update(data).digest())
}

/** Compares two byte strings without telling by time where they differ. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && node.crypto.timingSafeEqual(a, b)
}

/** A key pair in PEM: PKCS #8 private, SPKI public. */
export interface KeyPair {
  readonly privateKey: string
  readonly publicKey: string
}

/** Makes a key pair: Ed25519 signs documents, P-256 speaks TLS, X25519 seals. */
export function generateKeyPair(type: 'ed25519' | 'p256' | 'x25519'): KeyPair {
  const encoding = {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  } as const
  if (type === 'p256') return node.crypto.generateKeyPairSync('ec', { namedCurve: 'P-256', ...encoding })
  if (type === 'x25519') return node.crypto.generateKeyPairSync('x25519', encoding)
  return node.crypto.generateKeyPairSync('ed25519', encoding)
}

/** A new private key in PEM, in the form Go's template functions print it; only for composition roots. */
export function generateTraditionalKey(type: 'rsa2048' | 'rsa4096' | 'ecdsa' | 'ed25519' | 'dsa'): string {
  switch (type) {
    case 'ecdsa':
      return node.crypto
        .generateKeyPairSync('ec', { namedCurve: 'P-256' })
        .privateKey.export({ type: 'sec1', format: 'pem' })
    case 'ed25519':
      return node.crypto.generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
    case 'dsa':
      return node.crypto.generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).privateKey.export({
        type: 'pkcs8',
        format: 'pem',
      })
    default: {
      const { privateKey } = node.crypto.generateKeyPairSync('rsa', { modulusLength: type === 'rsa2048' ? 2048 : 4096 })
      return privateKey.export({ type: 'pkcs1', format: 'pem' })
    }
  }
}

/** What kind of key a PEM private key is; undefined when it is none. */
export function privateKeyType(pem: string): string | undefined {
  try {
    return node.crypto.createPrivateKey(pem).asymmetricKeyType
  } catch {
    return undefined
  }
}

/** The public half (SPKI PEM) of a PEM private key. */
export function publicKeyOf(privateKey: string): string {
  return node.crypto.createPublicKey(node.crypto.createPrivateKey(privateKey)).export({ type: 'spki', format: 'pem' })
}

/** Whether a PEM private key can be read and is an Ed25519 one. */
export function isEd25519(privateKey: string): boolean {
  try {
    return node.crypto.createPrivateKey(privateKey).asymmetricKeyType === 'ed25519'
  } catch {
    return false
  }
}

/** DER of a PEM public key (SPKI). */
export function publicKeyDer(publicKey: string): Uint8Array {
  return new Uint8Array(node.crypto.createPublicKey(publicKey).export({ type: 'spki', format: 'der' }))
}

/** PEM of a DER public key (SPKI). */
export function publicKeyPem(der: Uint8Array): string {
  return node.crypto.createPublicKey({ key: Buffer.from(der), type: 'spki', format: 'der' }).export({
    type: 'spki',
    format: 'pem',
  })
}

/** Signs: Ed25519 as it is, P-256 with SHA-256 and a DER signature. */
export function sign(privateKey: string, data: Uint8Array): Uint8Array {
  const key = node.crypto.createPrivateKey(privateKey)
  return new Uint8Array(node.crypto.sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, key))
}

/** Verifies what `sign` made; false for any malformed input. */
export function verify(publicKey: string, data: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = node.crypto.createPublicKey(publicKey)
    return node.crypto.verify(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', data, key, signature)
  } catch {
    return false
  }
}

/** X25519 shared secret of a private and a public PEM key. */
export function agree(privateKey: string, publicKey: string): Uint8Array {
  return new Uint8Array(
    node.crypto.diffieHellman({
      privateKey: node.crypto.createPrivateKey(privateKey),
      publicKey: node.crypto.createPublicKey(publicKey),
    }),
  )
}

const X25519_PRIVATE = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20]
const X25519_PUBLIC = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x03, 0x21, 0x00]

function rawPrivateKey(raw: Uint8Array): Crypto.KeyObject {
  return node.crypto.createPrivateKey({ key: Buffer.from([...X25519_PRIVATE, ...raw]), type: 'pkcs8', format: 'der' })
}

/** X25519 shared secret of keys of 32 bytes; throws for other lengths, and for points without a secret. */
export function agreeRaw(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  const point = Buffer.from([...X25519_PUBLIC, ...publicKey])
  return new Uint8Array(
    node.crypto.diffieHellman({
      privateKey: rawPrivateKey(privateKey),
      publicKey: node.crypto.createPublicKey({ key: point, type: 'spki', format: 'der' }),
    }),
  )
}

/** The public half of an X25519 key of 32 bytes. */
export function publicRaw(privateKey: Uint8Array): Uint8Array {
  const der = node.crypto.createPublicKey(rawPrivateKey(privateKey)).export({ type: 'spki', format: 'der' })
  return new Uint8Array(der.subarray(X25519_PUBLIC.length))
}

/** HKDF-SHA-256. */
export function hkdf(secret: Uint8Array, salt: Uint8Array, info: string, length: number): Uint8Array {
  return new Uint8Array(node.crypto.hkdfSync('sha256', secret, salt, info, length))
}

/** scrypt with its cost parameters. */
export function scrypt(
  password: Uint8Array,
  salt: Uint8Array,
  cost: { readonly N: number; readonly r: number; readonly p: number; readonly length: number },
): Uint8Array {
  const { length, ...options } = cost
  return new Uint8Array(node.crypto.scryptSync(password, salt, length, { ...options, maxmem: 256 * cost.N * cost.r }))
}

/** AES-256-CBC with PKCS #7 padding. */
export function aesCbcEncrypt(key: Uint8Array, iv: Uint8Array, plain: Uint8Array): Uint8Array {
  const cipher = node.crypto.createCipheriv('aes-256-cbc', key, iv)
  return new Uint8Array(Buffer.concat([cipher.update(plain), cipher.final()]))
}

/** AES-256-CBC with the padding left on. */
export function aesCbcDecrypt(key: Uint8Array, iv: Uint8Array, sealed: Uint8Array): Uint8Array {
  const decipher = node.crypto.createDecipheriv('aes-256-cbc', key, iv)
  decipher.setAutoPadding(false)
  return new Uint8Array(Buffer.concat([decipher.update(sealed), decipher.final()]))
}

/** AES-256-GCM; the tag is appended to the ciphertext. */
export function aeadSeal(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array, associated: Uint8Array): Uint8Array {
  const cipher = node.crypto.createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(associated)
  return new Uint8Array(Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]))
}

/** Opens what `aeadSeal` made; throws when a byte differs. */
export function aeadOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array, associated: Uint8Array): Uint8Array {
  const decipher = node.crypto.createDecipheriv('aes-256-gcm', key, nonce)
  decipher.setAAD(associated)
  decipher.setAuthTag(sealed.subarray(sealed.byteLength - 16))
  return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(0, sealed.byteLength - 16)), decipher.final()]))
}

/** Opens ChaCha20-Poly1305 without associated data; throws when a byte differs. */
export function chachaOpen(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array {
  const decipher = node.crypto.createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
  decipher.setAuthTag(sealed.subarray(sealed.byteLength - 16))
  return new Uint8Array(Buffer.concat([decipher.update(sealed.subarray(0, sealed.byteLength - 16)), decipher.final()]))
}

/** Compresses with zstd; with a base, only what differs from it costs bytes. */
export function zstd(data: Uint8Array, base?: Uint8Array): Uint8Array {
  return new Uint8Array(node.zlib.zstdCompressSync(data, zstdOptions(data.byteLength, base)))
}

/** Decompresses zstd, refusing to produce more than `maxBytes`. */
export function unzstd(data: Uint8Array, maxBytes: number, base?: Uint8Array): Uint8Array {
  return new Uint8Array(
    node.zlib.zstdDecompressSync(
      data,
      compact({
        maxOutputLength: maxBytes,
        params: { [node.zlib.constants.ZSTD_d_windowLogMax]: 31 },
        dictionary: base,
      }),
    ),
  )
}

/** Compresses with gzip; the result depends on the bytes alone. */
export function gzip(data: Uint8Array): Uint8Array {
  return new Uint8Array(node.zlib.gzipSync(data))
}

/** Decompresses gzip, refusing to produce more than `maxBytes`. */
export function gunzip(data: Uint8Array, maxBytes: number): Uint8Array {
  return new Uint8Array(node.zlib.gunzipSync(data, { maxOutputLength: maxBytes }))
}

// Node's defaults find matches only in about the last megabyte of a dictionary: window, hash and chain must cover base
// + target.
function zstdOptions(targetBytes: number, base: Uint8Array | undefined) {
  if (!base) return {}
  const log = Math.min(27, Math.max(17, Math.ceil(Math.log2(base.byteLength + targetBytes + 1))))
  return {
    dictionary: base,
    params: {
      [node.zlib.constants.ZSTD_c_windowLog]: log,
      [node.zlib.constants.ZSTD_c_hashLog]: Math.min(log, 27),
      [node.zlib.constants.ZSTD_c_chainLog]: Math.min(log, 28),
    },
  }
}

/** Random bytes; only for composition roots and `system-ids.ts`. */
export function randomBytes(n: number): Uint8Array {
  return new Uint8Array(node.crypto.randomBytes(n))
}

/** A random UUID; only for `system-ids.ts`. */
export function randomUid(): string {
  return node.crypto.randomUUID()
}

/** A random number in [0, 1); only for `system-ids.ts`. */
export function randomFraction(): number {
  return node.crypto.randomBytes(6).readUIntBE(0, 6) / 2 ** 48
}

/** The order of two byte strings. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}
