import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { Conditions, int, object, optional } from '../schema/schema-builders.ts'
import { WINDOW_COLUMNS, windowFields } from '../fields/window-fields.ts'

export const ClusterWindow = defineKind({
  kind: 'ClusterWindow',
  plural: 'clusterwindows',
  scope: 'Cluster',
  shortNames: ['fcwin'],
  description:
    'Maintenance window or freeze for clusters: times in which changes of Bundles of all namespaces may start, or may not start.',
  spec: object(windowFields('Names of Bundles, as `namespace/name`.'), {
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
      metadata: { name: 'black-friday' },
      spec: {
        mode: 'Freeze',
        times: [{ from: '2026-11-20T00:00:00+01:00', until: '2026-12-01T06:00:00+01:00' }],
        clusterSelector: { matchLabels: { tier: 'store' } },
        exceptions: [{ name: 'incident', subjects: [{ kind: 'Role', name: 'incident-commander' }] }],
        reason: 'Black Friday',
      },
    },
  ],
})
export type ClusterWindow = ObjectOfKind<typeof ClusterWindow>
