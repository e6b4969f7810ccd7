import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { CompileCel, PlacementCluster, PlacementLoad, PlacementSet } from '../../plan/placement/types.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'
import type { PlacementCache } from './placement-cache.ts'

/** The ports of placement-decide; Placements are `namespace/name`. */
export interface PlacementDecidePorts {
  readonly projectOf: ProjectOfNamespace
  clusters(): readonly PlacementCluster[]
  clusterOf(name: string): PlacementCluster | undefined
  sets(): readonly PlacementSet[]
  /** Names of the ClusterSets bound to a namespace. */
  boundTo(namespace: string): readonly string[]
  /** The number of decisions that other Placements have on each cluster. */
  loadBeside(placement: string): PlacementLoad
  /** Whether a cluster's document still has an entry or a tombstone because of the Placement. */
  holds(placement: Placement, cluster: string): boolean
  /** Whether a cluster's document still has an entry because of the Placement. */
  runs(placement: Placement, cluster: string): boolean
  /**
   * Whether a cluster's document would have no Bundle left without the Bundles of the Placement and the Bundles that
   * leave.
   */
  empties(placement: Placement, cluster: string): boolean
  /** Whether the first document of a cluster is not made yet, or was made within the last hour. */
  isJoining(cluster: string, now: number): boolean
  /** Number of Bundles of a Placement. */
  bundlesOf(placement: string): number
  /** Notes the clusters that a Placement (`namespace/name`) takes Bundles from, before its pages say so. */
  noteEvicted(placement: string, clusters: ReadonlySet<string>): void
  readonly compileCel?: (scheduler: 'native' | 'ocm') => CompileCel
  pagesOf(placement: string): readonly PlacementDecision[]
  /** The page of a Placement that has a decision about the cluster. */
  pageWith(placement: string, cluster: string): PlacementDecision | undefined
  createPage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  updatePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  deletePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  readonly books: PlacementCache
}
