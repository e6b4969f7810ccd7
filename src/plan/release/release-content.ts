/**
 * The content of a Release: one set for all clusters, or variants; and whether a Release already has the content for
 * its clusters.
 */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Condition } from '../../kinds/meta.ts'
import type { ExistingRelease } from './decide-release.ts'
import { contentFor } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

/** The most variants that one Release may have. */
export const MAX_VARIANTS = 5000

/** A cluster that a Bundle is for, and the entry of the Bundle in the cluster's document. */
export interface SelectedCluster {
  readonly inputs: ClusterInputs
  readonly assigned?: { readonly generation: number; readonly set: Digest }
}

/** The content of a Bundle in a Release. */
export type ReleaseContent = Pick<ExistingRelease, 'set' | 'variants'>

/**
 * The content that a Release records for these variants; content that does not depend on the cluster needs no variants.
 */
export function releaseContent(variants: readonly ReleaseVariant[]): ReleaseContent {
  const first = variants.find(({ set }) => set !== undefined)
  const set = first!.set!
  const isSameForAll = variants.length === 1 && Object.keys(first!.when).length === 0 && !first!.absent
  return isSameForAll ? { set } : { set, variants }
}

/**
 * Whether the newest Release was rendered from this recipe. Then the Bundle is not rendered again, also not by a newer
 * hub (I-28).
 */
export function isReleased(
  { metadata, status }: Pick<Bundle, 'metadata' | 'status'>,
  rendered: Condition | undefined,
  newest: ExistingRelease | undefined,
  recipe: Digest,
): newest is ExistingRelease {
  if (rendered?.status !== 'True' || newest === undefined || newest.name !== status?.release) return false
  // A Bundle from before recipes were recorded goes by its generation.
  return status.recipe === undefined ? rendered.observedGeneration === metadata.generation : status.recipe === recipe
}

/** Whether a Release has content for each cluster, and no document has other content under the Release's generation. */
export function coversClusters(release: ExistingRelease, selected: readonly SelectedCluster[]): boolean {
  return selected.every(({ inputs, assigned }) => {
    const content = contentFor(release, inputs)
    if (content.kind === 'Unknown') return false
    return !(content.kind === 'Set' && assigned?.generation === release.generation && assigned.set !== content.set)
  })
}

/**
 * Whether a Release gives each selected cluster this content. Without selected clusters, the contents themselves are
 * compared.
 */
export function hasSameContent(
  release: ExistingRelease,
  content: ReleaseContent,
  selected: readonly SelectedCluster[],
): boolean {
  if (selected.length === 0)
    return release.set === content.set && (release.variants ?? []).length === (content.variants ?? []).length
  const isSame = selected.every(({ inputs }) => {
    const [present, wanted] = [contentFor(release, inputs), contentFor(content, inputs)]
    return present.kind === 'Set' ? wanted.kind === 'Set' && present.set === wanted.set : present.kind === wanted.kind
  })
  return isSame && coversClusters(release, selected)
}
