import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { LAYER_CLUSTERS, LAYER_OPTIONS } from '../fields/layer.ts'
import { name, object, optional, text, time } from '../schema/schema-builders.ts'

export const Override = defineKind({
  kind: 'Override',
  plural: 'overrides',
  scope: 'Namespaced',
  shortNames: ['fov'],
  description:
    'Change of a Bundle on some clusters, applied after the variants of the Bundle, with an owner, a reason and an optional expiry time.',
  spec: object(
    {
      bundle: name({ description: 'Name of the Bundle in this namespace that the Override changes.' }),
      ...LAYER_CLUSTERS,
      ...LAYER_OPTIONS,
      owner: text({ max: 253, min: 1, description: 'Person or team that is responsible for the Override.' }),
      reason: text({ max: 1024, min: 1, description: 'Reason of the Override.' }),
      expiresAt: optional(
        time({
          description: 'Expiry time of the Override. After this time the next Release no longer includes the Override.',
        }),
      ),
    },
    { description: 'Change of a Bundle on some clusters.' },
  ),
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.spec.bundle' },
    { name: 'Owner', type: 'string', jsonPath: '.spec.owner' },
    { name: 'Expires', type: 'string', jsonPath: '.spec.expiresAt' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042-two-tills', namespace: 'default' },
      spec: {
        bundle: 'pos',
        clusters: ['store-042'],
        helm: { values: { tills: 2 } },
        owner: 'ana@example.com',
        reason: 'second till until the refit (TICKET-17)',
        expiresAt: '2027-01-31T00:00:00Z',
      },
    },
  ],
})
export type Override = ObjectOfKind<typeof Override>
