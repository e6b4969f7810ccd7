import { defineView } from './define-view.ts'
import { digest, enumOf, name, object, optional, text } from '../schema/schema-builders.ts'
import { BUNDLE_STATES } from '../fields/states.ts'

/** One object of one bundle on one cluster: a row of a view, computed when it is asked for and never stored. */
export const BundleObject = defineView({
  kind: 'BundleObject',
  plural: 'bundleobjects',
  scope: 'Namespaced',
  shortNames: ['fbo'],
  description:
    'One object that a cluster is told to have by a Bundle. It can only be read; it is in the namespace of the Bundle.',
  fields: {
    bundle: name({ description: 'The Bundle, in this namespace.' }),
    cluster: name({ description: 'The Cluster.' }),
    object: object(
      {
        apiVersion: text({ max: 317 }),
        kind: text({ max: 63 }),
        namespace: optional(text({ max: 63 })),
        name: text({ max: 253 }),
        digest: digest({ description: 'What it should be.' }),
      },
      { description: 'The object in the cluster.' },
    ),
    state: enumOf(BUNDLE_STATES, {
      description: 'What the cluster said of this object; of one it did not name, the state of the whole bundle there.',
    }),
    message: optional(text({ max: 8192, description: 'The words of the cluster about this object.' })),
  },
  selectable: ['bundle', 'cluster', 'state'],
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.bundle' },
    { name: 'Cluster', type: 'string', jsonPath: '.cluster' },
    { name: 'Kind', type: 'string', jsonPath: '.object.kind' },
    { name: 'Namespace', type: 'string', jsonPath: '.object.namespace' },
    { name: 'Object', type: 'string', jsonPath: '.object.name' },
    { name: 'State', type: 'string', jsonPath: '.state' },
    { name: 'Message', type: 'string', jsonPath: '.message', priority: 1 },
  ],
})
