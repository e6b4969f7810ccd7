import { compareText } from '../../../core/text/compare-text.ts'

/** Maximum number of decisions on one page. */
export const PAGE_SIZE = 500

/** A decision, as a PlacementDecision holds it. */
export interface ClusterDecision {
  readonly cluster: string
  readonly reason: string
  /** Evicting: a change of intent removed the cluster; its bundles are removed by a rollout. */
  readonly state: 'Selected' | 'Evicting'
  readonly group?: string
  readonly groupIndex?: number
  /** The score at the time of the choice. */
  readonly score?: number
}

/** Puts decisions on pages; `previous` has the clusters of each page. Returns at least one page. */
export function paginate(
  decisions: readonly ClusterDecision[],
  previous: readonly (readonly string[])[] = [],
): readonly (readonly ClusterDecision[])[] {
  const pages: ClusterDecision[][] = previous.map(() => [])
  const pageOf = new Map(previous.flatMap((names, page) => names.map((name): [string, number] => [name, page])))
  const newcomers: ClusterDecision[] = []
  for (const decision of decisions) {
    const page = pages[pageOf.get(decision.cluster) ?? -1]
    if (page && page.length < PAGE_SIZE) page.push(decision)
    else newcomers.push(decision)
  }
  let free = 0
  for (const decision of newcomers) {
    while ((pages[free]?.length ?? 0) >= PAGE_SIZE) free++
    const page = (pages[free] ??= [])
    page.push(decision)
  }
  for (const page of pages) page.sort((a, b) => compareText(a.cluster, b.cluster))
  while (pages.length > 1 && pages.at(-1)!.length === 0) pages.pop()
  return pages.length === 0 ? [[]] : pages
}
