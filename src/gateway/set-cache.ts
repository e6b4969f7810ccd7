/** A cache of parsed sets, shared by all routes; the sets used last stay. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { ObjectSet } from '../wire/document/cluster-document.ts'
import { parseObjectSet } from '../wire/document/signed-document.ts'

/** A set as bytes and parsed. */
export interface CachedSet {
  readonly bytes: Uint8Array
  readonly set: ObjectSet
  readonly digests: ReadonlySet<Digest>
}

/** Finds a set; undefined if the blob store does not have it. */
export type SetCache = (digest: Digest) => Promise<CachedSet | undefined>

// Clusters share sets, so a few sets serve a fleet.
const MAX_BYTES = 64 * 1024 * 1024

export function createSetCache(blobs: Pick<Blobs, 'get'>): SetCache {
  const kept = new Map<Digest, CachedSet>()
  let size = 0
  return async function find(digest) {
    const known = kept.get(digest)
    if (known) {
      // Moved to the end: the first key is the least recently used set.
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
