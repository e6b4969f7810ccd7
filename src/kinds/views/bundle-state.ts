// Tested by src/hub/view/view.contract.test.ts
import { defineView } from './define-view.ts'
import { enumOf, int, name, object, optional, setOf, text } from '../schema/schema-builders.ts'
import { ORIGIN_FIELDS } from '../fields/origin.ts'
import { ringName } from '../fields/ring.ts'
import { BUNDLE_STATES } from '../fields/states.ts'

const REVISION = {
  generation: int({ description: 'Generation of the content.' }),
  revision: optional(
    text({
      max: 512,
      description:
        'Revision of the Source that the content was rendered from. Absent if the content is not from a Source, or if its Release no longer exists.',
    }),
  ),
  ...ORIGIN_FIELDS,
}

/** A bundle on a cluster: a row that the hub computes for each request and never stores. */
export const BundleState = defineView({
  kind: 'BundleState',
  plural: 'bundlestates',
  scope: 'Namespaced',
  shortNames: ['fbs'],
  description:
    'State of one Bundle or Delivery on one cluster. A BundleState is read-only and is in the namespace of its Bundle or Delivery.',
  fields: {
    bundle: text({
      max: 262,
      description: 'Name of the Bundle in this namespace, or `delivery:NAME` for a Delivery.',
    }),
    delivery: optional(name({ description: 'Name of the Delivery in this namespace. Absent for a Bundle.' })),
    cluster: name({ description: 'Name of the cluster.' }),
    state: optional(
      enumOf(BUNDLE_STATES, {
        description:
          'State of what runs of the bundle on the cluster. Absent for a cluster that left or was turned away.',
      }),
    ),
    message: text({ max: 8192, description: 'Explanation of the state in one or two sentences.' }),
    badges: optional(
      setOf(enumOf(['Frozen', 'Held', 'Cordoned', 'Left', 'Rejected', 'Revoked']), {
        max: 8,
        description:
          'Marks besides the state. `Frozen`: stopped by a freeze, a closed window, a label or a Project. `Held` and `Cordoned`: stopped by a person. `Left`, `Rejected` and `Revoked`: the cluster is not part of the fleet.',
      }),
    ),
    waitsFor: optional(
      text({
        max: 64,
        description: 'Event that the next generation of the bundle waits for, as one word. Stands beside any state.',
      }),
    ),
    lastKnown: optional(
      enumOf(BUNDLE_STATES, {
        description: 'State before the cluster went offline. Present only if the state is Offline.',
      }),
    ),
    queued: optional(
      int({
        description: 'Generation that the cluster moves to when it returns. Present only if the state is Offline.',
      }),
    ),
    firstFailing: optional(
      text({ max: 1024, description: 'First object that is not healthy. Present only if the state is Failed.' }),
    ),
    generation: optional(int({ description: 'Generation that the cluster reports.' })),
    target: optional(int({ description: 'Generation of the newest Release.' })),
    ring: optional(
      ringName(
        'Ring of the Rollout of the newest Release that the cluster is in. Absent for a Delivery, without a Rollout, and for a cluster in no ring.',
      ),
    ),
    attempted: optional(
      object(REVISION, {
        description:
          'Revision that the agent started last, as it reported. Absent before the first report about the bundle.',
      }),
    ),
    applied: optional(
      object(REVISION, {
        description:
          'Revision whose objects are all applied, as the agent reported. While a later revision is being applied or failed, the last revision before it that was Ready. Absent if no revision is applied completely, or if it is unknown.',
      }),
    ),
  },
  selectable: ['bundle', 'delivery', 'cluster', 'state'],
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.bundle' },
    { name: 'Cluster', type: 'string', jsonPath: '.cluster' },
    { name: 'State', type: 'string', jsonPath: '.state' },
    {
      name: 'Waits',
      type: 'string',
      jsonPath: '.waitsFor',
      description: 'Event that the next generation waits for.',
    },
    {
      name: 'Generation',
      type: 'integer',
      jsonPath: '.generation',
      description: 'Generation that the cluster reports.',
    },
    { name: 'Target', type: 'integer', jsonPath: '.target', description: 'Generation of the newest Release.' },
    {
      name: 'Revision',
      type: 'string',
      jsonPath: '.applied.revision',
      description: 'Revision of the Source that is applied on the cluster.',
    },
    { name: 'Ring', type: 'string', jsonPath: '.ring', priority: 1 },
    {
      name: 'Attempted',
      type: 'string',
      jsonPath: '.attempted.revision',
      priority: 1,
      description: 'Revision of the Source that the agent started last.',
    },
    { name: 'Author', type: 'string', jsonPath: '.applied.author', priority: 1 },
    { name: 'Subject', type: 'string', jsonPath: '.applied.subject', priority: 1 },
    { name: 'From', type: 'string', jsonPath: '.applied.from', priority: 1 },
    { name: 'Badges', type: 'string', jsonPath: '.badges', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.message', priority: 1 },
  ],
})
