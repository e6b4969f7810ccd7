import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { CATCH_UP, DELETE_POLICIES } from '../fields/bundle-options.ts'
import { REMOVAL_CAUSES } from './rollout.ts'
import { digest, entryId, enumOf, flag, int, listOf, object, optional, text, time } from '../schema/schema-builders.ts'

/** The head of a cluster's signed document. */
export const Assignment = defineKind({
  kind: 'Assignment',
  plural: 'assignments',
  scope: 'Cluster',
  shortNames: ['fas'],
  description:
    'Head of the signed document that the agent of a cluster follows. An Assignment has the name of its cluster and is written only by the hub.',
  spec: object(
    {
      clusterId: text({ max: 64, min: 1, description: 'ID of the cluster, issued by the hub.' }),
      epoch: int({ description: 'Epoch of the document. Increased when the hub is restored from a backup.' }),
      revision: int({
        minimum: 1,
        description: 'Revision of the document within its epoch. Increased by one with each document.',
      }),
      document: digest({ description: 'Digest of the signed envelope.' }),
      trustVersion: optional(
        int({ description: 'Version of the trust bundle that the document was signed under. Defaults to 1.' }),
      ),
      rules: optional(
        digest({ description: 'Digest of the rules part of the document: windows, freezes, holds and limits.' }),
      ),
      previous: optional(digest({ description: 'Digest of the signed envelope of the previous document.' })),
      terminal: optional(
        flag({ description: 'If true, this is the last document of the cluster: the cluster has left the fleet.' }),
      ),
      entries: listOf(
        object({
          bundle: entryId({ description: 'Bundle, as `namespace/name`, or Delivery, as `namespace/delivery:name`.' }),
          generation: int({ description: "Generation of the Bundle's content." }),
          set: digest({ description: 'Digest of the set of objects.' }),
          rollout: entryId({
            description: 'Rollout that admitted the entry, as `namespace/name`, or the Delivery itself.',
          }),
          sealed: optional(
            object(
              {
                values: digest({ description: 'Digest of the blob with the encrypted values.' }),
                key: digest({ description: 'Digest of the public key that the values are encrypted for.' }),
              },
              { description: 'Secret values of the entry, encrypted for this cluster.' },
            ),
          ),
          before: optional(
            object(
              {
                generation: int({ description: 'Generation of the earlier content.' }),
                set: digest({ description: 'Digest of the earlier set of rendered objects.' }),
              },
              { description: 'Last revision before this one that was Ready on the cluster.' },
            ),
          ),
          attempt: optional(
            int({ description: 'Number of manual retries of the entry. Absent before the first retry.' }),
          ),
          startBy: optional(
            time({
              description:
                'Time until which the agent may start the change. Afterwards the agent waits for a new admission.',
            }),
          ),
          admittedAt: optional(time({ description: 'Time of the admission.' })),
          order: optional(
            int({
              minimum: -1_000_000,
              description: 'Order in which the agent starts entries that changed at the same time. Defaults to 0.',
            }),
          ),
          catchUp: optional(
            enumOf(CATCH_UP, {
              description: 'Behaviour of the agent if the cluster was offline, as `spec.catchUp` of the Bundle.',
            }),
          ),
        }),
        { max: 500, default: [], description: 'Bundles that the agent applies. Defaults to an empty list.' },
      ),
      tombstones: optional(
        listOf(
          object({
            bundle: entryId({ description: 'Bundle, as `namespace/name`, or Delivery, as `namespace/delivery:name`.' }),
            generation: int({
              description: 'Highest generation that is removed. Earlier generations are removed as well.',
            }),
            policy: enumOf(DELETE_POLICIES, {
              description:
                'Policy for the objects of the Bundle. `Delete` deletes them; `Orphan` keeps them without management.',
            }),
            cause: optional(
              enumOf(REMOVAL_CAUSES, {
                description:
                  'Cause of the removal. `unplaced`: the Placement no longer selects the cluster, or the Delivery no longer names it. `bundleDeleted`: the Bundle or Delivery was deleted.',
              }),
            ),
            rollout: optional(
              entryId({
                description: 'Rollout that admitted the removal, as `namespace/name`, or the Delivery itself.',
              }),
            ),
            since: int({
              description:
                'Revision of the document that introduced the tombstone. Only a report about this revision or a later revision can end the tombstone.',
            }),
          }),
          {
            max: 500,
            description:
              'Bundles that the agent removes. A tombstone stays until the hub has stored the receipt of the cluster.',
          },
        ),
      ),
    },
    { description: 'Head of the document. Set by the hub.' },
  ),
  columns: [
    { name: 'Revision', type: 'integer', jsonPath: '.spec.revision' },
    { name: 'Epoch', type: 'integer', jsonPath: '.spec.epoch', priority: 1 },
    { name: 'Document', type: 'string', jsonPath: '.spec.document', priority: 1 },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042' },
      spec: {
        clusterId: 'c-7h2k9q',
        epoch: 1,
        revision: 1,
        document: 'sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9',
        entries: [
          {
            bundle: 'default/hello',
            generation: 1,
            set: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
            rollout: 'default/hello-g1',
          },
        ],
      },
    },
  ],
})
export type Assignment = ObjectOfKind<typeof Assignment>
