import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { LAYER_CLUSTERS, LAYER_OPTIONS } from '../fields/layer.ts'
import { name, object, optional, text, time } from '../schema/schema-builders.ts'

/** A change of a bundle on some clusters, with somebody who answers for it. */
export const Override = defineKind({
  kind: 'Override',
  plural: 'overrides',
  scope: 'Namespaced',
  shortNames: ['fov'],
  description: 'A change of a bundle on some clusters: over its variants, with an owner, a reason and an end.',
  spec: object({
    bundle: name({ description: 'The Bundle, in this namespace, that it changes.' }),
    ...LAYER_CLUSTERS,
    ...LAYER_OPTIONS,
    owner: text({ max: 253, min: 1, description: 'Who answers for it.' }),
    reason: text({ max: 1024, min: 1, description: 'Why it is there.' }),
    expiresAt: optional(time({ description: 'From then on it no longer counts; the next Release takes it back.' })),
  }),
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
