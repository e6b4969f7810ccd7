import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { CompileCel, PlacementCluster, PlacementLoad, PlacementSet } from '../../plan/placement/types.ts'
import type { PlacementCache } from './placement-cache.ts'

/** What placement-decide needs from the world; placements are `namespace/name`. */
export interface PlacementDecidePorts {
  clusters(): readonly PlacementCluster[]
  clusterOf(name: string): PlacementCluster | undefined
  sets(): readonly PlacementSet[]
  /** Names of the sets bound to a namespace. */
  boundTo(namespace: string): readonly string[]
  /** How busy clusters are with the decisions of other placements. */
  loadBeside(placement: string): PlacementLoad
  /** Whether a cluster's document still has something because of the placement, be it a tombstone. */
  holds(placement: Placement, cluster: string): boolean
  /** Whether it still brings something because of the placement. */
  runs(placement: Placement, cluster: string): boolean
  readonly compileCel?: (scheduler: 'native' | 'ocm') => CompileCel
  pagesOf(placement: string): readonly PlacementDecision[]
  /** The page of a placement that has a decision on the cluster. */
  pageWith(placement: string, cluster: string): PlacementDecision | undefined
  createPage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  updatePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  deletePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  readonly books: PlacementCache
}
