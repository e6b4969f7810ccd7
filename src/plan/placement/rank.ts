import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { PlacementCluster, PlacementWorld } from './types.ts'
import type { Prioritizer } from './prioritizers.ts'

/** A cluster with its total score and the score of each prioritizer. */
export interface RankedCluster {
  readonly cluster: PlacementCluster
  readonly score: number
  readonly parts: readonly { readonly name: string; readonly weight: number; readonly score: number }[]
}

/** A ranking, the time at which it expires, and clusters with expired custom scores. */
export interface Ranking {
  readonly ranked: readonly RankedCluster[]
  readonly until?: number
  readonly expired: readonly string[]
}

export function rank(
  clusters: readonly PlacementCluster[],
  prioritizers: readonly Prioritizer[],
  world: PlacementWorld,
): Ranking {
  const scores = prioritizers.map((prioritizer) => ({ prioritizer, scores: prioritizer.score(clusters, world) }))
  const ranked = clusters
    .map((cluster): RankedCluster => {
      const parts = scores.map(({ prioritizer: { name, weight }, scores: given }) => ({
        name,
        weight,
        score: given.of(cluster.name),
      }))
      return { cluster, score: parts.reduce((sum, part) => sum + part.weight * part.score, 0), parts }
    })
    .sort((a, b) => b.score - a.score || compareText(a.cluster.name, b.cluster.name))
  const until = Math.min(...scores.map(({ scores: given }) => given.until ?? Infinity))
  const expired = [...new Set(scores.flatMap(({ scores: given }) => given.expired ?? []))]
  return compact({ ranked, expired, until: until === Infinity ? undefined : until })
}
