import type { Clock } from '../core/time/clock.ts'
import { digestOf } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { CollectableBlobs } from './blobs.ts'

/** Blobs that are gone with their process: for tests and the simulator. */
export function createMemoryBlobs(clock?: Pick<Clock, 'now'>): CollectableBlobs {
  const blobs = new Map<Digest, Uint8Array>()
  const stored = new Map<Digest, number>()
  return {
    async put(bytes) {
      const digest = digestOf(bytes)
      // A copy, so that a caller that reuses its buffer does not change what was stored.
      blobs.set(digest, bytes.slice())
      stored.set(digest, clock?.now() ?? 0)
      return digest
    },
    get: async (digest) => blobs.get(digest)?.slice(),
    has: async (digest) => blobs.has(digest),
    async *list() {
      // A snapshot: the collector deletes while it reads.
      yield* Array.from(blobs.keys())
    },
    delete: async (digest) => void blobs.delete(digest),
    collect: async (digest, before) => (stored.get(digest) ?? before) < before && blobs.delete(digest),
  }
}
