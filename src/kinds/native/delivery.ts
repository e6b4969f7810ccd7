// Tested by src/sim/fleet/delivery.sim.test.ts
import type { Digest } from '../../core/crypto/digest.ts'
import { BUNDLE_OPTIONS, DELETE_POLICIES } from '../fields/bundle-options.ts'
import { AGE, defineKind } from '../define-kind.ts'
import type { ObjectOfKind } from '../define-kind.ts'
import type { KubeObject } from '../meta.ts'
import {
  Conditions,
  digest,
  enumOf,
  int,
  listOf,
  mapOf,
  name,
  object,
  optional,
  setOf,
  time,
} from '../schema/schema-builders.ts'
import { REMOVAL_CAUSES } from './rollout.ts'

const {
  apply,
  delete: deletes,
  drift,
  ignore,
  executor,
  feedback,
  health,
  conditions,
  catchUp,
  namespaces,
} = BUNDLE_OPTIONS

/** The maximum number of clusters of a Delivery; a Bundle has no such limit. */
const MAX_CLUSTERS = 1000

export const Delivery = defineKind({
  kind: 'Delivery',
  plural: 'deliveries',
  scope: 'Namespaced',
  shortNames: ['fdl'],
  events: { warnWhenFalse: ['Admitted'] },
  description:
    'Set of objects for named clusters, without a Placement and without rings. Dialects create Deliveries for kinds that name their cluster, such as ManifestWork. Use a Bundle to select clusters, or to change them step by step.',
  spec: object(
    {
      set: digest({
        description: 'Digest of the set of objects. The set must be stored on the hub.',
      }),
      clusters: setOf(name(), {
        max: MAX_CLUSTERS,
        description:
          'Names of the clusters. A cluster that is removed from the list loses the objects by `options.delete.unplaced`.',
      }),
      variants: optional(
        listOf(
          object({
            set: digest({ description: 'Digest of the set of objects for these clusters.' }),
            clusters: setOf(name(), { max: MAX_CLUSTERS, description: 'Names of clusters of `spec.clusters`.' }),
          }),
          {
            max: MAX_CLUSTERS,
            description:
              'Clusters that receive another set than `spec.set`. A cluster whose set changes keeps its objects: it receives the new set in place of the old one.',
          },
        ),
      ),
      order: optional(
        int({
          minimum: -1_000_000,
          maximum: 1_000_000,
          description:
            'Order in which the agent starts what changed at the same time: lower numbers first. A Bundle has 0. Defaults to 0.',
        }),
      ),
      options: optional(
        object(
          { apply, delete: deletes, drift, ignore, executor, feedback, health, conditions, catchUp, namespaces },
          { description: 'Options for applying and deleting the objects. They replace the options of the set.' },
        ),
      ),
    },
    { description: 'Content and clusters of the Delivery.' },
  ),
  status: object(
    {
      observedGeneration: optional(int({ description: '`metadata.generation` that the status belongs to.' })),
      conditions: Conditions,
      revision: optional(
        object(
          {
            generation: int({ description: 'Generation of the content.' }),
            set: digest({ description: 'Digest of the set, with the options of the Delivery.' }),
            variants: optional(
              listOf(
                object({
                  set: digest({ description: 'Digest of the set, with the options of the Delivery.' }),
                  clusters: setOf(name(), { max: MAX_CLUSTERS, description: 'Names of the clusters.' }),
                }),
                {
                  max: MAX_CLUSTERS,
                  description: 'Clusters that receive another set. Absent without `spec.variants`.',
                },
              ),
            ),
          },
          { description: 'Content that the clusters receive.' },
        ),
      ),
      admissions: optional(
        listOf(
          object({
            cluster: name({ description: 'Name of the cluster.' }),
            generation: int({ description: 'Generation that the cluster was admitted for.' }),
            set: optional(
              digest({ description: 'Set that the cluster was admitted for. Absent without `spec.variants`.' }),
            ),
            admittedAt: time({ description: 'Time of the admission.' }),
            removal: optional(
              object(
                {
                  policy: enumOf(DELETE_POLICIES, { description: 'Policy for the objects.' }),
                  cause: enumOf(REMOVAL_CAUSES, {
                    description:
                      'Cause of the removal. `unplaced`: the cluster is no longer in `spec.clusters`. `bundleDeleted`: the Delivery was deleted.',
                  }),
                },
                { description: 'Removal from the cluster. Absent while the cluster should have the content.' },
              ),
            ),
          }),
          {
            max: 2 * MAX_CLUSTERS,
            description: 'Clusters whose documents have, or are about to get, the content or its removal.',
          },
        ),
      ),
      total: optional(int({ description: 'Number of clusters in `spec.clusters`, the sum of `counts`.' })),
      counts: optional(
        mapOf(int(), { description: 'Number of clusters by state. A state without clusters is absent.' }),
      ),
    },
    { description: 'Observed state of the Delivery. Set by the hub.' },
  ),
  columns: [
    { name: 'Clusters', type: 'integer', jsonPath: '.status.total' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
      description: 'Reason of the condition Ready, for example Delivered, Delivering or DeliveryFailed.',
    },
    AGE,
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
  ],
  examples: [
    {
      metadata: { name: 'hello', namespace: 'default' },
      spec: {
        set: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
        clusters: ['store-042'],
        options: { delete: { bundleDeleted: 'Orphan' } },
      },
    },
  ],
})
export type Delivery = ObjectOfKind<typeof Delivery>

/** What a cluster receives: the content of its admission, or of the whole Delivery. */
export function deliveredTo(
  { status }: Pick<Delivery, 'status'>,
  cluster: string,
): { readonly generation: number; readonly set: Digest } | undefined {
  const { revision, admissions = [] } = status ?? {}
  if (!revision) return undefined
  const own = revision.variants && admissions.find((one) => one.cluster === cluster && !one.removal)
  if (own?.set !== undefined) return { generation: own.generation, set: own.set }
  const variant = revision.variants?.find(({ clusters }) => clusters.includes(cluster))
  return { generation: revision.generation, set: variant?.set ?? revision.set }
}

const PREFIX = 'delivery:'

/** Name of the entry of a Delivery in documents and reports, beside the names of Bundles: `delivery:NAME`. */
export function deliveryEntryName(delivery: string): string {
  return `${PREFIX}${delivery}`
}

/** Id of the entry of a Delivery: `namespace/delivery:name`. */
export function deliveryEntryId({ metadata }: Pick<KubeObject, 'metadata'>): string {
  return `${metadata.namespace ?? ''}/${deliveryEntryName(metadata.name)}`
}

/** The key (`namespace/name`) of the Delivery of an entry; undefined for the entry of a Bundle. */
export function deliveryKeyOf(entry: string): string | undefined {
  const slash = entry.indexOf('/')
  const rest = entry.slice(slash + 1)
  return rest.startsWith(PREFIX) ? `${entry.slice(0, slash)}/${rest.slice(PREFIX.length)}` : undefined
}

/** The name of the Delivery of an entry's name without namespace; undefined for a Bundle. */
export function deliveryNameOf(entryName: string): string | undefined {
  return entryName.startsWith(PREFIX) ? entryName.slice(PREFIX.length) : undefined
}
