/** Joins the shares of a data key that several groups of keys protect: Shamir's scheme over GF(2^8), as in SOPS. */
import { SopsError } from './sops-error.ts'

const FIELD = 0x11b

function multiply(a: number, b: number): number {
  let product = 0
  for (let [left, right] = [a, b]; right > 0; right >>= 1) {
    if (right & 1) product ^= left
    left = left & 0x80 ? (left << 1) ^ FIELD : left << 1
  }
  return product & 0xff
}

function inverse(a: number): number {
  // a^254 is the inverse in a field of 256 elements.
  let result = 1
  for (let power = 0; power < 254; power += 1) result = multiply(result, a)
  return result
}

/** The secret of shares: the last byte of a share is its place on the curve. Throws SopsError. */
export function joinShares(shares: readonly Uint8Array[]): Uint8Array {
  const fail = (why: string): never => {
    throw new SopsError(`could not get data key from shamir parts: ${why}`)
  }
  const [first] = shares
  if (!first || shares.length < 2) return fail('less than two parts cannot be used to reconstruct the secret')
  const length = first.byteLength - 1
  if (length < 1) return fail('parts must be at least two bytes')
  if (shares.some(({ byteLength }) => byteLength !== first.byteLength)) return fail('all parts must be the same length')
  const places = shares.map((share) => share[length]!)
  if (new Set(places).size !== places.length) return fail('duplicate part detected')
  // Lagrange's weights of the curve at 0.
  const weights = places.map((place, at) =>
    places.reduce(
      (weight, other, index) => (index === at ? weight : multiply(weight, multiply(other, inverse(place ^ other)))),
      1,
    ),
  )
  return Uint8Array.from({ length }, (_, byte) =>
    shares.reduce((sum, share, at) => sum ^ multiply(share[byte]!, weights[at]!), 0),
  )
}
