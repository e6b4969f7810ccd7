// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/** Open Cluster Management's cluster kinds, with the fields and defaults of its CRDs. */
import type { Static } from 'typebox'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Column, Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import {
  Conditions,
  enumOf,
  flag,
  int,
  intOrString,
  listOf,
  mapOf,
  object,
  optional,
  rawObject,
  text,
  time,
} from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'

/** The API group of Open Cluster Management's clusters. */
export const OCM_CLUSTER_GROUP = 'cluster.open-cluster-management.io'

/** The label that puts a cluster into a set of the type ExclusiveClusterSetLabel. */
export const CLUSTER_SET_LABEL = `${OCM_CLUSTER_GROUP}/clusterset`

// Open Cluster Management's CRDs limit neither texts nor lists; a request is limited as a whole.
const LONG = { max: 65_536 }
const MANY = { max: 100_000 }
const words = () => text(LONG)

const Requirements = listOf(object({ key: words(), operator: words(), values: optional(listOf(words(), MANY)) }), MANY)
const Selector = object({ matchLabels: optional(mapOf(words(), MANY)), matchExpressions: optional(Requirements) })
const ClaimSelector = object({ matchExpressions: optional(Requirements) })

const ManagedClusterSpec = object({
  hubAcceptsClient: flag({ default: false }),
  leaseDurationSeconds: int({ default: 60 }),
  managedClusterClientConfigs: optional(
    listOf(object({ url: words(), caBundle: optional(text({ max: 1_048_576 })) }), MANY),
  ),
  taints: optional(
    listOf(
      object({
        key: text({ max: 316, min: 1 }),
        value: optional(text({ max: 1024 })),
        effect: enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew']),
        timeAdded: optional(time()),
      }),
      MANY,
    ),
  ),
})
const ManagedClusterStatus = object({
  conditions: Conditions,
  allocatable: optional(mapOf(intOrString(), MANY)),
  capacity: optional(mapOf(intOrString(), MANY)),
  version: optional(object({ kubernetes: optional(words()) })),
  clusterClaims: optional(
    listOf(object({ name: text({ max: 253, min: 1 }), value: text({ max: 1024, min: 1 }) }), MANY),
  ),
})
const ManagedClusterSetSpec = object({
  clusterSelector: optional(
    object(
      {
        selectorType: enumOf(['ExclusiveClusterSetLabel', 'LabelSelector'], { default: 'ExclusiveClusterSetLabel' }),
        labelSelector: optional(Selector),
      },
      { default: { selectorType: 'ExclusiveClusterSetLabel' } },
    ),
  ),
  managedNamespaces: optional(listOf(rawObject(), MANY)),
})
const BindingSpec = object({ clusterSet: optional(words()) })
const PlacementSpec = object({
  clusterSets: optional(listOf(words(), MANY)),
  numberOfClusters: optional(int({ minimum: -2_147_483_648, maximum: 2_147_483_647 })),
  predicates: optional(
    listOf(
      object({
        requiredClusterSelector: optional(
          object({
            labelSelector: optional(Selector),
            claimSelector: optional(ClaimSelector),
            celSelector: optional(object({ celExpressions: optional(listOf(words(), MANY)) })),
          }),
        ),
      }),
      MANY,
    ),
  ),
  prioritizerPolicy: optional(
    object({
      mode: text({ ...LONG, default: 'Additive' }),
      configurations: optional(
        listOf(
          object({
            scoreCoordinate: object({
              type: enumOf(['BuiltIn', 'AddOn'], { default: 'BuiltIn' }),
              builtIn: optional(words()),
              addOn: optional(object({ resourceName: words(), scoreName: words() })),
            }),
            weight: int({ minimum: -10, maximum: 10, default: 1 }),
          }),
          MANY,
        ),
      ),
    }),
  ),
  spreadPolicy: optional(rawObject()),
  sortBy: optional(words()),
  tolerations: optional(
    listOf(
      object({
        key: optional(text({ max: 316 })),
        operator: text({ ...LONG, default: 'Equal' }),
        value: optional(text({ max: 1024 })),
        effect: optional(enumOf(['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'])),
        tolerationSeconds: optional(int({ minimum: Number.MIN_SAFE_INTEGER })),
      }),
      MANY,
    ),
  ),
  decisionStrategy: optional(
    object({
      groupStrategy: optional(
        object({
          clustersPerDecisionGroup: intOrString({ default: '100%' }),
          decisionGroups: optional(
            listOf(
              object({
                groupName: words(),
                groupClusterSelector: optional(
                  object({ labelSelector: optional(Selector), claimSelector: optional(ClaimSelector) }),
                ),
              }),
              MANY,
            ),
          ),
        }),
      ),
    }),
  ),
})
const DecisionStatus = object({
  decisions: listOf(object({ clusterName: words(), reason: optional(words()) }), MANY),
})
const ScoreStatus = object({
  conditions: Conditions,
  scores: optional(
    listOf(object({ name: words(), value: int({ minimum: -2_147_483_648, maximum: 2_147_483_647 }) }), MANY),
  ),
  validUntil: optional(time()),
})

export interface ManagedCluster extends KubeObject {
  spec: Static<typeof ManagedClusterSpec>
  status?: Static<typeof ManagedClusterStatus>
}

export interface ManagedClusterSet extends KubeObject {
  spec?: Static<typeof ManagedClusterSetSpec>
}

export interface ManagedClusterSetBinding extends KubeObject {
  spec?: Static<typeof BindingSpec>
}

export interface OcmPlacement extends KubeObject {
  spec?: Static<typeof PlacementSpec>
  status?: {
    numberOfSelectedClusters?: number
    decisionGroups?: {
      decisionGroupIndex: number
      decisionGroupName: string
      decisions: string[]
      clusterCount: number
    }[]
    conditions?: Condition[]
  }
}

export interface OcmPlacementDecision extends KubeObject {
  status?: Static<typeof DecisionStatus>
}

export interface AddOnPlacementScore extends KubeObject {
  status?: Static<typeof ScoreStatus>
}

const condition = (name: string, type: string): Column => ({
  name,
  type: 'string',
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
})

/** A managed cluster as Open Cluster Management's users see it. */
export const ManagedCluster: Kind<ManagedCluster> = kindOf<ManagedCluster>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1',
  kind: 'ManagedCluster',
  plural: 'managedclusters',
  scope: 'Cluster',
  shortNames: ['mcl', 'mcls'],
  description: 'Managed cluster of Open Cluster Management.',
  subresources: { status: true },
  fields: { spec: toStructural(ManagedClusterSpec), status: toStructural(ManagedClusterStatus) },
  columns: [
    { name: 'Hub Accepted', type: 'boolean', jsonPath: '.spec.hubAcceptsClient' },
    { name: 'Managed Cluster URLs', type: 'string', jsonPath: '.spec.managedClusterClientConfigs[*].url' },
    condition('Joined', 'ManagedClusterJoined'),
    condition('Available', 'ManagedClusterConditionAvailable'),
    AGE,
  ],
})

export const ManagedClusterSet: Kind<ManagedClusterSet> = kindOf<ManagedClusterSet>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1beta2',
  kind: 'ManagedClusterSet',
  plural: 'managedclustersets',
  scope: 'Cluster',
  shortNames: ['mclset', 'mclsets'],
  description: 'Group of managed clusters of Open Cluster Management.',
  subresources: { status: true },
  fields: { spec: toStructural(ManagedClusterSetSpec), status: toStructural(object({ conditions: Conditions })) },
  columns: [AGE],
})

export const ManagedClusterSetBinding: Kind<ManagedClusterSetBinding> = kindOf<ManagedClusterSetBinding>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1beta2',
  kind: 'ManagedClusterSetBinding',
  plural: 'managedclustersetbindings',
  scope: 'Namespaced',
  shortNames: ['mclsetbinding', 'mclsetbindings'],
  description: 'Permission of a namespace to select the clusters of a ManagedClusterSet.',
  subresources: { status: true },
  fields: { spec: toStructural(BindingSpec), status: toStructural(object({ conditions: Conditions })) },
  columns: [AGE],
})

export const OcmPlacement: Kind<OcmPlacement> = kindOf<OcmPlacement>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1beta1',
  kind: 'Placement',
  plural: 'placements',
  scope: 'Namespaced',
  description: 'Selection of managed clusters of Open Cluster Management.',
  subresources: { status: true },
  fields: { spec: toStructural(PlacementSpec), status: toStructural(rawObject()) },
  columns: [
    condition('Succeeded', 'PlacementSatisfied'),
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="PlacementSatisfied")].reason' },
    { name: 'SelectedClusters', type: 'integer', jsonPath: '.status.numberOfSelectedClusters' },
  ],
})

export const OcmPlacementDecision: Kind<OcmPlacementDecision> = kindOf<OcmPlacementDecision>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1beta1',
  kind: 'PlacementDecision',
  plural: 'placementdecisions',
  scope: 'Namespaced',
  description: 'Page of the clusters that a Placement of Open Cluster Management selects.',
  subresources: { status: true },
  fields: { status: toStructural(DecisionStatus) },
  columns: [AGE],
})

export const AddOnPlacementScore: Kind<AddOnPlacementScore> = kindOf<AddOnPlacementScore>({
  group: OCM_CLUSTER_GROUP,
  version: 'v1alpha1',
  kind: 'AddOnPlacementScore',
  plural: 'addonplacementscores',
  scope: 'Namespaced',
  description: 'Scores of a managed cluster for Placements of Open Cluster Management.',
  subresources: { status: true },
  fields: { status: toStructural(ScoreStatus) },
  columns: [AGE],
})

/** The kinds that a Placement reads. */
export const OCM_PLACEMENT_KINDS: readonly Kind[] = [
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  OcmPlacementDecision,
  AddOnPlacementScore,
]
