/** A cluster that would lose too many Bundles at once keeps them until a person releases the change. */
import { compact } from '../../core/compact.ts'
import { Stalled } from '../../core/errors.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION } from '../../kinds/native/placement.ts'
import type { AdmittedRemoval, AssembledEntry, AssembledTombstone } from '../../plan/document/assemble-document.ts'
import { judgeShrink, SECOND_SHRINK } from '../../plan/placement/shrink-guard.ts'

/** The content of the present document. */
interface Present {
  readonly entries: readonly AssembledEntry[]
  readonly tombstones: readonly AssembledTombstone[]
}

/**
 * Splits removals into allowed removals and a condition about guarded removals. Removals without a receipt count as
 * well.
 */
export function guardBundles(
  { metadata }: Pick<Cluster, 'metadata'>,
  { entries, tombstones }: Present,
  removals: readonly AdmittedRemoval[],
): { readonly removals: readonly AdmittedRemoval[]; readonly held?: Stalled } {
  const present = new Set(entries.map(({ bundle }) => bundle))
  const fresh = removals.map(({ bundle }) => bundle).filter((bundle) => present.has(bundle))
  if (fresh.length === 0) return { removals }
  const release = metadata.annotations?.[ALLOW_DROP_ANNOTATION]
  const verdict = judgeShrink(
    compact({
      noun: 'bundles',
      dropped: [...fresh, ...tombstones.map(({ bundle }) => bundle)],
      of: entries.length + tombstones.length,
      // The guard of the Placement, or the person who deleted the Bundles, has judged each removal before.
      defaults: SECOND_SHRINK,
      generation: metadata.generation ?? 1,
      release,
    }),
  )
  if (verdict.kind !== 'Held') return { removals }
  const some = nameSome(fresh)
  const held = new Stalled(
    'DropHeld',
    `${verdict.message} Its document keeps ${some}; everything else goes on. Let them go with: flotilla guard release cluster ${metadata.name} (token ${verdict.token})`,
  )
  return { removals: removals.filter(({ bundle }) => !present.has(bundle)), held }
}
