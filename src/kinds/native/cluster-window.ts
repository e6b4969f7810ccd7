import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { Conditions, int, object, optional } from '../schema/schema-builders.ts'
import { WINDOW_COLUMNS, windowFields } from '../fields/window-fields.ts'

/** When clusters may change, whoever's bundles it are. */
export const ClusterWindow = defineKind({
  kind: 'ClusterWindow',
  plural: 'clusterwindows',
  scope: 'Cluster',
  shortNames: ['fcwin'],
  description:
    'When clusters may begin to change, or may not, for the bundles of all namespaces: a maintenance window or a freeze.',
  spec: object(windowFields('Bundles as `namespace/name`;')),
  status: object({ observedGeneration: optional(int()), conditions: Conditions }),
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
