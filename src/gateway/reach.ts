/** Which blobs a cluster may read: the sets its present document names, and the objects those sets name. Knowing a digest is not authority. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/digest.ts'
import type { Assignment } from '../kinds/assignment.ts'
import { parseObjectSet } from '../wire/signed-document.ts'

// Sets are shared by clusters; this many parsed ones stay in memory.
const MAX_SETS = 512

/** Answers whether an Assignment reaches a digest. */
export function createReach(blobs: Pick<Blobs, 'get'>) {
  const objectsOf = new Map<Digest, ReadonlySet<Digest>>()

  async function load(set: Digest): Promise<ReadonlySet<Digest>> {
    const known = objectsOf.get(set)
    if (known) {
      // Newest last: the first key is the one used longest ago.
      objectsOf.delete(set)
      objectsOf.set(set, known)
      return known
    }
    const bytes = await blobs.get(set)
    if (!bytes) return new Set()
    const digests = new Set(parseObjectSet(bytes).objects.map((object) => object.digest))
    objectsOf.set(set, digests)
    const oldest = objectsOf.keys().next()
    if (objectsOf.size > MAX_SETS && !oldest.done) objectsOf.delete(oldest.value)
    return digests
  }

  return async function reaches(assignment: Assignment, digest: Digest): Promise<boolean> {
    const sets = assignment.spec.entries.map((entry) => entry.set)
    if (sets.includes(digest)) return true
    for (const set of sets) if ((await load(set)).has(digest)) return true
    return false
  }
}
