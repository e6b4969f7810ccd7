import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { DELETE_POLICIES } from '../fields/bundle-options.ts'
import { onFailure, ringName, rings } from '../fields/ring.ts'
import { exceptionSubject } from '../fields/window-fields.ts'
import {
  Conditions,
  duration,
  enumOf,
  flag,
  int,
  listMap,
  listOf,
  mapOf,
  name,
  object,
  optional,
  setOf,
  text,
  time,
} from '../schema/schema-builders.ts'

/** Phases of a Rollout. */
export const ROLLOUT_PHASES = [
  'Pending',
  'Progressing',
  'Completed',
  'Failed',
  'Paused',
  'Superseded',
  'Aborted',
] as const

const COUNTS = {
  total: int({ default: 0, description: 'Total number of bundles on clusters. Defaults to 0.' }),
  ready: int({
    default: 0,
    description:
      'Number of bundles on clusters that have the content of the Release and were healthy at the last report, including those on clusters that are offline now. Equals the sum of `ready` of the rings. Defaults to 0.',
  }),
  progressing: int({
    default: 0,
    description: 'Number of bundles on clusters that received the content and are not Ready. Defaults to 0.',
  }),
  pending: int({
    default: 0,
    description: 'Number of bundles on clusters that have not received the content. Defaults to 0.',
  }),
  failed: int({
    default: 0,
    description: 'Number of bundles on clusters that failed with the content. Defaults to 0.',
  }),
  offline: int({
    default: 0,
    description: 'Number of bundles on offline clusters that do not have the content. Defaults to 0.',
  }),
  states: optional(
    mapOf(int(), {
      description:
        'Numbers of bundles on clusters by the state of their BundleState, which describes the generation that runs now. A state that is absent has 0.',
    }),
  ),
}

/** Causes of the removal of a Bundle from a cluster. */
export const REMOVAL_CAUSES = ['unplaced', 'bundleDeleted'] as const

export const Rollout = defineKind({
  kind: 'Rollout',
  plural: 'rollouts',
  scope: 'Namespaced',
  shortNames: ['fro'],
  description:
    'Progress of one Release through its rings. A cluster receives the content of the Release only after an admission that is recorded in the Rollout.',
  spec: object(
    {
      release: name({ immutable: true, description: 'Name of the Release in this namespace that is rolled out.' }),
      rings: rings(),
      paused: flag({
        default: false,
        description:
          'If true, no further clusters are admitted. Clusters already admitted continue. Defaults to false.',
      }),
      aborted: optional(
        flag({
          description:
            'If true, the Rollout is aborted: no further clusters are admitted, clusters already admitted continue. Defaults to false.',
        }),
      ),
      progressDeadline: optional(
        duration({
          description:
            'Time after its admission within which a cluster must become Ready, for example `20m`. Afterwards the cluster counts as failed. If omitted, there is no deadline.',
        }),
      ),
      plan: optional(name({ description: 'Name of the RolloutPlan that the Rollout was created from.' })),
      onFailure: optional(onFailure()),
      acts: optional(
        listMap(
          ['n'],
          object({
            n: int({ minimum: 1, description: 'Number of the request. Increased by one with each request.' }),
            verb: enumOf(['Retry', 'RollBack'], { description: 'Action that is requested.' }),
            by: text({ max: 253, min: 1, description: 'User who made the request. The API server verifies the name.' }),
            at: time({ description: 'Time of the request.' }),
            reason: optional(text({ max: 1024, description: 'Reason of the request.' })),
            clusters: optional(
              listOf(name(), { max: 1000, description: 'Names of the clusters that the request is limited to.' }),
            ),
            ring: optional(ringName('Name of the ring that the request is limited to.')),
            bundles: optional(
              listOf(name(), { max: 256, description: 'Names of the Bundles that the request is limited to.' }),
            ),
            to: optional(
              name({
                description:
                  'Name of the Release to return to. If omitted, each cluster returns to the content it ran before.',
              }),
            ),
          }),
          { max: 100, description: 'Requests of users to retry or roll back.' },
        ),
      ),
      startedBy: optional(
        setOf(text({ max: 512, min: 1 }), {
          max: 64,
          description: 'Users who started or resumed the Rollout. Users can only add their own name.',
        }),
      ),
      removal: optional(
        object(
          {
            bundle: name({ description: 'Name of the Bundle that is removed.' }),
            cause: enumOf(REMOVAL_CAUSES, {
              description:
                "Cause of the removal, which selects the rule of the Bundle's `delete` options. `unplaced`: the Placement no longer selects the cluster. `bundleDeleted`: the Bundle was deleted.",
            }),
            policy: enumOf(DELETE_POLICIES, {
              default: 'Delete',
              description:
                'Policy for the objects. `Orphan` keeps the objects; `Delete` follows the `delete` options that the cluster has recorded for the Bundle. Defaults to `Delete`.',
            }),
            clusters: setOf(name(), {
              max: 10_000,
              min: 1,
              description: 'Names of the clusters from which the Bundle is removed. Fixed when the Rollout is created.',
            }),
            reason: text({ max: 1024, description: 'Description of the change that caused the removal.' }),
            asks: optional(
              text({
                max: 1024,
                description: 'Reason why the Rollout was created paused: the removal is larger than the guard allows.',
              }),
            ),
          },
          {
            immutable: true,
            description: 'Removal that this Rollout performs instead of delivering content. Set by the hub.',
          },
        ),
      ),
      exceptions: optional(
        listOf(
          object({
            ...exceptionSubject,
            reason: optional(text({ max: 1024, description: 'Reason of the exception.' })),
          }),
          {
            max: 8,
            description:
              'Exceptions of windows and freezes that users apply to the Rollout. The API server verifies each entry when it is added.',
          },
        ),
      ),
    },
    { description: 'Release, rings and controls of the Rollout.' },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      phase: optional(enumOf(ROLLOUT_PHASES, { description: 'Phase of the Rollout.' })),
      ring: optional(text({ max: 63, description: 'Name of the ring that is in progress.' })),
      rings: optional(
        listMap(
          ['name'],
          object({
            name: ringName('Name of the ring.'),
            upTo: optional(
              text({
                max: 253,
                description:
                  'Name of the last cluster of a ring with `count` or `share`. Fixed when the Rollout starts.',
              }),
            ),
            members: optional(int({ description: 'Number of clusters of the ring.' })),
            ready: optional(int({ description: 'Number of clusters of the ring that are Ready.' })),
            failed: optional(int({ description: 'Number of clusters of the ring that failed.' })),
            excused: optional(
              int({
                description:
                  'Number of clusters that the ring does not wait for, for example because they are offline. They are admitted when they return.',
              }),
            ),
            excusedFor: optional(
              object(
                {
                  offline: optional(int({ description: 'Number of excused clusters that are offline.' })),
                  frozen: optional(
                    int({ description: 'Number of excused clusters that a freeze, a window or a label stops.' }),
                  ),
                  held: optional(int({ description: 'Number of excused clusters that a user holds or cordoned.' })),
                  notBuilt: optional(
                    int({
                      description:
                        'Number of excused clusters for which no content could be rendered. They are in `failed` as well.',
                    }),
                  ),
                },
                { description: 'Number of excused clusters by reason. The sum is `excused`.' },
              ),
            ),
            openedAt: optional(
              time({ description: 'Time at which all opening conditions of the ring (gates, approvals) were met.' }),
            ),
            approvedBy: optional(
              listOf(
                object({
                  author: text({ max: 512, min: 1, description: 'User who approved.' }),
                  approval: name({ description: 'Name of the Approval, which may have been deleted since.' }),
                  at: time({ description: 'Time of the Approval.' }),
                }),
                { max: 16, description: 'Approvals that opened the ring.' },
              ),
            ),
            gates: optional(
              listMap(
                ['name'],
                object({
                  name: ringName('Name of the gate.'),
                  state: enumOf(['Passed', 'Waiting', 'Refused', 'Unknown'], {
                    description:
                      'Result of the gate. `Refused`: the gate does not pass. `Unknown`: the gate could not be evaluated.',
                  }),
                  since: time({ description: 'Time of the last change of the result.' }),
                  message: text({ max: 1024, description: 'Explanation of the result.' }),
                }),
                { max: 16, description: 'Last results of the gates of the ring.' },
              ),
            ),
            readyAt: optional(time({ description: 'Time since which enough clusters of the ring are Ready.' })),
            passedAt: optional(
              time({ description: 'Time at which the ring passed. From this time the next ring can start.' }),
            ),
          }),
          { max: 32, description: 'Progress of the rings.' },
        ),
      ),
      unringed: optional(
        listOf(name(), {
          max: 10,
          description: 'Names of the first 10 clusters that belong to no ring and are never admitted.',
        }),
      ),
      admissions: optional(
        listOf(
          object({
            bundle: name({ description: 'Name of the Bundle.' }),
            cluster: name({ description: 'Name of the cluster.' }),
            ring: ringName('Name of the ring.'),
            admittedAt: time({ description: 'Time of the admission.' }),
            startBy: optional(
              time({
                description:
                  'Time until which the agent may start the change. One minute later the slot is free again.',
              }),
            ),
            attempt: optional(int({ description: 'Number of the manual retry that the admission belongs to.' })),
            failedAt: optional(
              time({
                description: 'Time since which the cluster counts as failed. Removed when the cluster is Ready.',
              }),
            ),
          }),
          {
            max: 10_000,
            description: 'Admissions that take a slot: the cluster is admitted and has not reported Ready.',
          },
        ),
      ),
      rollBack: optional(
        object(
          {
            at: time({ description: 'Time at which the rollback was decided.' }),
            ring: optional(ringName('Name of the ring that is rolled back. If omitted, all rings are rolled back.')),
            reason: text({ max: 4096, description: 'Reason of the rollback.' }),
          },
          { description: 'Automatic rollback after a failure, as `spec.onFailure` requests.' },
        ),
      ),
      superseded: optional(
        listMap(
          ['bundle'],
          object({
            bundle: name({ description: 'Name of the Bundle.' }),
            by: name({ description: 'Name of the Rollout that has taken over the Bundle.' }),
          }),
          {
            max: 256,
            description:
              'Bundles that newer Rollouts have taken over. This Rollout admits no further clusters for them.',
          },
        ),
      ),
      settled: optional(
        listOf(name(), {
          max: 10_000,
          description:
            'Names of clusters for which a removal is complete: the Bundle is removed, or is placed on the cluster again.',
        }),
      ),
      kept: optional(
        listOf(name(), {
          max: 10_000,
          description:
            'Names of the settled clusters that keep the Bundle, because it was placed on them again before the removal started.',
        }),
      ),
      counts: optional(object(COUNTS, { description: 'Numbers of bundles on clusters by state.' })),
      bundles: optional(
        listOf(object({ name: name({ description: 'Name of the Bundle.' }), ...COUNTS }), {
          max: 256,
          description: 'Numbers of clusters by state for each Bundle, if the Release has several Bundles.',
        }),
      ),
      conditions: Conditions,
    },
    { description: 'Observed progress of the Rollout. Set by the hub.' },
  ),
  columns: [
    { name: 'Release', type: 'string', jsonPath: '.spec.release' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.counts.ready' },
    { name: 'Total', type: 'integer', jsonPath: '.status.counts.total' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.counts.failed' },
    { name: 'Offline', type: 'integer', jsonPath: '.status.counts.offline' },
    AGE,
    { name: 'Ring', type: 'string', jsonPath: '.status.ring', priority: 1 },
  ],
  examples: [{ metadata: { name: 'hello-g1', namespace: 'default' }, spec: { release: 'hello-g1' } }],
})
export type Rollout = ObjectOfKind<typeof Rollout>
