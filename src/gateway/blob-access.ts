/** Which blobs a cluster may read: the sets and sealed values its present document names, and the objects those sets name. Knowing a digest is not authority. */
import type { Blobs } from '../blobs/blobs.ts'
import { isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { Assignment } from '../kinds/native/assignment.ts'
import { readTrustedDocument } from '../wire/document/signed-document.ts'
import type { SetCache } from './set-cache.ts'

/** What reach is worked out from. */
export interface BlobAccessPorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly sets: SetCache
}

/** Answers what an Assignment reaches, now and in the document that its agent still has. */
export function createBlobAccess({ blobs, sets }: BlobAccessPorts) {
  async function reaches({ spec }: Assignment, digest: Digest): Promise<boolean> {
    const named = spec.entries.map((entry) => entry.set)
    if (named.includes(digest) || spec.entries.some(({ sealed }) => sealed?.values === digest)) return true
    for (const set of named) if ((await sets(set))?.digests.has(digest)) return true
    return false
  }

  /**
   * A set that may be the base of a difference: one of this very cluster's, in its present document or in an older one that it says it holds. A difference tells
   * something about its base, so that the base of another cluster would be a way to guess at it.
   */
  async function isOwnBase({ spec }: Assignment, base: Digest, held: string | null): Promise<boolean> {
    if (spec.entries.some((entry) => entry.set === base)) return true
    if (!isDigest(held)) return false
    const document = await documentOf(spec.clusterId, held)
    return document?.content.entries.some((entry) => entry.set === base) ?? false
  }

  /** A document of this cluster, present or past. */
  async function documentOf(clusterId: string, digest: Digest) {
    const bytes = await blobs.get(digest)
    const document = bytes && readTrustedDocument(bytes)
    return document?.clusterId === clusterId ? document : undefined
  }

  return { reaches, isOwnBase, documentOf }
}
