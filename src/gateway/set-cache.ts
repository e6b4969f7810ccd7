/** Parsed sets of the blobs, the ones used last: shared by whoever asks what a set names. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { ObjectSet } from '../wire/document/cluster-document.ts'
import { parseObjectSet } from '../wire/document/signed-document.ts'

/** A set as bytes and as what they say. */
export interface CachedSet {
  readonly bytes: Uint8Array
  readonly set: ObjectSet
  readonly digests: ReadonlySet<Digest>
}

/** Finds a set; undefined when it is not there. */
export type SetCache = (digest: Digest) => Promise<CachedSet | undefined>

// Sets are shared by clusters, so that few of them serve a fleet.
const MAX_BYTES = 64 * 1024 * 1024

/** Keeps sets in memory, up to a number of bytes. */
export function createSetCache(blobs: Pick<Blobs, 'get'>): SetCache {
  const kept = new Map<Digest, CachedSet>()
  let size = 0
  return async function find(digest) {
    const known = kept.get(digest)
    if (known) {
      // Newest last: the first key is the one used longest ago.
      kept.delete(digest)
      kept.set(digest, known)
      return known
    }
    const bytes = await blobs.get(digest)
    if (!bytes) return undefined
    const set = parseObjectSet(bytes)
    const found = { bytes, set, digests: new Set(set.objects.map((object) => object.digest)) }
    if (!kept.has(digest)) size += bytes.byteLength
    kept.set(digest, found)
    for (const [oldest, { bytes: old }] of kept) {
      if (size <= MAX_BYTES || oldest === digest) break
      kept.delete(oldest)
      size -= old.byteLength
    }
    return found
  }
}
