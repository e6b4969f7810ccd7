import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lister } from '../../client/lister.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { build, buildPlacement } from '../../testing/fixtures/builders.ts'
import type { Caches } from './caches.ts'
import { selectedClusters } from './selected-clusters.ts'

const page = (number: number, pages: number, generation: number, clusters: string[]) =>
  build(PlacementDecision, `ns/p-${number}`, {
    spec: {
      placement: 'p',
      placementGeneration: generation,
      page: number,
      pages,
      decisions: clusters.map((cluster) => ({ cluster, reason: '', state: 'Selected' as const })),
    },
  })

function selected(generation: number | undefined, pages: PlacementDecision[]): readonly string[] | undefined {
  const placement: Placement | undefined =
    generation === undefined
      ? undefined
      : { ...buildPlacement('ns/p'), metadata: { name: 'p', namespace: 'ns', generation } }
  const caches = {
    placements: { lister: { get: () => placement } as unknown as Lister<Placement> },
    decisions: { lister: { by: () => pages } as unknown as Lister<PlacementDecision> },
  } as unknown as Caches
  return selectedClusters(caches, 'ns/p')
}

test('half an answer is no answer (I-06)', () => {
  const table: [string, number | undefined, PlacementDecision[], string[] | undefined][] = [
    ['complete', 2, [page(1, 2, 2, ['b']), page(0, 2, 2, ['a'])], ['a', 'b']],
    ['no cluster', 2, [page(0, 1, 2, [])], []],
    ['no pages', 2, [], undefined],
    ['a page missing', 2, [page(0, 2, 2, ['a'])], undefined],
    ['pages disagree on how many', 2, [page(0, 1, 2, ['a']), page(1, 2, 2, ['b'])], undefined],
    ['an older generation', 2, [page(0, 1, 1, ['a'])], undefined],
    ['two generations', 2, [page(0, 2, 2, ['a']), page(1, 2, 1, ['b'])], undefined],
    ['a page left over from a longer answer', 2, [page(0, 1, 2, ['a']), page(1, 2, 1, ['b'])], ['a']],
    ['placement gone', undefined, [page(0, 1, 2, ['a'])], undefined],
  ]
  for (const [name, generation, pages, expected] of table) assert.deepEqual(selected(generation, pages), expected, name)
})
