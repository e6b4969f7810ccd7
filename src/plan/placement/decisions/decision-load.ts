/** Number of decisions per cluster, updated page by page. */
import type { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import type { PlacementLoad } from '../types.ts'

type Decisions = PlacementDecision['spec']['decisions']

/** The decisions of all placements, counted per cluster. */
export interface PlacementLoads {
  /** A page was added, changed or removed. */
  change(before: PlacementDecision | undefined, after: PlacementDecision | undefined): void
  /** Decisions of all Placements except one; `own` are the pages of that Placement. */
  beside(own: readonly PlacementDecision[]): PlacementLoad
}

export function createPlacementLoads(): PlacementLoads {
  const counts = new Map<string, number>()
  /** Number of clusters per count. */
  const levels = new Map<number, number>()
  const move = (level: number, by: 1 | -1) => {
    const clusters = (levels.get(level) ?? 0) + by
    if (clusters === 0) levels.delete(level)
    else levels.set(level, clusters)
  }
  const count = (cluster: string, by: 1 | -1) => {
    const was = counts.get(cluster) ?? 0
    if (was > 0) move(was, -1)
    if (was + by > 0) {
      counts.set(cluster, was + by)
      move(was + by, 1)
    } else counts.delete(cluster)
  }
  return {
    change: (before, after) => {
      const [removed, added] = changedPart(before?.spec.decisions ?? [], after?.spec.decisions ?? [])
      const [was, is] = [new Set(selectedOf(removed)), new Set(selectedOf(added))]
      for (const cluster of was) if (!is.has(cluster)) count(cluster, -1)
      for (const cluster of is) if (!was.has(cluster)) count(cluster, 1)
    },
    beside: (pages) => {
      const own = new Map<string, number>()
      for (const cluster of pages.flatMap(({ spec }) => selectedOf(spec.decisions)))
        own.set(cluster, (own.get(cluster) ?? 0) + 1)
      const countOf = (cluster: string) => (counts.get(cluster) ?? 0) - (own.get(cluster) ?? 0)
      const ownAt = new Map<number, number>()
      let max = 0
      for (const cluster of own.keys()) {
        const level = counts.get(cluster) ?? 0
        ownAt.set(level, (ownAt.get(level) ?? 0) + 1)
        max = Math.max(max, countOf(cluster))
      }
      // A count matters when a cluster outside of the Placement's own clusters has it.
      for (const [level, clusters] of levels) if (clusters > (ownAt.get(level) ?? 0)) max = Math.max(max, level)
      return { countOf, max }
    },
  }
}

/**
 * Both lists without the decisions that they have in common at the beginning and at the end. Decisions are sorted by
 * cluster, so that one changed cluster leaves one decision of a page of 500.
 */
function changedPart(before: Decisions, after: Decisions): [Decisions, Decisions] {
  const same = (a: Decisions[number] | undefined, b: Decisions[number] | undefined): boolean =>
    a !== undefined && a.cluster === b?.cluster && a.state === b.state
  let from = 0
  while (same(before[from], after[from])) from++
  let left = 0
  const most = Math.min(before.length, after.length) - from
  while (left < most && same(before.at(-1 - left), after.at(-1 - left))) left++
  return [before.slice(from, before.length - left), after.slice(from, after.length - left)]
}

function selectedOf(decisions: Decisions): string[] {
  return decisions.flatMap(({ cluster, state }) => (state === 'Selected' ? [cluster] : []))
}
