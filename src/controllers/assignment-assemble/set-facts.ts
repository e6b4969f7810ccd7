/** The parts of a set that a document depends on; each set is read once. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { RENDER_FEATURE, parseObjectSet } from '../../wire/document/signed-document.ts'

/** The parts of a set that a document depends on. */
export interface SetFacts {
  /** Digest of the encrypted secret values of the set. */
  readonly values?: Digest
  /** Features that an agent must have to use the set. */
  readonly requires: readonly string[]
}

/** Reads the facts of a set; undefined when the set is not stored. */
export type SetFactsOf = (set: Digest) => Promise<SetFacts | undefined>

// Clusters share sets, so the cache is small.
const MAX_KEPT = 5000

export function createSetFacts(blobs: Pick<Blobs, 'get'>): SetFactsOf {
  const kept = new Map<Digest, SetFacts>()
  return async (set) => {
    const known = kept.get(set)
    if (known) return known
    const bytes = await blobs.get(set)
    if (!bytes) return undefined
    const { values, render } = parseObjectSet(bytes)
    const facts = { ...(values === undefined ? {} : { values }), requires: render ? [RENDER_FEATURE] : [] }
    kept.set(set, facts)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
    return facts
  }
}
