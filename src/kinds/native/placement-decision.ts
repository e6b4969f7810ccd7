import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { enumOf, int, listMap, name, object, optional, text } from '../schema/schema-builders.ts'

/** One page of a Placement's answer. */
export const PlacementDecision = defineKind({
  kind: 'PlacementDecision',
  plural: 'placementdecisions',
  scope: 'Namespaced',
  shortNames: ['fpd'],
  description: "One page of a Placement's answer. Pages count only when all pages of one generation are there.",
  spec: object({
    placement: name({ description: 'The Placement that decided.' }),
    placementGeneration: int({
      description: "The Placement's generation that these pages answer; pages of different ones are never mixed.",
    }),
    page: int({ description: 'This page, from 0.' }),
    pages: int({ minimum: 1, description: 'How many pages this generation has.' }),
    decisions: listMap(
      ['cluster'],
      object({
        cluster: name(),
        reason: text({ max: 1024, description: 'Why the cluster is selected.' }),
        state: enumOf(['Selected', 'Evicting'], {
          description: 'Evicting: a change of intent took the cluster out, and what it runs is marked for removal.',
        }),
        group: optional(text({ max: 63, description: 'Its decision group; empty for the rest.' })),
        groupIndex: optional(int({ description: 'Which chunk of the groups it is in, from 0.' })),
        score: optional(
          int({ minimum: -9007199254740991, description: 'The score it was chosen with, where clusters are ranked.' }),
        ),
      }),
      { max: 1000, default: [], description: 'The selected clusters of this page.' },
    ),
  }),
  columns: [
    { name: 'Placement', type: 'string', jsonPath: '.spec.placement' },
    { name: 'Generation', type: 'integer', jsonPath: '.spec.placementGeneration' },
    { name: 'Page', type: 'integer', jsonPath: '.spec.page' },
    { name: 'Pages', type: 'integer', jsonPath: '.spec.pages' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'stores-0', namespace: 'default' },
      spec: {
        placement: 'stores',
        placementGeneration: 3,
        page: 0,
        pages: 1,
        decisions: [{ cluster: 'store-042', reason: 'labels match clusterSelector', state: 'Selected' }],
      },
    },
  ],
})
export type PlacementDecision = ObjectOfKind<typeof PlacementDecision>
