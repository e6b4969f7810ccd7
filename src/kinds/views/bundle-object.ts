import { defineView } from './define-view.ts'
import { desiredObject } from './desired-object.ts'
import { enumOf, name, optional, text } from '../schema/schema-builders.ts'
import { OBJECT_ROW_STATES } from '../fields/states.ts'

/** An object of a bundle on a cluster: a row that the hub computes for each request and never stores. */
export const BundleObject = defineView({
  kind: 'BundleObject',
  plural: 'bundleobjects',
  scope: 'Namespaced',
  shortNames: ['fbo'],
  description: 'Object of a Bundle on a cluster. A BundleObject is read-only and is in the namespace of its Bundle.',
  fields: {
    bundle: text({
      max: 262,
      description: 'Name of the Bundle in this namespace, or `delivery:NAME` for a Delivery.',
    }),
    cluster: name({ description: 'Name of the cluster.' }),
    object: desiredObject('Object in the cluster.'),
    state: enumOf(OBJECT_ROW_STATES, {
      description:
        "State of the object itself. `NotReported`: the agent's report does not tell it. `Offline`: the cluster is offline, and the message has the last reported state.",
    }),
    message: optional(text({ max: 8192, description: 'Message of the agent about the object.' })),
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
