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
  name,
  object,
  optional,
  setOf,
  text,
  time,
} from '../schema/schema-builders.ts'

/** Where a Rollout is in its life. */
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
  total: int({ default: 0 }),
  ready: int({ default: 0 }),
  progressing: int({ default: 0 }),
  pending: int({ default: 0 }),
  failed: int({ default: 0 }),
  offline: int({ default: 0 }),
}

/** Why a whole Bundle leaves a cluster. */
export const REMOVAL_CAUSES = ['unplaced', 'bundleDeleted'] as const

/** One Release on its way through the fleet. */
export const Rollout = defineKind({
  kind: 'Rollout',
  plural: 'rollouts',
  scope: 'Namespaced',
  shortNames: ['fro'],
  description:
    'One Release moving through its rings. Nothing reaches a cluster except through an admission recorded here.',
  spec: object({
    release: name({ immutable: true, description: 'The Release, in this namespace, that moves.' }),
    rings: rings(),
    paused: flag({ default: false, description: 'Admits nobody while true; what was admitted goes on.' }),
    aborted: optional(flag({ description: 'Ends it: nobody else is ever admitted; what was admitted goes on.' })),
    progressDeadline: optional(
      duration({ description: 'An admitted cluster that is not Ready after so long counts as failed.' }),
    ),
    plan: optional(name({ description: 'The RolloutPlan it was made from.' })),
    onFailure: optional(onFailure()),
    acts: optional(
      listMap(
        ['n'],
        object({
          n: int({ minimum: 1, description: 'Rises by one with each.' }),
          verb: enumOf(['Retry', 'RollBack']),
          by: text({ max: 253, min: 1, description: 'Who asked; the API checks it.' }),
          at: time(),
          reason: optional(text({ max: 1024 })),
          clusters: optional(listOf(name(), { max: 1000, description: 'Only these clusters.' })),
          ring: optional(ringName()),
          bundles: optional(listOf(name(), { max: 256, description: 'Only these of its bundles.' })),
          to: optional(name({ description: 'The Release to go back to; without it, what each cluster ran before.' })),
        }),
        { max: 100, description: 'What people asked of it: to try again, or to take it back.' },
      ),
    ),
    startedBy: optional(
      setOf(text({ max: 512, min: 1 }), {
        max: 64,
        description: 'Who started or resumed it; names are only ever added, each by its bearer.',
      }),
    ),
    removal: optional(
      object(
        {
          bundle: name({ description: 'The Bundle that goes.' }),
          cause: enumOf(REMOVAL_CAUSES, {
            description:
              'Which of the rules of `delete` of the Bundle counts: the cluster left its Placement, or the Bundle was deleted.',
          }),
          policy: enumOf(DELETE_POLICIES, {
            default: 'Delete',
            description:
              'Orphan: the Bundle said so when it left, and its objects stay. Delete: what the cluster has recorded of the Bundle decides.',
          }),
          clusters: setOf(name(), {
            max: 10_000,
            min: 1,
            description: 'From which clusters; written down once, never worked out anew.',
          }),
          reason: text({ max: 1024, description: 'What a person changed.' }),
          asks: optional(text({ max: 1024, description: 'Why it began paused: it drops more than may go unasked.' })),
        },
        { immutable: true, description: 'What is removed; then this Rollout brings nothing. Only the hub writes it.' },
      ),
    ),
    exceptions: optional(
      listOf(
        object({
          ...exceptionSubject,
          reason: optional(text({ max: 1024, description: 'Why.' })),
        }),
        {
          max: 8,
          description:
            'As whom somebody let it pass windows and freezes that have an exception for them. The API checks each one when it is added.',
        },
      ),
    ),
  }),
  status: object({
    observedGeneration: optional(int()),
    phase: optional(enumOf(ROLLOUT_PHASES)),
    ring: optional(text({ max: 63, description: 'The ring that is moving now.' })),
    rings: optional(
      listMap(
        ['name'],
        object({
          name: ringName(),
          upTo: optional(
            text({
              max: 253,
              description: 'The last cluster, by name, of a ring by count or share; it does not shift.',
            }),
          ),
          members: optional(int()),
          ready: optional(int()),
          failed: optional(int()),
          excused: optional(int({ description: 'Not connected, and admitted when they return.' })),
          openedAt: optional(
            time({ description: 'What it asks for before it opens was there; it admits from then on.' }),
          ),
          approvedBy: optional(
            listOf(
              object({
                author: text({ max: 512, min: 1 }),
                approval: name({ description: 'The Approval, which may be gone by now.' }),
                at: time(),
              }),
              { max: 16, description: 'The approvals that opened it.' },
            ),
          ),
          gates: optional(
            listMap(
              ['name'],
              object({
                name: ringName(),
                state: enumOf(['Passed', 'Waiting', 'Refused', 'Unknown']),
                since: time({ description: 'Since when it says so.' }),
                message: text({ max: 1024 }),
              }),
              { max: 16, description: 'What its gates said last.' },
            ),
          ),
          readyAt: optional(time({ description: 'Since then enough members are Ready.' })),
          passedAt: optional(time({ description: 'The gate: from then on the next ring may begin.' })),
        }),
        { max: 32, description: 'How the rings stand.' },
      ),
    ),
    unringed: optional(
      listOf(name(), { max: 10, description: 'Some of the clusters that are in no ring, and so never admitted.' }),
    ),
    admissions: optional(
      listMap(
        ['bundle', 'cluster'],
        object({
          bundle: name(),
          cluster: name(),
          ring: ringName(),
          admittedAt: time(),
          startBy: optional(time({ description: 'Not begun by then, the slot is free again after a margin.' })),
          attempt: optional(int({ description: 'Which of the tries that somebody asked for it is.' })),
          failedAt: optional(time({ description: 'Since then it counts as failed, until it is Ready.' })),
        }),
        { max: 10_000, description: 'Clusters that hold a slot: admitted, and not yet reported Ready.' },
      ),
    ),
    rollBack: optional(
      object(
        { at: time(), ring: optional(ringName()), reason: text({ max: 4096 }) },
        { description: 'It failed and is taken back, as `onFailure` asks; without a ring, everywhere.' },
      ),
    ),
    superseded: optional(
      listMap(['bundle'], object({ bundle: name(), by: name({ description: 'The Rollout that carries it now.' }) }), {
        max: 256,
        description: 'Bundles that newer Rollouts carry; nobody is admitted here for them any more.',
      }),
    ),
    settled: optional(
      setOf(name(), {
        max: 10_000,
        description:
          'Of a removal: clusters that are through with it for good, removed or meant to keep the Bundle again.',
      }),
    ),
    kept: optional(
      setOf(name(), {
        max: 10_000,
        description:
          'Of a removal: those of the settled clusters that keep the Bundle, wanted again before it began there.',
      }),
    ),
    counts: optional(object(COUNTS, { description: 'Pairs of bundle and cluster, per state.' })),
    bundles: optional(
      listMap(['name'], object({ name: name(), ...COUNTS }), {
        max: 256,
        description: 'The same for each bundle, where there are several.',
      }),
    ),
    conditions: Conditions,
  }),
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
