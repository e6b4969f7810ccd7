/** Functions that draw random values: passwords, ids, shuffling. Each draw can be frozen and replayed. */
import { aesCbcDecrypt, aesCbcEncrypt, base64, fromBase64, hmacSha256, scrypt } from '../../../../core/bytes.ts'
import { GoError, goFunction } from '../../../gotemplate/function.ts'
import type { GoFunction } from '../../../gotemplate/function.ts'
import { fromGoBytes, goBytes } from '../../../gotemplate/go-string.ts'
import { goInt } from '../../../gotemplate/value.ts'
import type { GoInt } from '../../../gotemplate/value.ts'
import type { RandomDraws, Entropy } from '../../frozen-random.ts'
import { bcryptHash } from './bcrypt.ts'
import { count, MAX_TEXT } from '../convert.ts'
import { decodeBase64 } from './encode.ts'

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const ASCII = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).join('')

/** A whole number below `limit`, evenly distributed. */
function below(limit: number, entropy: Entropy): number {
  const ceiling = 2 ** 48 - (2 ** 48 % limit)
  for (;;) {
    const value = entropy.randomBytes(6).reduce((sum, byte) => sum * 256 + byte, 0)
    if (value < ceiling) return value % limit
  }
}

function pick(alphabet: string, length: number, entropy: Entropy): string {
  // A single request for all bytes; bytes that would favour some characters are dropped.
  const fair = 256 - (256 % alphabet.length)
  let out = ''
  while (out.length < length) {
    for (const byte of entropy.randomBytes(length - out.length + 16)) {
      if (byte < fair && out.length < length) out += alphabet[byte % alphabet.length]
    }
  }
  return out
}

/** Go's int conversion of a length, refusing what would fill the memory. */
function lengthOf(value: unknown): number {
  const length = count(value)
  if (length > MAX_TEXT) throw new GoError(`the result would have more than ${MAX_TEXT} characters`)
  return length
}

function uuid(bytes: Uint8Array): string {
  const own = Uint8Array.from(bytes)
  own[6] = (own[6]! & 0x0f) | 0x40
  own[8] = (own[8]! & 0x3f) | 0x80
  const digits = Array.from(own, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  maximum: ['anoxxxxxxxxxxxxxxxxx', 'axxxxxxxxxxxxxxxxxno'],
  long: (
    'CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv ' +
    'CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv ' +
    'CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno'
  ).split(' '),
  medium: ['CvcnoCvc', 'CvcCvcno'],
  short: ['Cvcn'],
  basic: ['aaanaaan', 'aannaaan', 'aaannaaa'],
  pin: ['nnnn'],
}

const CHARACTERS: Readonly<Record<string, string>> = {
  V: 'AEIOU',
  C: 'BCDFGHJKLMNPQRSTVWXYZ',
  v: 'aeiou',
  c: 'bcdfghjklmnpqrstvwxyz',
  A: 'AEIOUBCDFGHJKLMNPQRSTVWXYZ',
  a: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz',
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: 'AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()',
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
}

/** The Master Password algorithm: the same password for the same site, always. */
function derivePassword(counter: number, type: string, [password, user, site]: readonly Uint8Array[]): string {
  if (!Object.hasOwn(TEMPLATES, type)) return `cannot find password template ${type}`
  const templates = TEMPLATES[type]!
  const seedName = goBytes('com.lyndir.masterpassword')
  const key = scrypt(password!, Uint8Array.from([...seedName, ...uint32(user!.length), ...user!]), {
    N: 32768,
    r: 8,
    p: 2,
    length: 64,
  })
  const message = Uint8Array.from([...seedName, ...uint32(site!.length), ...site!, ...uint32(counter)])
  const seed = hmacSha256(key, message)
  const template = templates[seed[0]! % templates.length]!
  return Array.from(template, (kind, at) => {
    const characters = CHARACTERS[kind]!
    return characters[seed[at + 1]! % characters.length]
  }).join('')
}

function aesKey(password: string): Uint8Array {
  const key = new Uint8Array(32)
  key.set(goBytes(password).subarray(0, 32))
  return key
}

function decryptAes(password: string, text: string): string {
  if (text === '') return ''
  const bytes = decodeBase64(text)
  if (bytes.length < 16)
    throw new GoError(`runtime error: slice bounds out of range [:16] with capacity ${bytes.length}`)
  if (bytes.length % 16 !== 0) throw new GoError('crypto/cipher: input not full blocks')
  if (bytes.length === 16) throw new GoError('runtime error: index out of range [-1]')
  const plain = aesCbcDecrypt(aesKey(password), bytes.subarray(0, 16), bytes.subarray(16))
  const end = plain.length - plain.at(-1)!
  if (end < 0) throw new GoError(`runtime error: slice bounds out of range [:${end}]`)
  return fromGoBytes(plain.subarray(0, end))
}

/** Functions that draw, and their cryptographic kin. */
export function randomFunctions(draws: RandomDraws): Record<string, GoFunction> {
  const text = (name: string, alphabet: string) =>
    goFunction(['int'], ([length]) => {
      const wanted = lengthOf(length)
      return wanted <= 0 ? '' : draws.draw(name, (entropy) => pick(alphabet, wanted, entropy))
    })
  const bcrypt = (password: string): string => {
    const salt = draws.draw('bcrypt', (entropy) => base64(entropy.randomBytes(16)))
    try {
      return bcryptHash(goBytes(password), fromBase64(salt))
    } catch (error) {
      if (error instanceof GoError) return `failed to encrypt string with bcrypt: ${error.message}`
      throw error
    }
  }
  return {
    randAlphaNum: text('randAlphaNum', LETTERS + DIGITS),
    randAlpha: text('randAlpha', LETTERS),
    randNumeric: text('randNumeric', DIGITS),
    randAscii: text('randAscii', ASCII),
    randBytes: goFunction(['int'], ([length]) => {
      const wanted = lengthOf(length)
      if (wanted < 0) throw new GoError('runtime error: makeslice: len out of range')
      return draws.draw('randBytes', (entropy) => base64(entropy.randomBytes(wanted)))
    }),
    randInt: goFunction(['int', 'int'], ([low, high]) => {
      const range = count(high) - count(low)
      if (range <= 0) throw new GoError('invalid argument to Intn')
      return goInt(count(low) + draws.draw('randInt', (entropy) => below(range, entropy)))
    }),
    uuidv4: goFunction([], () => draws.draw('uuidv4', (entropy) => uuid(entropy.randomBytes(16)))),
    shuffle: goFunction(['string'], ([given]) => {
      const runes = [...(given as string)]
      if (runes.length === 0) return ''
      const order = draws.draw('shuffle', (entropy) => runes.map((_, at) => below(at + 1, entropy)))
      for (const [at, other] of order.entries()) [runes[at], runes[other]] = [runes[other]!, runes[at]!]
      return runes.join('')
    }),
    bcrypt: goFunction(['string'], ([password]) => bcrypt(password as string)),
    htpasswd: goFunction(['string', 'string'], ([user, password]) =>
      (user as string).includes(':')
        ? `invalid username: ${String(user)}`
        : `${String(user)}:${bcrypt(password as string)}`,
    ),
    derivePassword: goFunction(
      ['uint32', 'string', 'string', 'string', 'string'],
      ([counter, type, password, user, site]) =>
        derivePassword(
          Number((counter as GoInt).value),
          type as string,
          [password, user, site].map((part) => goBytes(part as string)),
        ),
    ),
    encryptAES: goFunction(['string', 'string'], ([password, plain]) => {
      if (plain === '') return ''
      const iv = fromBase64(draws.draw('encryptAES', (entropy) => base64(entropy.randomBytes(16))))
      return base64(
        Uint8Array.from([...iv, ...aesCbcEncrypt(aesKey(password as string), iv, goBytes(plain as string))]),
      )
    }),
    decryptAES: goFunction(['string', 'string'], ([password, text]) => decryptAes(password as string, text as string)),
  }
}
