/** bcrypt as golang.org/x/crypto has it. Blowfish's tables are digits of pi, so they are computed, not carried. */
import { GoError } from '../../gotemplate/function.ts'

const BOXES = 4 * 256
const ROUNDS = 16
const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

interface Tables {
  readonly p: Uint32Array
  readonly s: Uint32Array
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
  const all = Uint32Array.from({ length: words }, (_, at) => Number.parseInt(digits.slice(at * 8, at * 8 + 8), 16))
  initial = { p: all.slice(0, ROUNDS + 2), s: all.slice(ROUNDS + 2) }
  return initial
}

function encipher(tables: Tables, pair: Uint32Array): void {
  const { p, s } = tables
  let left = pair[0]!
  let right = pair[1]!
  for (let round = 0; round < ROUNDS; round++) {
    left ^= p[round]!
    const mixed =
      ((((s[left >>> 24]! + s[256 + ((left >>> 16) & 255)]!) ^ s[512 + ((left >>> 8) & 255)]!) >>> 0) +
        s[768 + (left & 255)]!) |
      0
    const next = right ^ mixed
    right = left
    left = next
  }
  pair[0] = right ^ p[ROUNDS + 1]!
  pair[1] = left ^ p[ROUNDS]!
}

function wordReader(bytes: Uint8Array): () => number {
  let at = 0
  return () => {
    let word = 0
    for (let byte = 0; byte < 4; byte++) {
      word = (word << 8) | bytes[at]!
      at = (at + 1) % bytes.length
    }
    return word >>> 0
  }
}

function expandKey(tables: Tables, key: Uint8Array, salt: Uint8Array | undefined): void {
  const keyWord = wordReader(key)
  for (let at = 0; at < tables.p.length; at++) tables.p[at]! ^= keyWord()
  const saltWord = salt ? wordReader(salt) : () => 0
  const pair = new Uint32Array(2)
  for (const table of [tables.p, tables.s]) {
    for (let at = 0; at < table.length; at += 2) {
      pair[0]! ^= saltWord()
      pair[1]! ^= saltWord()
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

/** `$2a$10$…` of a password and 16 random bytes. */
export function bcryptHash(password: Uint8Array, salt: Uint8Array, cost = 10): string {
  if (password.length > 72) throw new GoError('bcrypt: password length exceeds 72 bytes')
  const start = initialTables()
  const tables: Tables = { p: start.p.slice(), s: start.s.slice() }
  const key = Uint8Array.from([...password, 0])
  expandKey(tables, key, salt)
  for (let round = 0; round < 2 ** cost; round++) {
    expandKey(tables, key, undefined)
    expandKey(tables, salt, undefined)
  }
  const text = new TextEncoder().encode('OrpheanBeholderScryDoubt')
  const words = new Uint32Array(6)
  const next = wordReader(text)
  for (let at = 0; at < 6; at++) words[at] = next()
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
