import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { enumOf, int, listOf, name, object, optional, text } from '../schema/schema-builders.ts'

export const PlacementDecision = defineKind({
  kind: 'PlacementDecision',
  plural: 'placementdecisions',
  scope: 'Namespaced',
  shortNames: ['fpd'],
  description: 'Page of the decisions of a Placement. Decisions take effect when all pages of one generation exist.',
  spec: object(
    {
      placement: name({ description: 'Name of the Placement.' }),
      placementGeneration: int({
        description:
          '`metadata.generation` of the Placement that the decisions belong to. Pages of different generations are never combined.',
      }),
      page: int({ description: 'Number of this page, starting at 0.' }),
      pages: int({ minimum: 1, description: 'Total number of pages of this generation.' }),
      decisions: listOf(
        object({
          cluster: name({ description: 'Name of the cluster.' }),
          reason: text({ max: 1024, description: 'Explanation of the decision.' }),
          state: enumOf(['Selected', 'Evicting'], {
            description:
              "State of the decision. `Evicting`: a change of the Placement or of the cluster's labels deselected the cluster, and its content is being removed.",
          }),
          group: optional(
            text({ max: 63, description: 'Decision group of the cluster. Empty for clusters in no named group.' }),
          ),
          groupIndex: optional(
            int({ description: 'Index of the chunk of decision groups that the cluster is in, starting at 0.' }),
          ),
          score: optional(
            int({ minimum: -9007199254740991, description: 'Score of the cluster, if clusters are ranked.' }),
          ),
        }),
        { max: 1000, default: [], description: 'Selected clusters of this page. Defaults to an empty list.' },
      ),
    },
    { description: 'Decisions of the Placement. Set by the hub.' },
  ),
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
