/** Inputs and results of a Placement. */
import type { LabelRequirement, LabelSelector, Labels } from '../../core/text/label-selector.ts'

export type TaintEffect = 'NoSelect' | 'PreferNoSelect' | 'NoSelectIfNew'

/** A taint on a cluster, as on a Kubernetes node. */
export interface ClusterTaint {
  readonly key: string
  readonly value?: string
  readonly effect: TaintEffect
  /** RFC 3339. */
  readonly timeAdded?: string
}

/** A custom score of a cluster. */
export interface ClusterScore {
  readonly resource: string
  readonly name: string
  readonly value: number
  /** RFC 3339; after it the score counts as 0. */
  readonly validUntil?: string
}

/** A cluster as Placements read it. */
export interface PlacementCluster {
  readonly name: string
  readonly labels: Labels
  readonly accepted: boolean
  /** The Cluster object is being deleted. */
  readonly leaving?: boolean
  /** Claims of the agent; the hub does not trust them. */
  readonly claims?: Labels
  readonly taints?: readonly ClusterTaint[]
  readonly allocatable?: Readonly<Record<string, string | number>>
  readonly capacity?: Readonly<Record<string, string | number>>
  readonly scores?: readonly ClusterScore[]
  /** The object for CEL expressions, where a dialect has its own form. */
  readonly object?: unknown
}

/** A predicate; all of its parts must hold. */
export interface ClusterPredicate {
  readonly labelSelector?: LabelSelector
  readonly claimSelector?: { readonly matchExpressions?: readonly LabelRequirement[] }
  readonly cel?: readonly string[]
}

/** Allows a Placement to select clusters with a matching taint. */
export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** A weighted score. */
export interface PrioritizerConfig {
  readonly type: string
  readonly builtIn?: string
  readonly score?: { readonly resource: string; readonly name: string }
  readonly weight: number
}

/** Distributes the selected clusters evenly over the values of a label or claim. */
export interface SpreadTerm {
  readonly topologyKey: string
  readonly topologyKeyType: 'Label' | 'Claim'
  readonly maxSkew: number
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'
}

/** A named decision group. */
export interface NamedGroup {
  readonly name: string
  readonly labelSelector?: LabelSelector
  readonly claimSelector?: { readonly matchExpressions?: readonly LabelRequirement[] }
  /** Names of clusters; absent: the name does not matter. */
  readonly clusters?: readonly string[]
}

/** The spec of a Placement without its guard. */
export interface PlacementQuestion {
  /** Defaults to `native`. */
  readonly scheduler?: 'native' | 'ocm'
  readonly clusterSelector: LabelSelector
  /** Names of clusters; absent: the name does not matter. */
  readonly clusters?: readonly string[]
  /** One of the predicates must hold. If empty, all clusters pass. */
  readonly predicates?: readonly ClusterPredicate[]
  readonly clusterSets?: readonly string[]
  readonly tolerations?: readonly Toleration[]
  readonly numberOfClusters?: number
  readonly prioritizers?: { readonly mode?: string; readonly configurations?: readonly PrioritizerConfig[] }
  readonly spread?: readonly SpreadTerm[]
  readonly decisionGroups?: {
    readonly clustersPerGroup?: number | string
    readonly groups?: readonly NamedGroup[]
  }
}

/** A ClusterSet as Placements read it. */
export interface PlacementSet {
  readonly name: string
  /** Absent: clusters whose label `flotilla.dev/cluster-set` is the set's name. */
  readonly selector?: LabelSelector
  /** Bound: only namespaces with a binding can select its members. Open: all namespaces can. */
  readonly access: 'Bound' | 'Open'
}

/** Number of decisions of other Placements per cluster. */
export interface PlacementLoad {
  countOf(cluster: string): number
  readonly max: number
}

/** Name and index of a decision group. */
export interface GroupPlace {
  /** Empty for clusters that match no named group. */
  readonly name: string
  readonly index: number
}

/** Inputs of a Placement besides its spec and the clusters. */
export interface PlacementWorld {
  readonly sets: readonly PlacementSet[]
  /** Sets bound to the Placement's namespace. */
  readonly bound: readonly string[]
  /** Clusters that the Placement selects now, with their group. */
  readonly incumbents: ReadonlyMap<string, GroupPlace | undefined>
  /** Clusters with an Evicting decision that still have bundles of the Placement. */
  readonly evicting?: ReadonlySet<string>
  /** Decisions of all other placements. */
  readonly load: PlacementLoad
  /** Milliseconds since 1970. */
  readonly now: number
  readonly compileCel?: CompileCel
}

/** A compiled expression over a cluster; `error` says why the evaluation failed. */
export type CelProgram = (cluster: PlacementCluster) => boolean | { readonly error: string }

export type CompileCel = (expression: string) => CelProgram | { readonly error: string }

/** Why a cluster is selected or not; part of the API. */
export type VerdictReason =
  | 'SelectorMatches'
  | 'SelectsEverything'
  | 'SelectorDiffers'
  | 'SetDiffers'
  | 'PredicatesDiffer'
  | 'Tainted'
  | 'Outranked'
  | 'SpreadFull'
  | 'NotAccepted'
  | 'Leaving'

/** The problem of a misconfigured Placement, with its field. */
export interface Misconfigured {
  readonly misconfigured: string
}
