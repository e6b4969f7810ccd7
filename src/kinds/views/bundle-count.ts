import { defineView } from './define-view.ts'
import { int, mapOf, name, optional, text } from '../schema/schema-builders.ts'

/** One bundle on all its clusters, as counts per state. */
export const BundleCount = defineView({
  kind: 'BundleCount',
  plural: 'bundlecounts',
  scope: 'Namespaced',
  shortNames: ['fbc'],
  description:
    'On how many clusters a Bundle is in which state, as its newest Rollout counts them. Its name is the Bundle’s.',
  fields: {
    bundle: name({ description: 'The Bundle, in this namespace.' }),
    rollout: optional(name({ description: 'The Rollout that counted; absent while nothing moves yet.' })),
    total: int({ description: 'Selected clusters: what the counts add up to.' }),
    counts: mapOf(int(), { description: 'Clusters per state; a state without clusters has 0.' }),
    target: optional(int({ description: 'The generation that the newest Release wants.' })),
    message: text({ max: 8192, description: 'What the Rollout says about the whole.' }),
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
