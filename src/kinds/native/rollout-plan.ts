import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { onFailure, rings } from '../fields/ring.ts'
import { duration, enumOf, object, optional } from '../schema/schema-builders.ts'

export const RolloutPlan = defineKind({
  kind: 'RolloutPlan',
  plural: 'rolloutplans',
  scope: 'Namespaced',
  shortNames: ['frp'],
  description:
    'Settings for rolling out changes: rings, budgets, soak times, gates and approvals. Bundles refer to a RolloutPlan, and each new Rollout copies its settings.',
  spec: object(
    {
      rings: rings(),
      progressDeadline: optional(
        duration({
          description:
            'Time after its admission within which a cluster must become Ready, for example `20m`. Afterwards the cluster counts as failed. If omitted, there is no deadline.',
        }),
      ),
      onFailure: optional(onFailure()),
      start: enumOf(['Automatic', 'Manual'], {
        default: 'Automatic',
        description:
          'Start of new Rollouts. `Manual`: a Rollout is created paused and waits until a user resumes it. Defaults to `Automatic`.',
      }),
    },
    { description: 'Settings that each new Rollout copies.' },
  ),
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
