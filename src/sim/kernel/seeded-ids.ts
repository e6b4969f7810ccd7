import { hex, sha256 } from '../../core/bytes.ts'
import { SUFFIX_ALPHABET } from '../../core/ids.ts'
import type { Ids } from '../../core/ids.ts'

/** Randomness from a seed: the same seed, the same numbers, on any machine. */
export interface SeededIds extends Ids {
  readonly seed: string
  /** A stream of its own, named; drawing from one does not move the other. */
  fork(name: string): SeededIds
  /** True with this probability. */
  chance(probability: number): boolean
  /** A whole number in [min, max]. */
  integer(min: number, max: number): number
  /** One of a list. */
  pick<T>(items: readonly T[]): T
}

/** Makes seeded randomness (xoshiro128**, seeded with SHA-256 of the seed's text). */
export function createSeededIds(seed: string | number): SeededIds {
  const text = String(seed)
  const state = new Uint32Array(sha256(text).slice(0, 16).buffer)
  const next = xoshiro(state)
  const fraction = () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53
  const integer = (min: number, max: number) => min + Math.floor(fraction() * (max - min + 1))
  const bytes = (n: number) => Uint8Array.from({ length: n }, () => next() >>> 24)
  return {
    seed: text,
    fraction,
    integer,
    bytes,
    fork: (name) => createSeededIds(`${text}/${name}`),
    chance: (probability) => probability > 0 && fraction() < probability,
    pick: (items) => {
      if (items.length === 0) throw new RangeError('cannot pick from an empty list')
      return items[integer(0, items.length - 1)]!
    },
    suffix: (n) => Array.from({ length: n }, () => SUFFIX_ALPHABET[integer(0, SUFFIX_ALPHABET.length - 1)]).join(''),
    uid: () => {
      const random = bytes(16)
      random[6] = (random[6]! & 0x0f) | 0x40
      random[8] = (random[8]! & 0x3f) | 0x80
      const digits = hex(random)
      return [0, 8, 12, 16, 20].map((from, i) => digits.slice(from, [8, 12, 16, 20, 32][i])).join('-')
    },
  }
}

// Blackman and Vigna's xoshiro128**, https://prng.di.unimi.it/xoshiro128starstar.c; the state must not be all zero.
function xoshiro(state: Uint32Array): () => number {
  const rotate = (value: number, by: number) => (value << by) | (value >>> (32 - by))
  return () => {
    const result = Math.imul(rotate(Math.imul(state[1]!, 5), 7), 9) >>> 0
    const shifted = state[1]! << 9
    state[2]! ^= state[0]!
    state[3]! ^= state[1]!
    state[1]! ^= state[2]!
    state[0]! ^= state[3]!
    state[2]! ^= shifted
    state[3] = rotate(state[3]!, 11)
    return result
  }
}
