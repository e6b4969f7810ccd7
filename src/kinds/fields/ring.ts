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

/** The name of a ring. */
export const ringName = (description?: string) =>
  text({ max: 63, min: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', ...(description ? { description } : {}) })

const budget = (description: string) =>
  optional(intOrString({ minimum: 0, pattern: '^(100|[1-9]?[0-9])%$', description }))

const approvals = () =>
  object(
    {
      count: int({ minimum: 1, maximum: 10, default: 1, description: 'How many different people must approve.' }),
      groups: optional(
        listOf(text({ max: 512, min: 1 }), {
          max: 32,
          min: 1,
          description: 'Only approvals by members of one of these groups count.',
        }),
      ),
      noSelfApproval: flag({
        default: false,
        description:
          'Who started or resumed the Rollout does not count. Where that is nobody, since it started by itself, one more approval is needed.',
      }),
    },
    { description: 'What must be said in Approvals before anybody of this ring is admitted.' },
  )

/** Rings in order, as RolloutPlans and Rollouts have them. */
export const rings = () =>
  listMap(
    ['name'],
    object({
      name: ringName(),
      selector: optional(labelSelector({ description: 'Takes the clusters with these labels.' })),
      group: optional(
        text({ max: 63, min: 1, description: 'Takes the clusters of this decision group of the Placement.' }),
      ),
      count: optional(
        int({
          minimum: 1,
          description: 'Takes so many, in order of name, of those that no ring takes by label or group.',
        }),
      ),
      share: optional(
        text({
          max: 4,
          pattern: '^(100|[1-9][0-9]?)%$',
          description:
            'Takes this share of those that no ring takes by label or group. Without any of the four: all that is left.',
        }),
      ),
      concurrency: concurrency({ default: 10, description: 'How many clusters may be changing at once.' }),
      maxUnavailable: budget(
        'How many may be unwell because of the rollout at once, changing or failed. Unless said, `concurrency` and `maxFailed` together.',
      ),
      maxFailed: budget(
        'More failed clusters than this stop the rollout; up to so many, the others go on. Unless said, a failed cluster keeps its slot, and as many as `concurrency` stop it.',
      ),
      readyShare: optional(
        text({
          max: 4,
          pattern: '^(100|[1-9]?[0-9])%$',
          description:
            'The share of the members that can be reached that must be Ready before the next ring. Unless said, all but those whose failure `maxFailed` allows.',
        }),
      ),
      minReady: optional(int({ description: 'At least so many must be Ready before the next ring; 1 unless said.' })),
      soak: optional(duration({ description: 'How long they must have been so.' })),
      startBy: optional(
        duration({
          description: 'An agent that has not begun so long after its admission does not begin, and asks again.',
        }),
      ),
      approvals: optional(approvals()),
      gates: optional(gates()),
    }),
    {
      max: 32,
      min: 1,
      default: [{ name: 'all', concurrency: 10 }],
      description: 'The rings, in order; the next one begins when the gate of the one before is recorded.',
    },
  )

/** What happens when failures stop a rollout. */
export const onFailure = () =>
  enumOf(['Pause', 'RollBackRing', 'RollBackAll'], {
    description:
      'When failures stop it: Pause admits nobody else and waits for a person (unless said); RollBackRing takes back the ring that failed, RollBackAll everything.',
  })
