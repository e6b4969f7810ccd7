/** A cluster that would lose more of its bundles at once than may go unasked keeps them until a person says so. */
import { Stalled } from '../../core/errors.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import type { AdmittedRemoval, AssembledEntry, AssembledTombstone } from '../../plan/document/assemble-document.ts'
import { judgeShrink } from '../../plan/placement/shrink-guard.ts'

/** What the document has now. */
interface Present {
  readonly entries: readonly AssembledEntry[]
  readonly tombstones: readonly AssembledTombstone[]
}

/** The removals that may go on, and what to say about those that wait; removals that are not confirmed yet count as well. */
export function guardBundles(
  { metadata }: Pick<Cluster, 'metadata'>,
  { entries, tombstones }: Present,
  removals: readonly AdmittedRemoval[],
): { readonly removals: readonly AdmittedRemoval[]; readonly held?: Stalled } {
  const present = new Set(entries.map(({ bundle }) => bundle))
  const fresh = removals.map(({ bundle }) => bundle).filter((bundle) => present.has(bundle))
  if (fresh.length === 0) return { removals }
  const release = metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  const verdict = judgeShrink({
    noun: 'bundles',
    dropped: [...fresh, ...tombstones.map(({ bundle }) => bundle)],
    of: entries.length + tombstones.length,
    generation: metadata.generation ?? 1,
    ...(release === undefined ? {} : { release }),
  })
  if (verdict.kind !== 'Held') return { removals }
  const some = nameSome(fresh)
  const held = new Stalled(
    'DropHeld',
    `${verdict.message} Its document keeps ${some}; everything else goes on. Let them go with: kubectl annotate clusters.flotilla.dev ${metadata.name} --overwrite ${ALLOW_DROP_ANNOTATION}=${verdict.token}`,
  )
  return { removals: removals.filter(({ bundle }) => !present.has(bundle)), held }
}
