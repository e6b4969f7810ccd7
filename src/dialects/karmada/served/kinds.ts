// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Karmada's kinds that the hub serves, with the fields that its users write and read. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../../kinds/define-kind.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  flag,
  int,
  labelSelector,
  listOf,
  mapOf,
  object,
  optional,
  rawObject,
  text,
  time,
  withKeywords,
} from '../../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../../kinds/schema/structural.ts'
import { WorkloadRebalancer } from '../rebalance/kinds.ts'
import { REFUSED_KINDS } from '../refused-kinds.ts'
import { ClusterTaintPolicy } from '../taints/kinds.ts'
import { AffinitySchema, PlacementSchema, ReplicaRequestSchema, TaintSchema, TargetSchema } from '../types.ts'

const KARMADA_POLICY_GROUP = 'policy.karmada.io'
const KARMADA_WORK_GROUP = 'work.karmada.io'
const KARMADA_CLUSTER_GROUP = 'cluster.karmada.io'

// Karmada's CRDs limit neither texts nor lists; a request is limited as a whole.
const words = () => text({ max: 65_536 })
const MANY = { max: 10_000 }
const KEPT = { 'x-kubernetes-preserve-unknown-fields': true } as const

const ResourceSelector = object({
  apiVersion: words(),
  kind: words(),
  namespace: optional(words()),
  name: optional(words()),
  labelSelector: optional(labelSelector()),
})

const Suspension = object({
  dispatching: optional(flag()),
  dispatchingOnClusters: optional(object({ clusterNames: optional(listOf(words(), MANY)) })),
})

const StatePreservation = object({
  rules: optional(listOf(object({ aliasLabelName: words(), jsonPath: words() }), MANY)),
})

const Failover = object({
  application: optional(
    object({
      decisionConditions: optional(object({ tolerationSeconds: optional(int()) })),
      purgeMode: optional(enumOf(['Directly', 'Gracefully', 'Never'])),
      gracePeriodSeconds: optional(int()),
      statePreservation: optional(StatePreservation),
    }),
  ),
  cluster: optional(
    object({
      purgeMode: optional(enumOf(['Directly', 'Gracefully'])),
      statePreservation: optional(StatePreservation),
    }),
  ),
})

const PropagationSpec = withKeywords(
  object({
    resourceSelectors: listOf(ResourceSelector, { ...MANY, min: 1 }),
    association: optional(flag()),
    propagateDeps: optional(flag()),
    placement: optional(withKeywords(PlacementSchema, KEPT)),
    priority: optional(int({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
    preemption: optional(enumOf(['Always', 'Never'])),
    dependentOverrides: optional(listOf(words(), MANY)),
    schedulerName: optional(words()),
    failover: optional(Failover),
    conflictResolution: optional(enumOf(['Abort', 'Overwrite'])),
    activationPreference: optional(enumOf(['Lazy'])),
    suspension: optional(Suspension),
    preserveResourcesOnDeletion: optional(flag()),
  }),
  KEPT,
)

const Rule = object({
  targetCluster: optional(AffinitySchema),
  overriders: optional(rawObject()),
})

const OverrideSpec = withKeywords(
  object({
    resourceSelectors: optional(listOf(ResourceSelector, MANY)),
    overrideRules: optional(listOf(Rule, MANY)),
    targetCluster: optional(AffinitySchema),
    overriders: optional(rawObject()),
  }),
  KEPT,
)

const PolicyStatus = object({
  conditions: Conditions,
  /** What was valid last: it stays in force while a later edit is not valid. */
  lastValid: optional(object({ generation: int(), failBackAfter: optional(words()), spec: rawObject() })),
})

/** PropagationPolicy or ClusterPropagationPolicy. */
export interface ServedPropagation extends KubeObject {
  spec: Static<typeof PropagationSpec>
  status?: Static<typeof PolicyStatus>
}

/** OverridePolicy or ClusterOverridePolicy. */
export interface ServedOverride extends KubeObject {
  spec: Static<typeof OverrideSpec>
  status?: Static<typeof PolicyStatus>
}

const ACCEPTED = {
  name: 'Accepted',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Accepted")].status',
} as const

const POLICY = {
  group: KARMADA_POLICY_GROUP,
  version: 'v1alpha1',
  categories: ['karmada-io'],
  subresources: { status: true },
  events: { warnWhenFalse: ['Accepted'] },
  required: ['spec'],
}
const PROPAGATION_COLUMNS = [
  ACCEPTED,
  { name: 'Conflict-Resolution', type: 'string', jsonPath: '.spec.conflictResolution' },
  { name: 'Priority', type: 'string', jsonPath: '.spec.priority' },
  AGE,
] as const
const propagationFields = { spec: toStructural(PropagationSpec), status: toStructural(PolicyStatus) }
const overrideFields = { spec: toStructural(OverrideSpec), status: toStructural(PolicyStatus) }

export const PropagationPolicy: Kind<ServedPropagation> = kindOf<ServedPropagation>({
  ...POLICY,
  kind: 'PropagationPolicy',
  plural: 'propagationpolicies',
  scope: 'Namespaced',
  shortNames: ['pp'],
  description: 'Rule that says on which clusters objects of the namespace run; as in Karmada.',
  fields: propagationFields,
  columns: PROPAGATION_COLUMNS,
})

export const ClusterPropagationPolicy: Kind<ServedPropagation> = kindOf<ServedPropagation>({
  ...POLICY,
  kind: 'ClusterPropagationPolicy',
  plural: 'clusterpropagationpolicies',
  scope: 'Cluster',
  shortNames: ['cpp'],
  description: 'Rule that says on which clusters objects of any namespace, or of none, run; as in Karmada.',
  fields: propagationFields,
  columns: PROPAGATION_COLUMNS,
})

export const OverridePolicy: Kind<ServedOverride> = kindOf<ServedOverride>({
  ...POLICY,
  kind: 'OverridePolicy',
  plural: 'overridepolicies',
  scope: 'Namespaced',
  shortNames: ['op'],
  description: 'Changes that objects of the namespace have on some clusters; as in Karmada.',
  fields: overrideFields,
  columns: [ACCEPTED, AGE],
})

export const ClusterOverridePolicy: Kind<ServedOverride> = kindOf<ServedOverride>({
  ...POLICY,
  kind: 'ClusterOverridePolicy',
  plural: 'clusteroverridepolicies',
  scope: 'Cluster',
  shortNames: ['cop'],
  description: 'Changes that objects of any namespace, or of none, have on some clusters; as in Karmada.',
  fields: overrideFields,
  columns: [ACCEPTED, AGE],
})

const ResourceReference = object({
  apiVersion: words(),
  kind: words(),
  namespace: optional(words()),
  name: words(),
  uid: optional(words()),
})

const EvictionTask = object({
  fromCluster: words(),
  purgeMode: optional(words()),
  replicas: optional(int()),
  reason: optional(words()),
  message: optional(words()),
  producer: optional(words()),
  gracePeriodSeconds: optional(int()),
  suppressDeletion: optional(flag()),
  creationTimestamp: optional(time()),
})

const BindingSpec = object({
  resource: ResourceReference,
  replicas: optional(int()),
  replicaRequirements: optional(ReplicaRequestSchema),
  placement: optional(PlacementSchema),
  clusters: optional(listOf(TargetSchema, MANY)),
  gracefulEvictionTasks: optional(listOf(EvictionTask, MANY)),
  requiredBy: optional(
    listOf(
      object({ namespace: optional(words()), name: words(), clusters: optional(listOf(TargetSchema, MANY)) }),
      MANY,
    ),
  ),
  propagateDeps: optional(flag()),
  failover: optional(Failover),
  conflictResolution: optional(enumOf(['Abort', 'Overwrite'])),
  rescheduleTriggeredAt: optional(time()),
  suspension: optional(Suspension),
  preserveResourcesOnDeletion: optional(flag()),
  schedulerName: optional(words()),
})

const BindingStatus = object({
  schedulerObservedGeneration: optional(int()),
  schedulerObservingAffinityName: optional(words()),
  lastScheduledTime: optional(time()),
  conditions: Conditions,
  aggregatedStatus: optional(
    listOf(
      object({
        clusterName: words(),
        applied: optional(flag()),
        appliedMessage: optional(words()),
        health: optional(enumOf(['Healthy', 'Unhealthy', 'Unknown'])),
        status: optional(rawObject()),
      }),
      MANY,
    ),
  ),
})

/** ResourceBinding or ClusterResourceBinding: the decision about a template. */
export interface ServedBinding extends KubeObject {
  spec: Static<typeof BindingSpec>
  status?: Static<typeof BindingStatus>
}

/** The status of a template on a cluster. */
export type AggregatedItem = NonNullable<NonNullable<ServedBinding['status']>['aggregatedStatus']>[number]

const condition = (type: string) => `.status.conditions[?(@.type=="${type}")].status`
const BINDING = {
  group: KARMADA_WORK_GROUP,
  version: 'v1alpha2',
  categories: ['karmada-io'],
  subresources: { status: true },
  events: { warnWhenFalse: ['Scheduled', 'FullyApplied', 'Admitted'] },
  required: ['spec'],
  fields: { spec: toStructural(BindingSpec), status: toStructural(BindingStatus) },
  columns: [
    { name: 'Scheduled', type: 'string', jsonPath: condition('Scheduled') },
    { name: 'FullyApplied', type: 'string', jsonPath: condition('FullyApplied') },
    AGE,
  ],
} as const

export const ResourceBinding: Kind<ServedBinding> = kindOf<ServedBinding>({
  ...BINDING,
  kind: 'ResourceBinding',
  plural: 'resourcebindings',
  scope: 'Namespaced',
  shortNames: ['rb'],
  description: 'Decision of the hub on which clusters an object of the namespace runs; as in Karmada.',
})

export const ClusterResourceBinding: Kind<ServedBinding> = kindOf<ServedBinding>({
  ...BINDING,
  kind: 'ClusterResourceBinding',
  plural: 'clusterresourcebindings',
  scope: 'Cluster',
  shortNames: ['crb'],
  description: 'Decision of the hub on which clusters an object without a namespace runs; as in Karmada.',
})

const ClusterSpec = object({
  id: optional(words()),
  syncMode: enumOf(['Push', 'Pull']),
  provider: optional(words()),
  region: optional(words()),
  zones: optional(listOf(words(), MANY)),
  taints: optional(listOf(TaintSchema, MANY)),
})
const Amounts = () => mapOf(words(), MANY)
const ClusterStatus = object({
  kubernetesVersion: optional(words()),
  /** Free resources, in steps of a tenth, while a placement divides replicas by them. */
  resourceSummary: optional(object({ allocatable: optional(Amounts()), allocated: optional(Amounts()) })),
  conditions: Conditions,
})

/** A cluster as Karmada's users see it. */
export interface KarmadaClusterFace extends KubeObject {
  spec: Static<typeof ClusterSpec>
  status?: Static<typeof ClusterStatus>
}

export const KarmadaClusterFace: Kind<KarmadaClusterFace> = kindOf<KarmadaClusterFace>({
  group: KARMADA_CLUSTER_GROUP,
  version: 'v1alpha1',
  kind: 'Cluster',
  plural: 'clusters',
  scope: 'Cluster',
  categories: ['karmada-io'],
  description: 'Cluster of the fleet in the words of Karmada. The hub writes it from the Cluster of the same name.',
  subresources: { status: true },
  required: ['spec'],
  fields: { spec: toStructural(ClusterSpec), status: toStructural(ClusterStatus) },
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.status.kubernetesVersion' },
    { name: 'Mode', type: 'string', jsonPath: '.spec.syncMode' },
    { name: 'Ready', type: 'string', jsonPath: condition('Ready') },
    AGE,
  ],
})

/** The kinds that the hub serves. */
export const KARMADA_KINDS: readonly Kind[] = [
  PropagationPolicy,
  ClusterPropagationPolicy,
  OverridePolicy,
  ClusterOverridePolicy,
  ResourceBinding,
  ClusterResourceBinding,
  KarmadaClusterFace,
  WorkloadRebalancer,
  ClusterTaintPolicy,
  ...REFUSED_KINDS,
]
