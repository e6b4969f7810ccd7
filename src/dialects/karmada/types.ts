// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** The objects of Karmada as its API has them: the fields that decisions read, with the schemas that check them. */
import type { Static } from 'typebox'
import { int, intOrString, listOf, mapOf, object, optional, text, time } from '../../kinds/schema/schema-builders.ts'

// Karmada's CRDs limit neither texts nor lists; a request is limited as a whole.
const LONG = { max: 65_536 }
const MANY = { max: 100_000 }
const words = () => text(LONG)
const number = () => int({ minimum: -2_147_483_648, maximum: 2_147_483_647 })
const list = <T extends Parameters<typeof listOf>[0]>(items: T) => listOf(items, MANY)
const Labels = mapOf(words(), MANY)
const Resources = mapOf(intOrString(), MANY)
const Requirements = list(object({ key: words(), operator: words(), values: optional(list(words())) }))

const Metadata = object({
  name: words(),
  namespace: optional(words()),
  labels: optional(Labels),
  annotations: optional(mapOf(text({ max: 1_048_576 }), MANY)),
  deletionTimestamp: optional(time()),
})

export const TaintSchema = object({
  key: words(),
  value: optional(words()),
  effect: words(),
  timeAdded: optional(time()),
})
const Model = object({
  grade: optional(number()),
  ranges: optional(list(object({ name: words(), min: intOrString() }))),
})
const Summary = object({
  allocatable: optional(Resources),
  allocated: optional(Resources),
  allocating: optional(Resources),
  allocatableModelings: optional(list(object({ grade: optional(number()), count: optional(number()) }))),
})
const Enablement = object({
  groupVersion: words(),
  resources: optional(list(object({ kind: words() }))),
})

/** `cluster.karmada.io/v1alpha1 Cluster`. */
export const KarmadaClusterSchema = object({
  metadata: Metadata,
  spec: optional(
    object({
      provider: optional(words()),
      region: optional(words()),
      zones: optional(list(words())),
      taints: optional(list(TaintSchema)),
      resourceModels: optional(list(Model)),
    }),
  ),
  status: optional(
    object({
      apiEnablements: optional(list(Enablement)),
      conditions: optional(list(object({ type: words(), status: words() }))),
      resourceSummary: optional(Summary),
    }),
  ),
})

const AFFINITY = {
  labelSelector: optional(object({ matchLabels: optional(Labels), matchExpressions: optional(Requirements) })),
  fieldSelector: optional(object({ matchExpressions: optional(Requirements) })),
  clusterNames: optional(list(words())),
  exclude: optional(list(words())),
}
export const AffinitySchema = object(AFFINITY)
const OverflowTerm = object({ affinityName: optional(words()), ...AFFINITY })
const Term = object({ affinityName: words(), ...AFFINITY, overflowAffinities: optional(list(OverflowTerm)) })
const Toleration = object({
  key: optional(words()),
  operator: optional(words()),
  value: optional(words()),
  effect: optional(words()),
  tolerationSeconds: optional(int({ minimum: Number.MIN_SAFE_INTEGER })),
})
const Spread = object({
  spreadByField: optional(words()),
  spreadByLabel: optional(words()),
  minGroups: optional(number()),
  maxGroups: optional(number()),
})
const Scheduling = object({
  replicaSchedulingType: optional(words()),
  replicaDivisionPreference: optional(words()),
  weightPreference: optional(
    object({
      staticWeightList: optional(list(object({ targetCluster: optional(AffinitySchema), weight: optional(int()) }))),
      dynamicWeight: optional(words()),
    }),
  ),
})
export const PlacementSchema = object({
  clusterAffinity: optional(AffinitySchema),
  clusterAffinities: optional(list(Term)),
  clusterTolerations: optional(list(Toleration)),
  spreadConstraints: optional(list(Spread)),
  replicaScheduling: optional(Scheduling),
})
export const ReplicaRequestSchema = object({ resourceRequest: optional(Resources) })
export const TargetSchema = object({
  name: words(),
  replicas: optional(number()),
  components: optional(list(object({ name: words(), replicas: optional(number()) }))),
})

/** `work.karmada.io/v1alpha2 ResourceBinding` or `ClusterResourceBinding`. */
export const KarmadaBindingSchema = object({
  metadata: Metadata,
  spec: object({
    resource: object({
      apiVersion: words(),
      kind: words(),
      namespace: optional(words()),
      name: words(),
      uid: optional(words()),
    }),
    placement: optional(PlacementSchema),
    replicas: optional(number()),
    replicaRequirements: optional(ReplicaRequestSchema),
    components: optional(
      list(
        object({ name: words(), replicas: optional(number()), replicaRequirements: optional(ReplicaRequestSchema) }),
      ),
    ),
    clusters: optional(list(TargetSchema)),
    gracefulEvictionTasks: optional(list(object({ fromCluster: words() }))),
    rescheduleTriggeredAt: optional(time()),
    workloadAffinityGroups: optional(
      object({ affinityGroup: optional(words()), antiAffinityGroup: optional(words()) }),
    ),
  }),
  status: optional(object({ schedulerObservingAffinityName: optional(words()), lastScheduledTime: optional(time()) })),
})

export type KarmadaCluster = Static<typeof KarmadaClusterSchema>
export type KarmadaBinding = Static<typeof KarmadaBindingSchema>
/** The `placement` of a policy and of a binding. */
export type KarmadaPlacement = Static<typeof PlacementSchema>
/** A selection of clusters; what is left out selects all. */
export type ClusterAffinity = Static<typeof AffinitySchema>
/** A requirement on a label, or on a field of the cluster: provider, region or zone. */
export type FieldRequirement = Static<typeof Requirements>[number]
export type ClusterToleration = Static<typeof Toleration>
/** How many groups of clusters a workload is spread over. */
export type SpreadConstraint = Static<typeof Spread>
/** A target of a binding. */
export type TargetCluster = Static<typeof TargetSchema>
export type KarmadaTaint = Static<typeof TaintSchema>
/** What a replica requests. */
export type ReplicaRequirements = Static<typeof ReplicaRequestSchema>
/** A size of nodes: each resource from `min` up. */
export type ResourceModel = Static<typeof Model>
/** Amounts of resources by name, as Kubernetes quantities. */
export type ResourceList = Readonly<Record<string, string | number>>
