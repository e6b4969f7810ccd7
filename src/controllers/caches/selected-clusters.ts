import { completePages, selectedOn } from '../../plan/placement/decisions/complete-pages.ts'
import { inNamespaceOf } from './caches.ts'
import type { Caches } from './caches.ts'
import { findDecision } from '../../plan/placement/decisions/find-decision.ts'

type DecisionCaches = Pick<Caches, 'placements' | 'decisions'>

/**
 * The clusters that a Placement selects; undefined while the Placement or a page of its present generation is missing.
 * An incomplete answer is never used (I-06).
 */
export function selectedClusters(caches: DecisionCaches, placement: string): readonly string[] | undefined {
  const pages = pagesInForce(caches, placement)
  return pages && selectedOn(pages)
}

/**
 * The generation and the number of pages of complete decisions. When it changes, the decision about each cluster may
 * have changed.
 */
export function selectionStamp(caches: DecisionCaches, placement: string): string | undefined {
  const pages = pagesInForce(caches, placement)
  return pages && `${pages[0]!.placementGeneration}/${pages.length}`
}

/** Whether a Placement with complete decisions selects a cluster. */
export function selectsCluster(caches: DecisionCaches, placement: string, cluster: string): boolean {
  const generation = caches.placements.lister.get(placement)?.metadata.generation
  return caches.decisions.lister
    .by('cluster', cluster)
    .some(
      (page) =>
        inNamespaceOf(page, page.spec.placement) === placement &&
        page.spec.placementGeneration === generation &&
        page.spec.page < page.spec.pages &&
        findDecision(page.spec.decisions, cluster)?.state === 'Selected',
    )
}

function pagesInForce(caches: DecisionCaches, placement: string) {
  const generation = caches.placements.lister.get(placement)?.metadata.generation
  if (generation === undefined) return undefined
  return completePages(
    generation,
    caches.decisions.lister.by('placement', placement).map(({ spec }) => spec),
  )
}
