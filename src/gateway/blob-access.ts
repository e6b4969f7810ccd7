/**
 * Which blobs a cluster may read: the sets and sealed values that its newest document names, and the objects of these
 * sets. Knowing a digest grants nothing.
 */
import type { Blobs } from '../blobs/blobs.ts'
import { isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { Assignment } from '../kinds/native/assignment.ts'
import { openDocument } from '../wire/document/signed-document.ts'
import type { TrustedKey } from '../wire/trust/envelope.ts'
import type { SetCache } from './set-cache.ts'

export interface BlobAccessPorts {
  readonly blobs: Pick<Blobs, 'get'>
  readonly sets: SetCache
  /** Every key that has ever signed documents of this hub. */
  readonly signers: () => readonly TrustedKey[]
}

export function createBlobAccess({ blobs, sets, signers }: BlobAccessPorts) {
  async function reaches({ spec }: Assignment, digest: Digest): Promise<boolean> {
    const named = spec.entries.map((entry) => entry.set)
    if (named.includes(digest) || spec.entries.some(({ sealed }) => sealed?.values === digest)) return true
    for (const set of named) if ((await sets(set))?.digests.has(digest)) return true
    return false
  }

  /**
   * Whether a set may be the base of a delta: a set of this cluster's newest document, or of the older document with
   * digest `held`. A delta reveals something about its base, so a set of another cluster is never a base.
   */
  async function isOwnBase({ spec }: Assignment, base: Digest, held: string | null): Promise<boolean> {
    if (spec.entries.some((entry) => entry.set === base)) return true
    if (!isDigest(held)) return false
    const document = await documentOf(spec.clusterId, held)
    return document?.content.entries.some((entry) => entry.set === base) ?? false
  }

  /**
   * A document of this cluster, the newest or an older one. Files of Sources are blobs, too, so that only the signature
   * tells that the hub wrote it.
   */
  async function documentOf(clusterId: string, digest: Digest) {
    const bytes = await blobs.get(digest)
    const document = bytes && openSigned(bytes)
    return document?.clusterId === clusterId ? document : undefined
  }

  function openSigned(bytes: Uint8Array) {
    try {
      return openDocument(bytes, signers()).document
    } catch {
      return undefined
    }
  }

  return { reaches, isOwnBase, documentOf }
}

export type BlobAccess = ReturnType<typeof createBlobAccess>
