import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { ringName } from '../fields/ring.ts'
import { enumOf, listOf, name, object, optional, text } from '../schema/schema-builders.ts'

export const Approval = defineKind({
  kind: 'Approval',
  plural: 'approvals',
  scope: 'Namespaced',
  shortNames: ['fap'],
  description:
    "Decision of one person about a ring of a Rollout. An Approval is immutable. The API server verifies the author and the author's permission to approve.",
  spec: object(
    {
      rollout: name({ description: 'Name of the Rollout in this namespace.' }),
      plan: optional(
        name({
          description:
            'Name of the RolloutPlan that the Rollout was created from. The author needs the verb `approve` on this RolloutPlan, or on the Rollout if the Rollout has no plan.',
        }),
      ),
      ring: ringName('Name of the ring.'),
      decision: enumOf(['Approve', 'Reject'], {
        description:
          'Decision about the ring. `Reject` keeps the ring closed until its author approves or deletes the Approval. The newest Approval of an author counts.',
      }),
      reason: optional(text({ max: 1024, description: 'Reason of the decision.' })),
      author: text({
        max: 512,
        min: 1,
        description: 'User name of the author. Must be the name that the API server knows the caller by.',
      }),
      groups: optional(
        listOf(text({ max: 512, min: 1 }), {
          max: 32,
          description:
            'Groups of the author that the Approval counts for, if the ring requires groups. The author must be a member of all of them.',
        }),
      ),
    },
    { immutable: true, description: 'Decision of one person. Immutable.' },
  ),
  columns: [
    { name: 'Rollout', type: 'string', jsonPath: '.spec.rollout' },
    { name: 'Ring', type: 'string', jsonPath: '.spec.ring' },
    { name: 'Decision', type: 'string', jsonPath: '.spec.decision' },
    { name: 'Author', type: 'string', jsonPath: '.spec.author' },
    AGE,
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'hello-g2-rest-ana', namespace: 'default' },
      spec: {
        rollout: 'hello-g2',
        plan: 'careful',
        ring: 'rest',
        decision: 'Approve',
        reason: 'the canaries look good',
        author: 'ana@example.com',
      },
    },
  ],
})
export type Approval = ObjectOfKind<typeof Approval>
