/** Randomness as a port: unique ids and random bytes come from here, so that a simulation can replay them. */
export interface Ids {
  /** A random UUID (version 4). */
  uid(): string
  /** `n` characters of Kubernetes' alphabet for generated names (no vowels, no look-alikes). */
  suffix(n: number): string
  /** `n` random bytes. */
  bytes(n: number): Uint8Array
  /** A number in [0, 1), for jitter. */
  fraction(): number
}

/** The alphabet Kubernetes uses for generateName. */
export const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
