import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { Conditions, int, object, optional } from '../schema/schema-builders.ts'
import { WINDOW_COLUMNS, windowFields } from '../fields/window-fields.ts'

/** When bundles of a namespace may change. */
export const Window = defineKind({
  kind: 'Window',
  plural: 'windows',
  scope: 'Namespaced',
  shortNames: ['fwin'],
  description:
    'Maintenance window or freeze for a namespace: times in which changes of its Bundles may start, or may not start.',
  spec: object(windowFields('Names of Bundles in this namespace.'), {
    description: 'Times and clusters of the window.',
  }),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
    },
    { description: 'Observed state of the window. Set by the hub.' },
  ),
  columns: [...WINDOW_COLUMNS, AGE],
  examples: [
    {
      metadata: { name: 'at-night', namespace: 'retail' },
      spec: {
        mode: 'Open',
        times: [{ schedule: '0 2 * * *', duration: '4h' }],
        clusterSelector: { matchLabels: { tier: 'store' } },
        bundles: ['pos-*'],
        reason: 'tills are off between two and six',
      },
    },
  ],
})
export type Window = ObjectOfKind<typeof Window>
