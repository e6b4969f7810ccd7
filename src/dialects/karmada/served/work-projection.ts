// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Works of Karmada: the Delivery of a binding on a cluster, computed for each request and never stored. */
import { compact } from '../../../core/compact.ts'
import { kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { deliveredTo, deliveryEntryId } from '../../../kinds/native/delivery.ts'
import type { Delivery } from '../../../kinds/native/delivery.ts'
import { Conditions, listOf, object, optional, rawObject } from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { scopesOfDottedName } from '../../projection.ts'
import type { BundleStateRow, DeliveryProjection } from '../../projection.ts'
import { CLUSTER_NAMESPACE, DELIVERY_LABEL } from './delivery-label.ts'
import { ClusterResourceBinding, ResourceBinding } from './kinds.ts'

const SPACE = 'karmada-es-'

/** Karmada's Work, in the namespace `karmada-es-CLUSTER`. */
export const KarmadaWork: Kind = kindOf({
  group: 'work.karmada.io',
  version: 'v1alpha1',
  kind: 'Work',
  plural: 'works',
  scope: 'Namespaced',
  categories: ['karmada-io'],
  description:
    'State of an object of the hub on a cluster, in the namespace karmada-es-CLUSTER. A Work is computed on request and read-only, and has no manifests.',
  verbs: ['get', 'list', 'watch'],
  fields: {
    status: toStructural(
      object({ conditions: Conditions, manifestStatuses: optional(listOf(rawObject(), { max: 1000 })) }),
    ),
  },
  columns: [
    { name: 'Workload-Kind', type: 'string', jsonPath: '.status.manifestStatuses[*].identifier.kind' },
    { name: 'Workload-Name', type: 'string', jsonPath: '.status.manifestStatuses[*].identifier.name' },
    { name: 'Applied', type: 'string', jsonPath: '.status.conditions[?(@.type=="Applied")].status' },
  ],
})

interface Facts {
  readonly delivery: Delivery
  readonly report?: ClusterReport
}

/** The Work of a row; undefined where the Delivery does not name the cluster. */
function workOf({ cluster, generation }: BundleStateRow, { delivery, report }: Facts): UnknownObject | undefined {
  if (!delivery.spec.clusters.includes(cluster)) return undefined
  const { namespace = '', name, creationTimestamp } = delivery.metadata
  const entry = deliveryEntryId(delivery)
  const row = report?.spec.bundles.find(({ bundle }) => bundle === entry)
  const feedback = report?.spec.feedback?.find(({ bundle }) => bundle === entry)
  const objects = feedback?.objects ?? []
  const isCurrent =
    row !== undefined && row.set === deliveredTo(delivery, cluster)?.set && feedback?.generation === row.generation
  const failed = objects.find(({ applied }) => applied === false)?.message ?? (row?.state === 'Failed' ? row.message : undefined) // prettier-ignore
  const applied =
    failed === undefined && isCurrent && objects.length > 0 && objects.every((one) => one.applied === true)
  const condition = applied
    ? { status: 'True', reason: 'AppliedSuccessful', message: 'Manifest has been successfully applied' }
    : failed === undefined
      ? undefined
      : { status: 'False', reason: 'AppliedFailed', message: failed }
  return {
    apiVersion: apiVersionOf(KarmadaWork),
    kind: KarmadaWork.kind,
    metadata: compact({ name: `${namespace}.${name}`, namespace: `${SPACE}${cluster}`, creationTimestamp, generation }),
    status: compact({
      conditions: condition && [
        { type: 'Applied', ...condition, lastTransitionTime: report?.spec.receivedAt ?? creationTimestamp ?? '' },
      ],
      manifestStatuses: objects.map(({ apiVersion, kind, namespace: within, name: of, values = [] }, ordinal) => {
        const slash = apiVersion.indexOf('/')
        return {
          identifier: compact({
            ordinal,
            group: slash < 0 ? '' : apiVersion.slice(0, slash),
            version: apiVersion.slice(slash + 1),
            kind,
            namespace: within,
            name: of,
          }),
          status: Object.fromEntries(
            values.map((one) => [one.name, one.type === 'Integer' ? Number(one.value) : one.value]),
          ),
          health: row?.state === 'Ready' && isCurrent ? 'Healthy' : 'Unhealthy',
        }
      }),
    }),
  }
}

/** The Works of all bindings. */
export const KARMADA_WORKS: DeliveryProjection = {
  of: 'Delivery',
  kind: KarmadaWork,
  includes: ({ metadata }) => metadata.labels?.[DELIVERY_LABEL] !== undefined,
  objectOf: workOf,
  within: (namespace) => ({ cluster: clusterOf(namespace) }),
  // The first part of `NAMESPACE.DELIVERY` is a namespace, which has no dots.
  named: (namespace, name) =>
    scopesOfDottedName('', name)
      .slice(0, 1)
      .map(({ bundle = '', cluster: rest = '' }) => ({
        cluster: clusterOf(namespace),
        namespace: bundle,
        bundle: `delivery:${rest}`,
      })),
  makerOf({ metadata }) {
    const isCluster = metadata.namespace === CLUSTER_NAMESPACE
    const { kind, group, version } = isCluster ? ClusterResourceBinding : ResourceBinding
    const { name, namespace = '' } = metadata
    return { apiVersion: `${group}/${version}`, kind, metadata: isCluster ? { name } : { name, namespace } }
  },
}

/** The cluster of a namespace of Works; a name that no cluster has for other namespaces. */
function clusterOf(namespace: string): string {
  return namespace.startsWith(SPACE) ? namespace.slice(SPACE.length) : '-'
}
