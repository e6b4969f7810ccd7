// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/** Reads Open Cluster Management's objects as the inputs of a Placement. */
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import { canonicalQuantity } from '../../../core/text/quantity.ts'
import type { LabelRequirement, LabelSelector } from '../../../core/text/label-selector.ts'
import type {
  ClusterScore,
  PlacementCluster,
  PlacementLoad,
  PlacementQuestion,
  PlacementSet,
  SpreadTerm,
} from '../../../plan/placement/types.ts'
import { CLUSTER_SET_LABEL } from '../kinds.ts'
import type {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  OcmPlacement,
  OcmPlacementDecision,
} from '../kinds.ts'

/** The label of a page with the name of its Placement. */
export const PLACEMENT_LABEL = 'cluster.open-cluster-management.io/placement'

/** A cluster as the scheduler reads it; `scores` are the AddOnPlacementScores in its namespace. */
export function readManagedCluster(cluster: ManagedCluster, scores: readonly AddOnPlacementScore[]): PlacementCluster {
  const { metadata, spec, status = {} } = cluster
  return {
    name: metadata.name,
    labels: metadata.labels ?? {},
    accepted: spec.hubAcceptsClient,
    leaving: metadata.deletionTimestamp !== undefined,
    claims: Object.fromEntries((status.clusterClaims ?? []).map(({ name, value }) => [name, value])),
    taints: spec.taints ?? [],
    allocatable: status.allocatable ?? {},
    capacity: status.capacity ?? {},
    scores: scores.flatMap(readScores),
    object: celObject(cluster),
  }
}

function readScores({ metadata, status = {} }: AddOnPlacementScore): ClusterScore[] {
  const { validUntil } = status
  return (status.scores ?? []).map(({ name, value }) =>
    compact({
      resource: metadata.name,
      name,
      value,
      validUntil,
    }),
  )
}

/** The object that CEL expressions see: Go's form of a ManagedCluster, with the fields that Go always writes. */
function celObject({ metadata, spec, status = {} }: ManagedCluster): unknown {
  const { conditions, version, allocatable, capacity } = status
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1',
    kind: 'ManagedCluster',
    metadata,
    spec: {
      ...spec,
      ...compact({ taints: spec.taints ? spec.taints.map((taint) => ({ timeAdded: null, ...taint })) : undefined }),
    },
    status: {
      ...status,
      ...compact({
        allocatable: allocatable ? canonicalAmounts(allocatable) : undefined,
        capacity: capacity ? canonicalAmounts(capacity) : undefined,
      }),
      conditions: conditions ?? null,
      version: version?.kubernetes ? version : {},
    },
  }
}

function canonicalAmounts(amounts: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(amounts).map(([resource, amount]) => [resource, canonicalQuantity(amount) ?? String(amount)]),
  )
}

/** A ManagedClusterSet; the type LabelSelector without a selector has no members. */
export function readManagedClusterSet({ metadata, spec }: ManagedClusterSet): PlacementSet {
  const { selectorType = 'ExclusiveClusterSetLabel', labelSelector } = spec?.clusterSelector ?? {}
  const selector: LabelSelector =
    selectorType === 'ExclusiveClusterSetLabel'
      ? { matchLabels: { [CLUSTER_SET_LABEL]: metadata.name } }
      : ((labelSelector as LabelSelector | undefined) ?? NO_CLUSTER)
  return { name: metadata.name, access: 'Bound', selector }
}

const NO_CLUSTER: LabelSelector = {
  matchExpressions: [
    { key: CLUSTER_SET_LABEL, operator: 'Exists' },
    { key: CLUSTER_SET_LABEL, operator: 'DoesNotExist' },
  ],
}

/** The spec of a Placement. Spread constraints and the sort order have no effect in Open Cluster Management. */
export function readPlacement({ spec = {} }: OcmPlacement): PlacementQuestion {
  const { clusterSets, numberOfClusters, predicates = [], prioritizerPolicy, tolerations, decisionStrategy } = spec
  const { clustersPerDecisionGroup, decisionGroups = [] } = decisionStrategy?.groupStrategy ?? {}
  return compact({
    scheduler: 'ocm',
    clusterSelector: {},
    clusterSets,
    numberOfClusters: numberOfClusters === undefined ? undefined : Math.max(0, numberOfClusters),
    predicates: predicates.map(({ requiredClusterSelector: required = {} }) => ({
      ...selectorsOf(required),
      cel: required.celSelector?.celExpressions ?? [],
    })),
    tolerations,
    prioritizers: prioritizerPolicy
      ? {
          mode: prioritizerPolicy.mode,
          configurations: (prioritizerPolicy.configurations ?? []).map(({ scoreCoordinate, weight }) => {
            const { type, builtIn, addOn } = scoreCoordinate
            return compact({
              type,
              weight,
              builtIn,
              ...(addOn ? { score: { resource: addOn.resourceName, name: addOn.scoreName } } : {}),
            })
          }),
        }
      : undefined,
    decisionGroups: compact({
      clustersPerGroup: clustersPerDecisionGroup,
      groups: decisionGroups.map(({ groupName, groupClusterSelector = {} }) => ({
        name: groupName,
        ...selectorsOf(groupClusterSelector),
      })),
    }),
  })
}

/** The spread constraints of a Placement, with the defaults of its CRD; entries of another form have no effect. */
export function readSpread({ spec }: OcmPlacement): readonly SpreadTerm[] {
  const constraints: unknown = spec?.spreadPolicy?.['spreadConstraints']
  if (!Array.isArray(constraints)) return []
  return constraints.flatMap((one: unknown): SpreadTerm[] => {
    if (!isObject(one) || typeof one['topologyKey'] !== 'string') return []
    const { topologyKey, maxSkew } = one
    return [
      {
        topologyKey,
        topologyKeyType: one['topologyKeyType'] === 'Claim' ? 'Claim' : 'Label',
        maxSkew: typeof maxSkew === 'number' && maxSkew >= 1 ? Math.floor(maxSkew) : 1,
        whenUnsatisfiable: one['whenUnsatisfiable'] === 'DoNotSchedule' ? 'DoNotSchedule' : 'ScheduleAnyway',
      },
    ]
  })
}

/** Selectors as users wrote them; the scheduler says which operators it does not know. */
function selectorsOf(selectors: { readonly labelSelector?: unknown; readonly claimSelector?: unknown }): {
  readonly labelSelector: LabelSelector
  readonly claimSelector: { matchExpressions?: readonly LabelRequirement[] }
} {
  return {
    labelSelector: selectors.labelSelector ?? {},
    claimSelector: selectors.claimSelector ?? {},
  }
}

/** Whether a page belongs to a Placement. */
export function isPageOf(page: OcmPlacementDecision, placement: OcmPlacement): boolean {
  return (
    page.metadata.namespace === placement.metadata.namespace &&
    page.metadata.labels?.[PLACEMENT_LABEL] === placement.metadata.name
  )
}

/** Number of decisions per cluster on pages, also of Placements and clusters that no longer exist. */
export function loadOfPages(pages: readonly OcmPlacementDecision[]): PlacementLoad {
  const counts = new Map<string, number>()
  let max = 0
  for (const { status } of pages) {
    for (const { clusterName } of status?.decisions ?? []) {
      const count = (counts.get(clusterName) ?? 0) + 1
      counts.set(clusterName, count)
      max = Math.max(max, count)
    }
  }
  return { countOf: (cluster) => counts.get(cluster) ?? 0, max }
}
