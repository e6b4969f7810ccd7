import { completeSelection } from '../plan/decision-pages.ts'
import type { Caches } from './caches.ts'

/**
 * The clusters a Placement selects, or undefined while that is not known: the Placement is gone, or not all pages of its
 * present generation are there. Half an answer is never used (I-06).
 */
export function selectedClusters(
  caches: Pick<Caches, 'placements' | 'decisions'>,
  placement: string,
): readonly string[] | undefined {
  const generation = caches.placements.lister.get(placement)?.metadata.generation
  if (generation === undefined) return undefined
  return completeSelection(
    generation,
    caches.decisions.lister.by('placement', placement).map(({ spec }) => spec),
  )
}
