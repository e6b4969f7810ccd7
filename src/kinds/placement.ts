import { AGE, defineKind } from './define-kind.ts'
import type { ObjOf } from './define-kind.ts'
import { Conditions, int, labelSelector, object, optional } from './schema.ts'

/** Where it should run. */
export const Placement = defineKind({
  kind: 'Placement',
  plural: 'placements',
  scope: 'Namespaced',
  shortNames: ['fpl'],
  description: 'Where things should run: selects accepted clusters, and says why for each one, chosen or not.',
  spec: object({
    clusterSelector: labelSelector({
      description: 'Labels of the clusters to select; `{}` selects every accepted one.',
    }),
  }),
  status: object({
    observedGeneration: optional(int()),
    conditions: Conditions,
    selected: optional(int({ description: 'How many clusters are selected.' })),
    decisionsGeneration: optional(int({ description: 'The generation of the decisions that are complete.' })),
    pages: optional(int({ description: 'How many PlacementDecisions that generation has.' })),
  }),
  columns: [
    { name: 'Selected', type: 'integer', jsonPath: '.status.selected' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'stores', namespace: 'default' },
      spec: { clusterSelector: { matchLabels: { tier: 'store' } } },
    },
  ],
})
export type Placement = ObjOf<typeof Placement>
