import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import { origin } from '../fields/origin.ts'
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

export const Release = defineKind({
  kind: 'Release',
  plural: 'releases',
  scope: 'Namespaced',
  shortNames: ['frel'],
  description:
    'List of Bundle revisions that are rolled out together. Each commit or edit that changes content creates one Release. A Release is immutable.',
  spec: object(
    {
      bundles: listMap(
        ['name'],
        object({
          name: name({ description: 'Name of a Bundle in this namespace.' }),
          generation: int({ description: "Generation of the Bundle's content." }),
          set: digest({
            description:
              'Digest of the set of rendered objects. If the Bundle has `variants`, the set of the first variant.',
          }),
          placement: name({ description: 'Name of the Placement of the Bundle at the time of the Release.' }),
          revision: optional(
            text({ max: 512, description: 'Revision of the Source that the content was rendered from.' }),
          ),
          origin: origin(),
          bytes: optional(
            int({ minimum: 0, description: 'Size of the largest set of the Bundle in bytes, uncompressed.' }),
          ),
          variants: optional(
            listOf(
              object({
                when: mapOf(text({ max: 16_384 }), {
                  max: 256,
                  description:
                    'Inputs of the cluster that the rendering read, with their values. A cluster matches if all are equal.',
                }),
                absent: optional(
                  listOf(text({ max: 512 }), {
                    max: 256,
                    description: 'Inputs that the rendering looked up and that the cluster does not have.',
                  }),
                ),
                set: optional(digest({ description: 'Digest of the set for matching clusters.' })),
                problem: optional(
                  text({
                    max: 4096,
                    description: 'Error of the rendering. Matching clusters keep their current content.',
                  }),
                ),
                skip: optional(
                  text({ max: 128, description: 'Name of the variant or Override that excludes matching clusters.' }),
                ),
              }),
              {
                max: 5000,
                description:
                  'Distinct contents for clusters with different inputs. The first entry that matches a cluster applies.',
              },
            ),
          ),
        }),
        { max: 256, min: 1, description: 'Bundle revisions that are rolled out together.' },
      ),
      rollBack: optional(
        object(
          {
            of: name({ description: 'Name of the Release that is rolled back.' }),
            scope: enumOf(['All', 'Ring', 'Clusters'], {
              description: 'Extent of the rollback: all clusters, one ring, or selected clusters.',
            }),
            by: text({ max: 253, description: 'User or controller that requested the rollback.' }),
            reason: optional(text({ max: 4096, description: 'Reason of the rollback.' })),
          },
          { description: 'Rollback that this Release performs. Absent for a regular Release.' },
        ),
      ),
      missing: optional(
        listMap(
          ['name'],
          object({
            name: name({ description: 'Name of the Bundle.' }),
            problem: text({ max: 1024, description: 'Error of the rendering.' }),
          }),
          {
            max: 256,
            description: 'Bundles of the same commit that could not be rendered and are not part of the Release.',
          },
        ),
      ),
    },
    { immutable: true, description: 'Content of the Release. Immutable. Set by the hub.' },
  ),
  status: object(
    {
      conditions: Conditions,
      bad: optional(
        listMap(
          ['bundle'],
          object({
            bundle: name({ description: 'Name of the Bundle.' }),
            by: text({ max: 253, description: 'User or controller that rolled back the content.' }),
            at: time({ description: 'Time of the rollback.' }),
            reason: optional(text({ max: 4096, description: 'Reason of the rollback.' })),
            clusters: optional(
              listOf(name(), {
                max: 5000,
                description:
                  'Names of the clusters on which the content is marked bad. If omitted, the mark applies to all clusters.',
              }),
            ),
          }),
          {
            max: 256,
            description:
              'Bundles whose content was rolled back. The hub does not roll out this content again until it changes or the mark is lifted.',
          },
        ),
      ),
    },
    { description: 'Observed state of the Release. Set by the hub.' },
  ),
  columns: [
    { name: 'Bundle', type: 'string', jsonPath: '.spec.bundles[0].name' },
    { name: 'Generation', type: 'integer', jsonPath: '.spec.bundles[0].generation' },
    { name: 'Revision', type: 'string', jsonPath: '.spec.bundles[0].revision' },
    { name: 'Author', type: 'string', jsonPath: '.spec.bundles[0].origin.author', priority: 1 },
    { name: 'Subject', type: 'string', jsonPath: '.spec.bundles[0].origin.subject', priority: 1 },
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
