import { defineView } from './define-view.ts'
import { int, mapOf, name, optional, text } from '../schema/schema-builders.ts'

/** A bundle on all its clusters, as counts per state. */
export const BundleCount = defineView({
  kind: 'BundleCount',
  plural: 'bundlecounts',
  scope: 'Namespaced',
  shortNames: ['fbc'],
  description:
    'Number of clusters by state for a Bundle, as counted by its newest Rollout. A BundleCount has the name of its Bundle and is read-only.',
  fields: {
    bundle: name({ description: 'Name of the Bundle in this namespace.' }),
    rollout: optional(
      name({ description: 'Name of the Rollout that the counts come from. Absent if the Bundle has no Rollout.' }),
    ),
    total: int({ description: 'Number of selected clusters, the sum of `counts`.' }),
    counts: mapOf(int(), { description: 'Number of clusters by state. A state without clusters has 0.' }),
    target: optional(int({ description: 'Generation of the newest Release.' })),
    message: text({ max: 8192, description: 'Message of the Rollout.' }),
  },
  selectable: ['bundle'],
  columns: [
    { name: 'Total', type: 'integer', jsonPath: '.total' },
    { name: 'Ready', type: 'integer', jsonPath: '.counts.Ready' },
    { name: 'Progressing', type: 'integer', jsonPath: '.counts.Progressing' },
    { name: 'Pending', type: 'integer', jsonPath: '.counts.Pending' },
    { name: 'Offline', type: 'integer', jsonPath: '.counts.Offline' },
    { name: 'Failed', type: 'integer', jsonPath: '.counts.Failed' },
    { name: 'Target', type: 'integer', jsonPath: '.target' },
    { name: 'Message', type: 'string', jsonPath: '.message', priority: 1 },
  ],
})
