import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { ringName } from '../fields/ring.ts'
import { enumOf, listOf, name, object, optional, text } from '../schema/schema-builders.ts'

/** One person's word on a ring. */
export const Approval = defineKind({
  kind: 'Approval',
  plural: 'approvals',
  scope: 'Namespaced',
  shortNames: ['fap'],
  description:
    "One person's word on a ring of a Rollout, made once and never changed. The API verifies who says it, and that they may approve.",
  spec: object(
    {
      rollout: name({ description: 'The Rollout, in this namespace.' }),
      plan: optional(
        name({
          description:
            'The RolloutPlan that Rollout was made from; the author needs the verb `approve` on it. Without one, on the Rollout.',
        }),
      ),
      ring: ringName('The ring it is about.'),
      decision: enumOf(['Approve', 'Reject'], {
        description: "A Reject holds the ring until its author approves or deletes it. An author's newest word counts.",
      }),
      reason: optional(text({ max: 1024, description: 'Why.' })),
      author: text({ max: 512, min: 1, description: 'Who says it: the name the API knows the caller by.' }),
      groups: optional(
        listOf(text({ max: 512, min: 1 }), {
          max: 32,
          description: "Those of the author's groups for which they speak, where the ring asks for groups.",
        }),
      ),
    },
    { immutable: true },
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
