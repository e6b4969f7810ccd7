import { compact } from '../../core/compact.ts'
import { concurrency } from '../native/bundle.ts'
import { gates } from './ring-gates.ts'
import {
  duration,
  enumOf,
  flag,
  int,
  intOrString,
  labelSelector,
  listMap,
  listOf,
  object,
  optional,
  text,
} from '../schema/schema-builders.ts'

export const ringName = (description?: string) =>
  text(compact({ max: 63, min: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', description: description || undefined }))

const budget = (description: string) =>
  optional(intOrString({ minimum: 0, pattern: '^(100|[1-9]?[0-9])%$', description }))

const approvals = () =>
  object(
    {
      count: int({
        minimum: 1,
        maximum: 10,
        default: 1,
        description: 'Number of different people who must approve. Defaults to 1.',
      }),
      groups: optional(
        listOf(text({ max: 512, min: 1 }), {
          max: 32,
          min: 1,
          description:
            'Groups whose members may approve. Approvals by other people do not count. If omitted, all approvals count.',
        }),
      ),
      noSelfApproval: flag({
        default: false,
        description:
          'If true, approvals by the people who started or resumed the Rollout do not count. If the Rollout started automatically, one additional approval is required. Defaults to false.',
      }),
    },
    { description: 'Approvals that are required before the first cluster of the ring is admitted.' },
  )

/** Rings in order, as RolloutPlans and Rollouts have them. */
export const rings = () =>
  listMap(
    ['name'],
    object({
      name: ringName('Name of the ring, unique within the Rollout.'),
      selector: optional(labelSelector({ description: 'Labels of the clusters of the ring.' })),
      group: optional(
        text({ max: 63, min: 1, description: 'Decision group of the Placement whose clusters belong to the ring.' }),
      ),
      count: optional(
        int({
          minimum: 1,
          description:
            'Number of clusters of the ring, taken in order of name from the clusters that no ring selects by label or group.',
        }),
      ),
      share: optional(
        text({
          max: 4,
          pattern: '^(100|[1-9][0-9]?)%$',
          description:
            'Share of the clusters that no ring selects by label or group, for example `10%`. A ring without `selector`, `group`, `count` and `share` takes all remaining clusters.',
        }),
      ),
      concurrency: concurrency({
        default: 10,
        description:
          'Maximum number of clusters of the ring that change at the same time: a number or a percentage such as `25%`. Defaults to 10.',
      }),
      maxUnavailable: budget(
        'Maximum number of clusters that are unavailable because of the Rollout at the same time, changing or failed: a number or a percentage such as `10%`. If omitted, the sum of `concurrency` and `maxFailed`.',
      ),
      maxFailed: budget(
        'Maximum number of failed clusters that the ring tolerates: a number or a percentage such as `5%`. When more clusters fail, the Rollout stops. If omitted, a failed cluster keeps its slot, and the Rollout stops when all slots are taken.',
      ),
      readyShare: optional(
        text({
          max: 4,
          pattern: '^(100|[1-9]?[0-9])%$',
          description:
            'Share of the reachable clusters of the ring that must be Ready before the next ring starts, for example `95%`. If omitted, all clusters must be Ready except those whose failure `maxFailed` tolerates.',
        }),
      ),
      minReady: optional(
        int({
          description: 'Minimum number of clusters that must be Ready before the next ring starts. Defaults to 1.',
        }),
      ),
      soak: optional(
        duration({
          description:
            'Time for which the clusters must stay Ready before the next ring starts, for example `30m`. If omitted, the next ring starts at once.',
        }),
      ),
      startBy: optional(
        duration({
          description:
            'Time after the admission within which an agent must start the change, for example `1h`. An agent that is later does not start and waits for a new admission.',
        }),
      ),
      approvals: optional(approvals()),
      gates: optional(gates()),
    }),
    {
      max: 32,
      min: 1,
      default: [{ name: 'all', concurrency: 10 }],
      description:
        'Rings in order. A ring starts when the previous ring has passed. Defaults to one ring `all` with `concurrency: 10`.',
    },
  )

/** Reaction of a Rollout to more failures than its rings tolerate. */
export const onFailure = () =>
  enumOf(['Pause', 'RollBackRing', 'RollBackAll'], {
    description:
      'Reaction when too many clusters have failed. `Pause` stops admissions and waits for a person; `RollBackRing` rolls back the ring that failed; `RollBackAll` rolls back all rings. Defaults to `Pause`.',
  })
