import { concurrency } from './bundle.ts'
import { AGE, defineKind } from './define-kind.ts'
import type { ObjOf } from './define-kind.ts'
import { Conditions, enumOf, flag, int, listMap, name, object, optional, text, time } from './schema.ts'

/** Where a Rollout is in its life. */
export const ROLLOUT_PHASES = ['Pending', 'Progressing', 'Completed', 'Failed', 'Paused', 'Superseded'] as const

const ringName = () => text({ max: 63, min: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' })

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
    rings: listMap(['name'], object({ name: ringName(), concurrency: concurrency({ default: 10 }) }), {
      max: 32,
      min: 1,
      default: [{ name: 'all', concurrency: 10 }],
      description: 'The rings, in order; `concurrency` is how many clusters may be changing at once.',
    }),
    paused: flag({ default: false, description: 'Admits nobody while true; what was admitted goes on.' }),
  }),
  status: object({
    observedGeneration: optional(int()),
    phase: optional(enumOf(ROLLOUT_PHASES)),
    ring: optional(text({ max: 63, description: 'The ring that is moving now.' })),
    admissions: optional(
      listMap(
        ['bundle', 'cluster'],
        object({
          bundle: name(),
          cluster: name(),
          ring: ringName(),
          admittedAt: time(),
          startBy: optional(time({ description: 'Not begun by then, the slot is free again after a margin.' })),
        }),
        { max: 10_000, description: 'Clusters that hold a slot: admitted, and not yet reported Ready.' },
      ),
    ),
    counts: optional(
      object(
        {
          total: int({ default: 0 }),
          ready: int({ default: 0 }),
          progressing: int({ default: 0 }),
          pending: int({ default: 0 }),
          failed: int({ default: 0 }),
          offline: int({ default: 0 }),
        },
        { description: 'Pairs of bundle and cluster, per state.' },
      ),
    ),
    conditions: Conditions,
  }),
  columns: [
    { name: 'Release', type: 'string', jsonPath: '.spec.release' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Ready', type: 'integer', jsonPath: '.status.counts.ready' },
    { name: 'Total', type: 'integer', jsonPath: '.status.counts.total' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.counts.failed' },
    AGE,
    { name: 'Ring', type: 'string', jsonPath: '.status.ring', priority: 1 },
  ],
  examples: [{ metadata: { name: 'hello-g1', namespace: 'default' }, spec: { release: 'hello-g1' } }],
})
export type Rollout = ObjOf<typeof Rollout>
