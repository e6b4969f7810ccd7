/** What a document must know of the sets it names; each is looked into once. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { RENDER_FEATURE, parseObjectSet } from '../../wire/document/signed-document.ts'

/** What is kept of a set. */
export interface SetFacts {
  /** Which secret values belong to it. */
  readonly values?: Digest
  /** What an agent must have to use it. */
  readonly requires: readonly string[]
}

/** Finds what is known of a set; undefined when it is not in the blobs. */
export type SetFactsOf = (set: Digest) => Promise<SetFacts | undefined>

// Sets are shared by clusters.
const MAX_KEPT = 5000

/** Makes it. */
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
