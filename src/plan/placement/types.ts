/** What a placement's answer follows from, and what it can be. */
import type { LabelRequirement, LabelSelector, Labels } from '../../core/text/label-selector.ts'

/** What a taint does to clusters that do not tolerate it. */
export type TaintEffect = 'NoSelect' | 'PreferNoSelect' | 'NoSelectIfNew'

/** A mark on a cluster that keeps placements away. */
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

/** What placement looks at in a cluster. */
export interface PlacementCluster {
  readonly name: string
  readonly labels: Labels
  readonly accepted: boolean
  /** The Cluster object is being deleted. */
  readonly leaving?: boolean
  /** What the cluster says about itself. */
  readonly claims?: Labels
  readonly taints?: readonly ClusterTaint[]
  readonly allocatable?: Readonly<Record<string, string | number>>
  readonly capacity?: Readonly<Record<string, string | number>>
  readonly scores?: readonly ClusterScore[]
  /** What CEL sees instead of these facts, where a dialect has its own form. */
  readonly object?: unknown
}

/** One way to be selected: all of its parts must hold. */
export interface ClusterPredicate {
  readonly labelSelector?: LabelSelector
  readonly claimSelector?: { readonly matchExpressions?: readonly LabelRequirement[] }
  readonly cel?: readonly string[]
}

/** Lets a placement select clusters in spite of a taint. */
export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** One weighted score. */
export interface PrioritizerConfig {
  readonly type: string
  readonly builtIn?: string
  readonly score?: { readonly resource: string; readonly name: string }
  readonly weight: number
}

/** Keeps the selected clusters even over the values of a label or claim. */
export interface SpreadTerm {
  readonly topologyKey: string
  readonly topologyKeyType: 'Label' | 'Claim'
  readonly maxSkew: number
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway'
}

/** Clusters of one name go together. */
export interface NamedGroup {
  readonly name: string
  readonly labelSelector?: LabelSelector
  readonly claimSelector?: { readonly matchExpressions?: readonly LabelRequirement[] }
}

/** What a Placement asks for. */
export interface PlacementQuestion {
  /** `native` unless said. */
  readonly scheduler?: 'native' | 'ocm'
  readonly clusterSelector: LabelSelector
  /** None: every cluster passes. Otherwise one of them must hold. */
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

/** A group of clusters, as placement looks at it. */
export interface PlacementSet {
  readonly name: string
  /** Absent: clusters whose label `flotilla.dev/cluster-set` is the set's name. */
  readonly selector?: LabelSelector
  /** Bound: only namespaces with a binding may place on its members. Open: it is a grouping and nothing more. */
  readonly access: 'Bound' | 'Open'
}

/** How busy clusters are with other placements' decisions. */
export interface PlacementLoad {
  countOf(cluster: string): number
  readonly max: number
}

/** What a group of decisions is called. */
export interface GroupPlace {
  /** Empty for clusters that match no named group. */
  readonly name: string
  readonly index: number
}

/** Everything around the clusters that an answer follows from. */
export interface PlacementWorld {
  readonly sets: readonly PlacementSet[]
  /** Sets bound to the Placement's namespace. */
  readonly bound: readonly string[]
  /** Clusters the Placement selects now, with the group they are in. */
  readonly incumbents: ReadonlyMap<string, GroupPlace | undefined>
  /** Clusters that it lets go and that still run what it brought. */
  readonly evicting?: ReadonlySet<string>
  /** Decisions of all other placements. */
  readonly load: PlacementLoad
  /** Milliseconds since 1970. */
  readonly now: number
  readonly compileCel?: CompileCel
}

/** A compiled expression over a cluster: true or false, or why it has no answer. */
export type CelProgram = (cluster: PlacementCluster) => boolean | { readonly error: string }

/** Compiles an expression of a predicate. */
export type CompileCel = (expression: string) => CelProgram | { readonly error: string }

/** Why a cluster is selected or not: a permanent word for programs. */
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

/** A question that has no answer: what is wrong and where. */
export interface Misconfigured {
  readonly misconfigured: string
}
