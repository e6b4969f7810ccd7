import type { Digest } from '../core/crypto/digest.ts'

/** Immutable bytes under their digest. A resolved `put` is durable; `get` verifies what it read. */
export interface Blobs {
  /** Stores bytes (again, if need be) and returns their name. */
  put(bytes: Uint8Array): Promise<Digest>
  get(digest: Digest): Promise<Uint8Array | undefined>
  has(digest: Digest): Promise<boolean>
  /** All digests, in no order. */
  list(): AsyncIterable<Digest>
  /** Forgets one blob; only the collector calls this, after proving that nothing names it. */
  delete(digest: Digest): Promise<void>
}

/** Blobs that know when each of them was stored last, for the collector. */
export interface CollectableBlobs extends Blobs {
  /** Deletes a blob that was not stored after this time in milliseconds; true if it was deleted. */
  collect(digest: Digest, before: number): Promise<boolean>
  /** Called at the end of a pass of the collector, also of one that failed. */
  endCollecting?(): Promise<void>
}
