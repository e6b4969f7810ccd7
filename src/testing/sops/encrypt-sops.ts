/** Encrypts objects as SOPS does, for one recipient of age; tests only. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { agreeRaw, concatBytes, hkdf, hmacSha256, publicRaw, utf8 } from '../../core/bytes.ts'
import type { JsonObject } from '../../core/json.ts'

/** An identity of age that protects nothing. */
export const AGE_KEY = 'AGE-SECRET-KEY-1PT7JL4THM7Q74HJ890DAAP6GTZTT9708GVJ8HVREDM3HW9H40V3Q2WKJAW'
/** Another one. */
export const OTHER_AGE_KEY = 'AGE-SECRET-KEY-1N4PF5TADAMV5N3TMFYTNJSJLF4AWL2FVGXAC5J2XJLL7SVS9XTRQ4ZKA5D'

const VERSION = 'age-encryption.org/v1'
const MODIFIED = '2026-01-02T03:04:05Z'

function plainBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}

function chacha(key: Uint8Array, nonce: Uint8Array, plain: Uint8Array): Uint8Array {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
  return concatBytes([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** A text of age for a recipient. */
function encryptAge(plain: Uint8Array, recipient: Uint8Array): string {
  const fileKey = new Uint8Array(randomBytes(16))
  const ephemeral = new Uint8Array(randomBytes(32))
  const share = publicRaw(ephemeral)
  const wrapping = hkdf(agreeRaw(ephemeral, recipient), concatBytes([share, recipient]), `${VERSION}/X25519`, 32)
  const body = chacha(wrapping, new Uint8Array(12), fileKey)
  const header = `${VERSION}\n-> X25519 ${plainBase64(share)}\n${plainBase64(body)}\n---`
  const mac = hmacSha256(hkdf(fileKey, new Uint8Array(), 'header', 32), header)
  const nonce = new Uint8Array(randomBytes(16))
  const last = new Uint8Array(12)
  last[11] = 1
  const payload = concatBytes([nonce, chacha(hkdf(fileKey, nonce, 'payload', 32), last, plain)])
  const bytes = concatBytes([utf8(`${header} ${plainBase64(mac)}\n`), payload])
  return `-----BEGIN AGE ENCRYPTED FILE-----\n${Buffer.from(bytes).toString('base64')}\n-----END AGE ENCRYPTED FILE-----\n`
}

/** The object as a SOPS file in JSON: texts below keys of `fields` are encrypted. */
export function encryptSops(
  object: Readonly<Record<string, unknown>>,
  recipient: Uint8Array,
  fields = ['data', 'stringData'],
): string {
  const key = new Uint8Array(randomBytes(32))
  const hash = createHash('sha512')
  const seal = (text: string | Uint8Array, associated: string): string => {
    const iv = randomBytes(32)
    const cipher = createCipheriv('aes-256-gcm', key, iv)
    cipher.setAAD(utf8(associated))
    const data = Buffer.concat([cipher.update(text), cipher.final()])
    const part = (bytes: Buffer) => bytes.toString('base64')
    return `ENC[AES256_GCM,data:${part(data)},iv:${part(iv)},tag:${part(cipher.getAuthTag())},type:str]`
  }
  const walk = (value: unknown, path: readonly string[]): unknown => {
    if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, [...path, name])]))
    }
    const text = value instanceof Uint8Array ? value : String(value)
    hash.update(text)
    return path.some((name) => fields.includes(name)) ? seal(text, `${path.join(':')}:`) : value
  }
  const sealed = walk(object, []) as JsonObject
  const sops = {
    age: [{ recipient: 'age1test', enc: encryptAge(key, recipient) }],
    encrypted_regex: `^(${fields.join('|')})$`,
    lastmodified: MODIFIED,
    mac: seal(hash.digest('hex').toUpperCase(), MODIFIED),
    version: '3.13.2',
  }
  return `${JSON.stringify({ ...sealed, sops }, null, 2)}\n`
}
