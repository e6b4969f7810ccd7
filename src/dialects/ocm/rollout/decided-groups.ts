// Tested by src/dialects/ocm/replica-sets/compile-set.test.ts
/** The decision groups of a Placement, from its pages. */
import { compareText } from '../../../core/text/compare-text.ts'
import { OCM_CLUSTER_GROUP } from '../kinds.ts'
import type { OcmPlacementDecision } from '../kinds.ts'
import type { RolloutGroup } from './next-clusters.ts'

const GROUP_INDEX = `${OCM_CLUSTER_GROUP}/decision-group-index`
const GROUP_NAME = `${OCM_CLUSTER_GROUP}/decision-group-name`

/** Groups in order of their index; a cluster is in the first group that has it. */
export function groupsOfPages(pages: readonly OcmPlacementDecision[]): readonly RolloutGroup[] {
  const groups = new Map<number, { readonly name: string; readonly index: number; readonly clusters: Set<string> }>()
  for (const { metadata, status } of pages) {
    const written = Number(metadata.labels?.[GROUP_INDEX] ?? '0')
    const index = Number.isSafeInteger(written) && written >= 0 ? written : 0
    const group = groups.get(index) ?? { name: metadata.labels?.[GROUP_NAME] ?? '', index, clusters: new Set() }
    for (const { clusterName } of status?.decisions ?? []) group.clusters.add(clusterName)
    groups.set(index, group)
  }
  const seen = new Set<string>()
  return [...groups.values()]
    .sort((a, b) => a.index - b.index)
    .map(({ name, index, clusters }) => {
      const own = [...clusters].filter((cluster) => !seen.has(cluster)).sort(compareText)
      for (const cluster of own) seen.add(cluster)
      return { name, index, clusters: own }
    })
}
