import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { CATCH_UP, DELETE_POLICIES } from '../fields/bundle-options.ts'
import { REMOVAL_CAUSES } from './rollout.ts'
import {
  digest,
  enumOf,
  flag,
  int,
  listMap,
  namespacedName,
  object,
  optional,
  text,
  time,
} from '../schema/schema-builders.ts'

/** The head of a cluster's signed document. */
export const Assignment = defineKind({
  kind: 'Assignment',
  plural: 'assignments',
  scope: 'Cluster',
  shortNames: ['fas'],
  description: "The one document a cluster's agent follows. Its name is the cluster's; only the hub writes it.",
  spec: object({
    clusterId: text({ max: 64, min: 1, description: 'The id the hub issued to the cluster.' }),
    epoch: int({ description: 'Rises only when the root key begins a new timeline.' }),
    revision: int({ minimum: 1, description: 'Rises by one with every document of the epoch.' }),
    document: digest({ description: 'The signed envelope.' }),
    trustVersion: optional(int({ description: 'The version of the trust bundle it was signed under.' })),
    rules: optional(digest({ description: 'The rules part: windows, freezes, holds and limits.' })),
    previous: optional(digest({ description: 'The signed envelope before it.' })),
    terminal: optional(flag({ description: 'It is the last one: the cluster left the fleet.' })),
    entries: listMap(
      ['bundle'],
      object({
        bundle: namespacedName({ description: '`namespace/name` of the Bundle.' }),
        generation: int(),
        set: digest(),
        rollout: namespacedName({ description: '`namespace/name` of the Rollout that admitted it.' }),
        sealed: optional(
          object(
            {
              values: digest({ description: 'The blob; it opens with the key of this cluster alone.' }),
              key: digest({ description: 'The public key they are sealed to.' }),
            },
            { description: 'Its secret values.' },
          ),
        ),
        before: optional(
          object(
            { generation: int(), set: digest() },
            { description: 'The last revision before it that was well here.' },
          ),
        ),
        attempt: optional(int({ description: 'How often somebody asked to try it again.' })),
        startBy: optional(time({ description: 'Not begun by then, the agent waits to be admitted again.' })),
        admittedAt: optional(time({ description: 'When it was admitted.' })),
        catchUp: optional(enumOf(CATCH_UP, { description: 'What it does if it was away: see Bundle.' })),
      }),
      { max: 500, default: [], description: 'What the document says should run.' },
    ),
    tombstones: optional(
      listMap(
        ['bundle'],
        object({
          bundle: namespacedName({ description: '`namespace/name` of the Bundle.' }),
          generation: int({ description: 'What goes: this generation and every one before it.' }),
          policy: enumOf(DELETE_POLICIES),
          cause: optional(enumOf(REMOVAL_CAUSES)),
          rollout: optional(
            namespacedName({ description: '`namespace/name` of the Rollout that admitted the removal.' }),
          ),
          since: int({ description: 'The revision that brought it; only a report of this one or later can end it.' }),
        }),
        { max: 500, description: 'What the document says must go; each stays until the cluster has confirmed it.' },
      ),
    ),
  }),
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
