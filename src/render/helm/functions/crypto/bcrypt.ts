/** bcrypt as golang.org/x/crypto has it. Blowfish's tables are digits of pi, so they are computed, not carried. */
import { concatBytes, hex, sha256 } from '../../../../core/bytes.ts'
import { GoError } from '../../../gotemplate/function.ts'

const BOXES = 4 * 256
const ROUNDS = 16
const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Signed words: what the engine computes with without making a number an object. */
interface Tables {
  readonly p: Int32Array
  readonly s: Int32Array
}

let initial: Tables | undefined

/** The first words of pi's fraction, by Machin's formula. */
function initialTables(): Tables {
  if (initial) return initial
  const words = ROUNDS + 2 + BOXES
  const guard = 64n
  const unit = 1n << (BigInt(words * 32) + guard)
  const arctan = (inverse: bigint): bigint => {
    let power = unit / inverse
    let sum = power
    for (let divisor = 3n, sign = -1n; power !== 0n; divisor += 2n, sign = -sign) {
      power /= inverse * inverse
      sum += (sign * power) / divisor
    }
    return sum
  }
  const pi = 4n * (4n * arctan(5n) - arctan(239n))
  const digits = ((pi - 3n * unit) >> guard).toString(16).padStart(words * 8, '0')
  const all = Int32Array.from({ length: words }, (_, at) => Number.parseInt(digits.slice(at * 8, at * 8 + 8), 16))
  initial = { p: all.slice(0, ROUNDS + 2), s: all.slice(ROUNDS + 2) }
  return initial
}

/** Two rounds at a time, which saves the swap of the halves: a hash does this 17 million times. */
function encipher({ p, s }: Tables, pair: Int32Array): void {
  let left = pair[0]! ^ p[0]!
  let right = pair[1]!
  for (let round = 1; round <= ROUNDS; round += 2) {
    right ^=
      p[round]! ^
      (((s[left >>> 24]! + s[256 | ((left >>> 16) & 255)]!) ^ s[512 | ((left >>> 8) & 255)]!) + s[768 | (left & 255)]!)
    left ^=
      p[round + 1]! ^
      (((s[right >>> 24]! + s[256 | ((right >>> 16) & 255)]!) ^ s[512 | ((right >>> 8) & 255)]!) +
        s[768 | (right & 255)]!)
  }
  pair[0] = right ^ p[ROUNDS + 1]!
  pair[1] = left
}

/** Words of bytes that start over at their end. */
function cyclicWords(bytes: Uint8Array, count: number): Int32Array {
  const byte = (at: number): number => bytes[at % bytes.length]!
  return Int32Array.from(
    { length: count },
    (_, word) => (byte(word * 4) << 24) | (byte(word * 4 + 1) << 16) | (byte(word * 4 + 2) << 8) | byte(word * 4 + 3),
  )
}

/** Mixes a key into the tables; with a salt at the first time only. */
function expandKey(tables: Tables, key: Int32Array, salt: Int32Array): void {
  for (let at = 0; at < ROUNDS + 2; at++) tables.p[at]! ^= key[at]!
  const pair = new Int32Array(2)
  let word = 0
  for (const table of [tables.p, tables.s]) {
    for (let at = 0; at < table.length; at += 2) {
      pair[0]! ^= salt[word]!
      pair[1]! ^= salt[word + 1]!
      word = (word + 2) & 3
      encipher(tables, pair)
      table[at] = pair[0]!
      table[at + 1] = pair[1]!
    }
  }
}

function encode(bytes: Uint8Array): string {
  let out = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const four = [a! >> 2, ((a! & 3) << 4) | (b >> 4), ((b & 15) << 2) | (c >> 6), c & 63]
    out += four
      .slice(0, Math.min(4, bytes.length - at + 1))
      .map((index) => ALPHABET[index])
      .join('')
  }
  return out
}

const MAX_REMEMBERED = 10_000

/** The last hashes, by a digest of their inputs: with a frozen salt the next render asks for the same hash. */
const remembered = new Map<string, string>()

/** The hash `$2a$10$…` of a password and 16 random bytes. Hashing is slow on purpose: results are cached. */
export function bcryptHash(password: Uint8Array, salt: Uint8Array, cost = 10): string {
  if (password.length > 72) throw new GoError('bcrypt: password length exceeds 72 bytes')
  const key = `${cost} ${hex(sha256(concatBytes([salt, password])))}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  if (remembered.size >= MAX_REMEMBERED) remembered.clear()
  const made = makeHash(password, salt, cost)
  remembered.set(key, made)
  return made
}

function makeHash(password: Uint8Array, salt: Uint8Array, cost: number): string {
  const start = initialTables()
  const tables: Tables = { p: start.p.slice(), s: start.s.slice() }
  const key = cyclicWords(Uint8Array.from([...password, 0]), ROUNDS + 2)
  const saltKey = cyclicWords(salt, ROUNDS + 2)
  expandKey(tables, key, saltKey)
  const unsalted = new Int32Array(4)
  for (let round = 0; round < 2 ** cost; round++) {
    expandKey(tables, key, unsalted)
    expandKey(tables, saltKey, unsalted)
  }
  const words = cyclicWords(new TextEncoder().encode('OrpheanBeholderScryDoubt'), 6)
  for (let at = 0; at < 6; at += 2) {
    const pair = words.subarray(at, at + 2)
    for (let round = 0; round < 64; round++) encipher(tables, pair)
  }
  const bytes = new Uint8Array(24)
  for (const [at, word] of words.entries()) {
    for (let byte = 0; byte < 4; byte++) bytes[at * 4 + byte] = (word >>> (24 - 8 * byte)) & 255
  }
  return `$2a$${String(cost).padStart(2, '0')}$${encode(salt)}${encode(bytes.subarray(0, 23))}`
}
