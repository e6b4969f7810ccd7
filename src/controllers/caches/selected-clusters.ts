import { completePages, selectedOn } from '../../plan/placement/decisions/complete-pages.ts'
import { inNamespaceOf } from './caches.ts'
import type { Caches } from './caches.ts'

type DecisionCaches = Pick<Caches, 'placements' | 'decisions'>

/**
 * The clusters a Placement selects, or undefined while that is not known: the Placement is gone, or not all pages of its
 * present generation are there. Half an answer is never used (I-06).
 */
export function selectedClusters(caches: DecisionCaches, placement: string): readonly string[] | undefined {
  const pages = pagesInForce(caches, placement)
  return pages && selectedOn(pages)
}

/** The generation and the number of its pages, where they are complete: with another one everybody's answer may be another. */
export function selectionStamp(caches: DecisionCaches, placement: string): string | undefined {
  const pages = pagesInForce(caches, placement)
  return pages && `${pages[0]!.placementGeneration}/${pages.length}`
}

/** Whether a Placement whose pages are complete selects a cluster. */
export function selectsCluster(caches: DecisionCaches, placement: string, cluster: string): boolean {
  const generation = caches.placements.lister.get(placement)?.metadata.generation
  return caches.decisions.lister
    .by('cluster', cluster)
    .some(
      (page) =>
        inNamespaceOf(page, page.spec.placement) === placement &&
        page.spec.placementGeneration === generation &&
        page.spec.page < page.spec.pages &&
        page.spec.decisions.some((decision) => decision.cluster === cluster && decision.state === 'Selected'),
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
