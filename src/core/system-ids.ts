import { randomBytes, randomFraction, randomUid } from './bytes.ts'
import { SUFFIX_ALPHABET } from './ids.ts'
import type { Ids } from './ids.ts'

/** Real randomness; composition roots pass it down. */
export const systemIds: Ids = {
  uid: randomUid,
  suffix: (n) => Array.from(randomBytes(n), (byte) => SUFFIX_ALPHABET[byte % SUFFIX_ALPHABET.length]).join(''),
  bytes: randomBytes,
  fraction: randomFraction,
}
