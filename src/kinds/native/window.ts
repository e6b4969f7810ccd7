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
    'When bundles of its namespace may begin to change on clusters, or may not: a maintenance window or a freeze.',
  spec: object(windowFields('Names of Bundles in this namespace;')),
  status: object({ observedGeneration: optional(int()), conditions: Conditions }),
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
