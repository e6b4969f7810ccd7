import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import {
  Conditions,
  digest,
  enumOf,
  int,
  listMap,
  listOf,
  mapOf,
  name,
  object,
  optional,
  text,
  time,
} from '../schema/schema-builders.ts'

/** Bundle revisions that move together. */
export const Release = defineKind({
  kind: 'Release',
  plural: 'releases',
  scope: 'Namespaced',
  shortNames: ['frel'],
  description: 'The bundle revisions that move together: one commit or one edit is one Release. It never changes.',
  spec: object(
    {
      bundles: listMap(
        ['name'],
        object({
          name: name({ description: 'A Bundle in this namespace.' }),
          generation: int({ description: "The Bundle's generation." }),
          set: digest({
            description: 'The complete set of its rendered objects; with variants, that of the first one.',
          }),
          placement: name({ description: 'The Placement it had.' }),
          revision: optional(text({ max: 512, description: 'The revision of the Source it was rendered from.' })),
          bytes: optional(
            int({ minimum: 0, description: 'How many bytes its largest content has, before anything is compressed.' }),
          ),
          variants: optional(
            listOf(
              object({
                when: mapOf(text({ max: 16_384 }), { max: 256, description: 'What the render read of a cluster.' }),
                absent: optional(listOf(text({ max: 512 }), { max: 256, description: 'What it looked for in vain.' })),
                set: optional(digest({ description: 'What such a cluster gets.' })),
                problem: optional(text({ max: 4096, description: 'Why such a cluster gets nothing new.' })),
                skip: optional(
                  text({ max: 128, description: 'The layer that says that such a cluster gets nothing.' }),
                ),
              }),
              {
                max: 5000,
                description: 'Distinct contents, where clusters differ: the first one that fits a cluster is its own.',
              },
            ),
          ),
        }),
        { max: 256, min: 1, description: 'What moves together.' },
      ),
      rollBack: optional(
        object(
          {
            of: name({ description: 'The Release whose content is taken back.' }),
            scope: enumOf(['All', 'Ring', 'Clusters']),
            by: text({ max: 253 }),
            reason: optional(text({ max: 4096 })),
          },
          { description: 'It takes an earlier Release back.' },
        ),
      ),
      missing: optional(
        listMap(['name'], object({ name: name(), problem: text({ max: 1024 }) }), {
          max: 256,
          description: 'Bundles of the same commit that could not be rendered, and so are not part of it.',
        }),
      ),
    },
    { immutable: true },
  ),
  status: object({
    conditions: Conditions,
    bad: optional(
      listMap(
        ['bundle'],
        object({
          bundle: name(),
          by: text({ max: 253 }),
          at: time(),
          reason: optional(text({ max: 4096 })),
          clusters: optional(listOf(name(), { max: 5000, description: 'On these clusters; on all without it.' })),
        }),
        { max: 256, description: 'Bundles whose content was taken back: it does not come again before it changes.' },
      ),
    ),
  }),
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.spec.bundles[0].name' },
    { name: 'Generation', type: 'integer', jsonPath: '.spec.bundles[0].generation' },
    AGE,
  ],
  examples: [
    {
      metadata: { name: 'hello-g1', namespace: 'default' },
      spec: {
        bundles: [
          {
            name: 'hello',
            generation: 1,
            set: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
            placement: 'stores',
          },
        ],
      },
    },
  ],
})
export type Release = ObjectOfKind<typeof Release>
