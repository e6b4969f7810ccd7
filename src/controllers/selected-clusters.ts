import { jsonEqual } from '../core/json.ts'
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
  const current = caches.decisions.lister
    .by('placement', placement)
    .filter(({ spec }) => spec.placementGeneration === generation && spec.page < spec.pages)
    .sort((a, b) => a.spec.page - b.spec.page)
  const pages = current[0]?.spec.pages ?? 0
  const complete =
    pages > 0 &&
    current.every(({ spec }) => spec.pages === pages) &&
    jsonEqual(
      current.map(({ spec }) => spec.page),
      Array.from({ length: pages }, (_, page) => page),
    )
  if (!complete) return undefined
  return current.flatMap(({ spec }) =>
    spec.decisions.filter(({ state }) => state === 'Selected').map(({ cluster }) => cluster),
  )
}
