import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RemovalFacts } from '../../plan/document/removal.ts'
import type { BundleReadiness, GateAnswer } from '../../plan/rollout/gates/judge-gates.ts'
import type { RingGateQuery } from '../../plan/rollout/types.ts'
import type { RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import type { ApprovalFact } from '../../plan/rollout/gates/approvals.ts'
import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { WindowHolds } from '../caches/windows-in-force.ts'
import type { RosterCache } from './roster-cache.ts'

/** What rollout-advance needs from the world. */
export interface RolloutAdvancePorts {
  releaseOf(rollout: Rollout): Release | undefined
  /** Clusters a Placement beside the Rollout selects; undefined while its pages are not complete. */
  selectedBy(rollout: Rollout, placement: string): readonly string[] | undefined
  /** Which of its answers are complete: with another one, everybody's may be another; undefined while none is. */
  selectionStamp(rollout: Rollout, placement: string): string | undefined
  /** Whether a Placement whose answer is complete selects a cluster. */
  selects(rollout: Rollout, placement: string, cluster: string): boolean
  /** What templates know of a cluster. */
  inputsOf(name: string): ClusterInputs | undefined
  /** Decision groups a cluster is in by a Placement beside the Rollout. */
  groupsOf(rollout: Rollout, placement: string, cluster: string): readonly string[]
  clusterOf(name: string): RolloutCluster | undefined
  /** What holds bundles of the Rollout on clusters at a moment. */
  holdsAt(rollout: Rollout, now: number): WindowHolds
  /** The windows in force: the same thing as long as none of them changes. */
  windows(): unknown
  /** Other Rollouts of a Bundle beside this one, each with the generation it carries. */
  rolloutsOf(rollout: Rollout, bundle: string): readonly { readonly rollout: Rollout; readonly generation: number }[]
  hasBundle(rollout: Rollout, bundle: string): boolean
  /** What a Rollout that removes has to know besides its own words. */
  removalOf(rollout: Rollout): RemovalFacts | undefined
  /** Clusters whose documents name the Bundle and from which nobody removes it. */
  holdersOf(rollout: Rollout, bundle: string): readonly string[]
  /** Whether a cluster is one of those. */
  isHolder(rollout: Rollout, bundle: string, cluster: string): boolean
  /** What people said about the rings of a Rollout. */
  approvalsOf(rollout: Rollout): readonly ApprovalFact[]
  /** What a gate of one of its rings answered last. */
  gateAnswerOf(rollout: Rollout, ring: string, gate: string): GateAnswer | undefined
  /** Begins to ask, without waiting; what is not asked about any more is forgotten. */
  askGates(rollout: Rollout, asks: readonly RingGateQuery[]): void
  /** How a Bundle beside the Rollout stands. */
  readinessOf(rollout: Rollout, bundle: string): BundleReadiness | undefined
  /** Spaces out writes that only change counts. */
  readonly statusThrottle: KeyedThrottle
  /** Spaces out looks that cost much. */
  readonly passThrottle: KeyedThrottle
  readonly rosterCache: RosterCache
}
