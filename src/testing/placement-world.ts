/** Placements in tests: clusters and surroundings, with what the case is about said and the rest filled in. */
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from '../plan/placement/decide-placement.ts'

/** The time all placement tests agree on. */
export const PLACEMENT_NOW = Date.parse('2026-11-16T00:00:00Z')

/** A cluster that is accepted unless said. */
export function placementCluster(
  name: string,
  labels: Record<string, string> = {},
  more: Partial<PlacementCluster> = {},
): PlacementCluster {
  return { name, labels, accepted: true, ...more }
}

/** What is around the clusters: nothing, unless said. */
export function placementWorld(
  more: Partial<PlacementWorld> & { readonly selected?: readonly string[] } = {},
): PlacementWorld {
  const { selected = [], ...rest } = more
  return {
    sets: [],
    bound: [],
    incumbents: new Map(selected.map((name) => [name, undefined])),
    load: { countOf: () => 0, max: 0 },
    now: PLACEMENT_NOW,
    ...rest,
  }
}

/** How busy clusters are, by name. */
export function placementLoad(counts: Readonly<Record<string, number>>): PlacementWorld['load'] {
  return { countOf: (name) => counts[name] ?? 0, max: Math.max(0, ...Object.values(counts)) }
}

/** A question that selects everybody unless said. */
export function placementQuestion(more: Partial<PlacementQuestion> = {}): PlacementQuestion {
  return { clusterSelector: {}, ...more }
}
