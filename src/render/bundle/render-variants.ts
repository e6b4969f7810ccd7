/**
 * Renders one bundle for many clusters. Each distinct result is rendered once, because a render records what it read.
 */
import { compact } from '../../core/compact.ts'
import { matchesReads } from '../../core/cluster-inputs.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import type { FrozenRecord } from '../helm/frozen-random.ts'
import type { RenderBudget } from '../helm/render-limits.ts'
import type { BundleRecipe } from './recipe.ts'
import { renderVariant } from './render-variant.ts'
import type { Variant, VariantParts, VariantResult } from './render-variant.ts'

/** The inputs of a render; plain data. */
export interface VariantsRequest {
  readonly recipe: BundleRecipe
  readonly clusters: readonly ClusterInputs[]
  readonly frozen: FrozenRecord
}

/** A result, and the clusters that share it. */
export interface SharedVariant {
  readonly when: Reads
  readonly clusters: readonly string[]
  /** The names of the bundle's variants that match the clusters. */
  readonly variants?: readonly string[]
  readonly result: VariantResult
}

export interface VariantsResult {
  readonly variants: readonly SharedVariant[]
  readonly frozen: FrozenRecord
  readonly style?: Variant['style']
  /** Notes for the user, without repetitions. */
  readonly notes: readonly string[]
}

/** The dependencies that renders for all clusters share. `watch` is called for each distinct result. */
export interface VariantsParts extends Omit<VariantParts, 'frozen' | 'watch'> {
  readonly watch?: () => RenderBudget
}

export function renderVariants(
  { recipe, clusters, frozen }: VariantsRequest,
  { watch, ...parts }: VariantsParts,
): VariantsResult {
  const shared: { when: Reads; clusters: string[]; variants: readonly string[]; result: SharedVariant['result'] }[] = []
  let drawn = frozen
  let style: Variant['style']
  const notes = new Set<string>()
  for (const cluster of clusters) {
    const known = shared.find(({ when }) => matchesReads(cluster, when))
    if (known) {
      known.clusters.push(cluster.name)
      continue
    }
    const variant = renderVariant(recipe, cluster, { ...parts, frozen: drawn, ...(watch && { watch: watch() }) })
    drawn = variant.frozen
    style ??= variant.style
    for (const note of variant.notes ?? []) notes.add(note)
    const { reads, variants, result } = variant
    shared.push({ when: reads, clusters: [cluster.name], variants, result })
  }
  return compact({ variants: shared, frozen: drawn, notes: [...notes], style })
}
