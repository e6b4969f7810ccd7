import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  digest,
  enumOf,
  int,
  listMap,
  listOf,
  namespacedName,
  object,
  optional,
  text,
  time,
} from '../schema/schema-builders.ts'
import { BUNDLE_STATES } from '../fields/states.ts'

/** How the removal of a bundle stands on a cluster. */
export const REMOVAL_STATES = ['Removing', 'Failed', 'Removed', 'Orphaned'] as const

/** What a cluster's agent last reported. */
export const ClusterReport = defineKind({
  kind: 'ClusterReport',
  plural: 'clusterreports',
  scope: 'Cluster',
  shortNames: ['fcr'],
  description:
    'Last report of the agent of a cluster. A ClusterReport has the name of its cluster and is written by the gateway when the reported state changes.',
  spec: object(
    {
      clusterId: text({ max: 64, min: 1, description: 'ID of the cluster, issued by the hub.' }),
      epoch: int({ description: 'Epoch of the document that the agent follows.' }),
      revision: int({ description: 'Revision of the document that the agent follows.' }),
      document: optional(digest({ description: 'Digest of the signed envelope of that document.' })),
      refusal: optional(
        object(
          {
            reason: text({ max: 64, min: 1, description: 'Reason in CamelCase, for example `MissingFeature`.' }),
            message: text({ max: 4096, description: 'Message of the agent.' }),
            epoch: optional(int({ description: 'Epoch of the refused document.' })),
            revision: optional(int({ description: 'Revision of the refused document.' })),
            document: optional(digest({ description: 'Digest of the refused document, if the agent could read it.' })),
          },
          {
            description: 'Reason why the agent does not follow the newest document. Absent while the agent follows it.',
          },
        ),
      ),
      traffic: optional(
        object(
          {
            downBytes: int({ description: 'Number of bytes sent to the cluster.' }),
            upBytes: int({ description: 'Number of bytes received from the cluster.' }),
          },
          {
            description:
              'Traffic of requests and responses since the cluster joined. Updated only when the report changes for another reason.',
          },
        ),
      ),
      incarnation: optional(
        int({
          minimum: 2,
          description:
            "Number of the cluster's own timeline. Increased when the cluster is restored from a backup; absent before the first restore.",
        }),
      ),
      receivedAt: time({ description: 'Time at which the gateway received the report.' }),
      log: optional(
        object(
          {
            asked: time({ description: 'Value of `spec.logsAskedAt` of the Cluster that the lines answer.' }),
            lines: listOf(text({ max: 400 }), {
              max: 100,
              description: 'Newest lines of the log, oldest first, at most 100.',
            }),
          },
          { description: 'Log lines of the agent. Present only after a user requested them.' },
        ),
      ),
      bundles: listMap(
        ['bundle'],
        object({
          bundle: namespacedName({ description: 'Bundle, as `namespace/name`.' }),
          generation: int({ description: 'Generation of the content on the cluster.' }),
          set: digest({ description: 'Digest of the set on the cluster.' }),
          state: enumOf(BUNDLE_STATES, { description: 'State of the bundle on the cluster.' }),
          attempt: optional(int({ description: 'Number of the manual retry this report belongs to.' })),
          message: optional(text({ max: 4096, description: 'Message of the agent.' })),
          firstFailing: optional(text({ max: 1024, description: 'First object that is not healthy.' })),
          drift: optional(
            listOf(
              object({
                object: text({ max: 1024, description: 'Kind, namespace and name of the object.' }),
                fields: listOf(text({ max: 1024 }), {
                  max: 20,
                  description: 'Fields that differ, each with the field manager that owns it, at most 20.',
                }),
                since: text({ max: 40, description: 'Time at which the agent first observed the difference.' }),
              }),
              { max: 20, description: 'Objects that differ from the set and are not corrected, at most the first 20.' },
            ),
          ),
          feedback: optional(
            listOf(
              object({
                object: text({ max: 1024, description: 'Kind, namespace and name of the object.' }),
                name: text({ max: 64, description: 'Name of the value, as `as` in the Bundle.' }),
                value: text({ max: 1024, description: 'Value as a string.' }),
              }),
              {
                max: 20,
                description:
                  'Values of live objects that `spec.feedback` of the Bundle requests, at most the first 20.',
              },
            ),
          ),
        }),
        { max: 500, default: [], description: 'Bundles on the cluster. Defaults to an empty list.' },
      ),
      removals: optional(
        listMap(
          ['bundle'],
          object({
            bundle: namespacedName({ description: 'Bundle, as `namespace/name`.' }),
            generation: int({ description: 'Generation of the tombstone.' }),
            state: enumOf(REMOVAL_STATES, {
              description:
                'State of the removal. `Removed` and `Orphaned` are receipts: the agent no longer manages any object of the Bundle.',
            }),
            message: optional(
              text({ max: 4096, description: 'Message of the agent about what the removal waits for.' }),
            ),
            deleted: optional(int({ description: 'Number of deleted objects.' })),
            left: optional(
              listOf(text({ max: 2100 }), {
                max: 20,
                description: 'Objects left in place, each with the reason, at most the first 20.',
              }),
            ),
            leftTotal: optional(int({ description: 'Number of objects left in place.' })),
            at: optional(
              time({ description: "Time at which the removal finished, by the hub's clock as known to the agent." }),
            ),
          }),
          { max: 500, description: 'Bundles that are being removed or were removed recently.' },
        ),
      ),
    },
    { description: 'Content of the report. Set by the gateway.' },
  ),
  columns: [
    { name: 'Revision', type: 'integer', jsonPath: '.spec.revision' },
    { name: 'Refusal', type: 'string', jsonPath: '.spec.refusal.reason' },
    { name: 'Received', type: 'date', jsonPath: '.spec.receivedAt' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'store-042' },
      spec: {
        clusterId: 'c-7h2k9q',
        epoch: 1,
        revision: 1,
        receivedAt: '2026-11-16T00:20:50Z',
        bundles: [
          {
            bundle: 'default/hello',
            generation: 1,
            set: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
            state: 'Ready',
          },
        ],
      },
    },
  ],
})
export type ClusterReport = ObjectOfKind<typeof ClusterReport>
