import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { onFailure, rings } from '../fields/ring.ts'
import { duration, enumOf, object, optional } from '../schema/schema-builders.ts'

/** How changes move through the fleet. */
export const RolloutPlan = defineKind({
  kind: 'RolloutPlan',
  plural: 'rolloutplans',
  scope: 'Namespaced',
  shortNames: ['frp'],
  description:
    'How changes move through the fleet: rings, budgets, soak times, gates, approvals. Bundles name it; each of their Rollouts takes a copy when it is made.',
  spec: object({
    rings: rings(),
    progressDeadline: optional(
      duration({ description: 'An admitted cluster that is not Ready after so long counts as failed.' }),
    ),
    onFailure: optional(onFailure()),
    start: enumOf(['Automatic', 'Manual'], {
      default: 'Automatic',
      description: 'Manual: a Rollout waits, paused, until somebody starts it.',
    }),
  }),
  columns: [{ name: 'Start', type: 'string', jsonPath: '.spec.start' }, AGE],
  examples: [
    {
      metadata: { name: 'careful', namespace: 'default' },
      spec: {
        rings: [
          { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 2, maxFailed: 0, soak: '30m' },
          { name: 'early', share: '10%', concurrency: 10, maxFailed: '5%', readyShare: '95%', soak: '1h' },
          {
            name: 'rest',
            concurrency: '20%',
            maxFailed: '2%',
            approvals: { count: 2 },
            gates: [{ name: 'base', when: 'Open', bundleReady: { bundle: 'baseline' } }],
          },
        ],
        progressDeadline: '20m',
      },
    },
  ],
})
export type RolloutPlan = ObjectOfKind<typeof RolloutPlan>
