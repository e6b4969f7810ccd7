import type { PlacementDecision } from '../../kinds/placement-decision.ts'
import type { PlacementCluster } from '../../plan/placement.ts'

/** What placement-decide needs from the world; placements are `namespace/name`. */
export interface PlacementDecidePorts {
  clusters(): readonly PlacementCluster[]
  pagesOf(placement: string): readonly PlacementDecision[]
  createPage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  updatePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
  deletePage(page: PlacementDecision, signal: AbortSignal): Promise<void>
}
