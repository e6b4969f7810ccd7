import { defineView } from './define-view.ts'
import { enumOf, int, name, optional, setOf, text } from '../schema/schema-builders.ts'
import { BUNDLE_STATES } from '../fields/states.ts'

/** One bundle on one cluster: a row of a view, computed when it is asked for and never stored. */
export const BundleState = defineView({
  kind: 'BundleState',
  plural: 'bundlestates',
  scope: 'Namespaced',
  shortNames: ['fbs'],
  description: 'How one Bundle does on one cluster. It can only be read; it is in the namespace of the Bundle.',
  fields: {
    bundle: name({ description: 'The Bundle, in this namespace.' }),
    cluster: name({ description: 'The Cluster.' }),
    state: enumOf(BUNDLE_STATES, { description: 'Exactly one of the seven states.' }),
    message: text({ max: 8192, description: 'Why, in one or two sentences.' }),
    badges: optional(
      setOf(enumOf(['Frozen', 'Held', 'Cordoned']), {
        max: 8,
        description:
          'Marks beside the state: Frozen by a freeze, a closed window or its label; Held or Cordoned by a person.',
      }),
    ),
    waitsFor: optional(text({ max: 64, description: 'For Pending: what would release it.' })),
    lastKnown: optional(
      enumOf(BUNDLE_STATES, { description: 'For Offline: the state before the cluster fell silent.' }),
    ),
    queued: optional(int({ description: 'For Offline: the generation the cluster moves to when it returns.' })),
    firstFailing: optional(text({ max: 1024, description: 'For Failed: the first object that is not well.' })),
    generation: optional(int({ description: 'The generation that the cluster reports.' })),
    target: optional(int({ description: 'The generation that the newest Release wants.' })),
  },
  selectable: ['bundle', 'cluster', 'state'],
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.bundle' },
    { name: 'Cluster', type: 'string', jsonPath: '.cluster' },
    { name: 'State', type: 'string', jsonPath: '.state' },
    { name: 'Waits', type: 'string', jsonPath: '.waitsFor', description: 'What a Pending one waits for.' },
    { name: 'Generation', type: 'integer', jsonPath: '.generation', description: 'What the cluster reports.' },
    { name: 'Target', type: 'integer', jsonPath: '.target', description: 'What the newest Release wants.' },
    { name: 'Badges', type: 'string', jsonPath: '.badges', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.message', priority: 1 },
  ],
})
