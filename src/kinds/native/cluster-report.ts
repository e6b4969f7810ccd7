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
    "What a cluster's agent last reported. Its name is the cluster's; gateways write it, on transitions only.",
  spec: object({
    clusterId: text({ max: 64, min: 1, description: 'The id the hub issued to the cluster.' }),
    epoch: int({ description: 'The epoch of the document the agent observed.' }),
    revision: int({ description: 'The revision of the document the agent observed.' }),
    document: optional(digest({ description: 'The signed envelope of that document.' })),
    refusal: optional(
      object(
        {
          reason: text({ max: 64, min: 1, description: 'One word for programs, such as `MissingFeature`.' }),
          message: text({ max: 4096, description: "The agent's own words." }),
          epoch: optional(int()),
          revision: optional(int()),
          document: optional(digest({ description: 'The document that was refused, as far as it could be read.' })),
        },
        { description: 'Why the agent does not follow the newest document; absent while it does.' },
      ),
    ),
    traffic: optional(
      object(
        {
          downBytes: int({ description: 'To the cluster.' }),
          upBytes: int({ description: 'From the cluster.' }),
        },
        {
          description:
            'Bytes of requests and answers since the cluster joined, as of this report; written with it, never for its own sake.',
        },
      ),
    ),
    incarnation: optional(
      int({
        minimum: 2,
        description: 'Which life of the cluster this is; present once it was restored from a backup.',
      }),
    ),
    receivedAt: time({ description: 'When the gateway received it.' }),
    log: optional(
      object(
        {
          asked: time({ description: '`spec.logsAskedAt` of the Cluster that this answers.' }),
          lines: listOf(text({ max: 400 }), { max: 100, description: 'The newest, oldest first.' }),
        },
        { description: "Lines of the agent's own log; only after somebody asked for them." },
      ),
    ),
    bundles: listMap(
      ['bundle'],
      object({
        bundle: namespacedName({ description: '`namespace/name` of the Bundle.' }),
        generation: int(),
        set: digest(),
        state: enumOf(BUNDLE_STATES),
        attempt: optional(int({ description: 'Which of the tries that somebody asked for this is about.' })),
        message: optional(text({ max: 4096, description: "The cluster's own words." })),
        firstFailing: optional(text({ max: 1024, description: 'The first object that is not well.' })),
        drift: optional(
          listOf(
            object({
              object: text({ max: 1024, description: 'Kind, namespace and name.' }),
              fields: listOf(text({ max: 1024 }), { max: 20, description: 'Which fields, each with who has it now.' }),
              since: text({ max: 40, description: 'When the agent saw it first.' }),
            }),
            { max: 20, description: 'Objects that somebody changed and that are not changed back; the first 20.' },
          ),
        ),
        feedback: optional(
          listOf(
            object({
              object: text({ max: 1024, description: 'Kind, namespace and name.' }),
              name: text({ max: 64, description: 'As the Bundle calls it.' }),
              value: text({ max: 1024, description: 'The value as text.' }),
            }),
            { max: 20, description: "Values of live objects that the Bundle's `feedback` asks for; the first 20." },
          ),
        ),
      }),
      { max: 500, default: [], description: 'One row per bundle the cluster runs.' },
    ),
    removals: optional(
      listMap(
        ['bundle'],
        object({
          bundle: namespacedName({ description: '`namespace/name` of the Bundle.' }),
          generation: int({ description: 'The generation of the tombstone.' }),
          state: enumOf(REMOVAL_STATES, {
            description: 'Removed and Orphaned are receipts: the cluster has nothing recorded of the Bundle any more.',
          }),
          message: optional(text({ max: 4096, description: 'What it waits for, in the words of the cluster.' })),
          deleted: optional(int({ description: 'How many objects were deleted.' })),
          left: optional(
            listOf(text({ max: 2100 }), {
              max: 20,
              description: 'Objects left in place, each with why; the first 20.',
            }),
          ),
          leftTotal: optional(int({ description: 'How many were left in place.' })),
          at: optional(
            time({ description: 'When it was done, by the clock of the hub as far as the agent knows it.' }),
          ),
        }),
        { max: 500, description: 'Bundles that are being removed, and the last ones that were.' },
      ),
    ),
  }),
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
