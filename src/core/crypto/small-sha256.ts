/**
 * SHA-256 (FIPS 180-4) of small texts: to load Node's own takes as long as to render a chart, whose checksums this is
 * for.
 */

const ROUNDS = 64
const BLOCK = 64

/**
 * The first 32 bits of the fractional parts of roots of the first primes: of cubic roots for the rounds, of square
 * roots to begin with.
 */
const [CONSTANTS, BEGINNING] = tables()

function tables(): readonly [Int32Array, Int32Array] {
  const [cubes, squares] = [new Int32Array(ROUNDS), new Int32Array(8)]
  const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0
  let found = 0
  for (let number = 2; found < ROUNDS; number += 1) {
    let divisor = 2
    while (number % divisor !== 0) divisor += 1
    if (divisor < number) continue
    if (found < squares.length) squares[found] = fraction(number ** (1 / 2))
    cubes[found] = fraction(number ** (1 / 3))
    found += 1
  }
  return [cubes, squares]
}

/** The digest of some bytes. */
export function smallSha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n)
  const hash = BEGINNING.slice()
  const words = new Int32Array(ROUNDS)
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let i = 0; i < 16; i += 1) words[i] = view.getInt32(at + i * 4)
    mix(hash, words)
  }
  const digest = new DataView(new ArrayBuffer(32))
  hash.forEach((word, i) => digest.setInt32(i * 4, word))
  return new Uint8Array(digest.buffer)
}

/** Takes one block, the first 16 words, into the hash. */
function mix(hash: Int32Array, words: Int32Array): void {
  for (let i = 16; i < ROUNDS; i += 1) {
    const x = words[i - 15]!
    const y = words[i - 2]!
    const near = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const far = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[i] = words[i - 16]! + near + words[i - 7]! + far
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < ROUNDS; i += 1) {
    const fromE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const one = (h + fromE + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + words[i]!) | 0
    const fromA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const two = (fromA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const mixed = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < mixed.length; i += 1) hash[i]! += mixed[i]!
}
