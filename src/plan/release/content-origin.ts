/** The revision and commit that the content of a bundle on a cluster was rendered from. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { Origin } from '../../kinds/fields/origin.ts'
import type { Release } from '../../kinds/native/release.ts'

/** Revision of the Source, and the commit. */
export interface ContentOrigin extends Origin {
  readonly revision: string
}

type Entry = Release['spec']['bundles'][number]

/**
 * The origin of content by its generation and set. A rollback, and content that is marked bad on a cluster, deliver
 * content of an earlier Release: its origin is that Release. Undefined if no Release that still exists has the content,
 * or if it is not from a Source.
 */
export function contentOrigin(
  bundle: string,
  { generation, set }: { readonly generation: number; readonly set: Digest },
  releases: readonly Release[],
): ContentOrigin | undefined {
  const rendered = releases
    .filter(({ spec }) => !spec.rollBack)
    .flatMap(({ spec }) => spec.bundles.filter((entry) => entry.name === bundle && entry.generation <= generation))
    .sort((a, b) => b.generation - a.generation)
  const found = rendered.find((entry) => hasSet(entry, set)) ?? rendered.findLast((entry) => hasSet(entry, set, true))
  return found && entryOrigin(found)
}

/** The origin of an entry's content; undefined if it is not from a Source. */
export function entryOrigin({ revision, origin }: Entry): ContentOrigin | undefined {
  return revision === undefined ? undefined : { revision, ...origin }
}

/** Whether an entry has a set; a variant for a cluster by name may be content of an earlier Release. */
export function hasSet({ set: own, variants }: Entry, set: Digest, withKept = false): boolean {
  if (!variants) return own === set
  return variants.some((variant) => variant.set === set && (withKept || !isByName(variant.when)))
}

function isByName(when: Readonly<Record<string, string>>): boolean {
  return Object.keys(when).join() === 'name'
}
