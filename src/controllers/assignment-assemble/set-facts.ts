/** The parts of a set that a document depends on; each set is read once. */
import type { Blobs } from '../../blobs/blobs.ts'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import {
  CHECKS_FEATURE,
  DECRYPT_FEATURE,
  HEALTH_FEATURE,
  RENDER_FEATURE,
  parseObjectSet,
} from '../../wire/document/signed-document.ts'

/** The parts of a set that a document depends on. */
export interface SetFacts {
  /** Digest of the encrypted secret values of the set. */
  readonly values?: Digest
  /** Features that an agent must have to use the set. */
  readonly requires: readonly string[]
  /** The objects of the set; none for files that the agent renders. */
  readonly objects: readonly ObjectId[]
  readonly executor?: Executor
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
    const { values, render, options, objects } = parseObjectSet(bytes)
    const facts: SetFacts = compact({
      values,
      requires: [
        ...(render ? [RENDER_FEATURE] : []),
        ...(render?.recipe['decryptInCluster'] === undefined ? [] : [DECRYPT_FEATURE]),
        ...(options?.checks ? [CHECKS_FEATURE] : []),
        ...(needsHealth(options) ? [HEALTH_FEATURE] : []),
      ],
      objects: render ? [] : distinctPlaces(objects),
      executor: options?.executor,
    })
    kept.set(set, facts)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
    return facts
  }
}

function needsHealth({ health = [], healthProfile }: BundleOptions = {}): boolean {
  return healthProfile !== undefined || health.some(({ lua }) => lua !== undefined)
}

/** An object of each kind and namespace: a Project judges objects by these alone, and Namespaces by their name. */
function distinctPlaces(objects: readonly ObjectId[]): readonly ObjectId[] {
  const places = new Map<string, ObjectId>()
  for (const { apiVersion, kind, namespace, name } of objects) {
    const place = `${apiVersion} ${kind} ${namespace ?? (kind === 'Namespace' ? name : '')}`
    if (!places.has(place)) places.set(place, compact({ apiVersion, kind, namespace, name }))
  }
  return [...places.values()]
}
