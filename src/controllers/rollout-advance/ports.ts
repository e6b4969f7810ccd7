import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import type { Release } from '../../kinds/release.ts'
import type { Rollout } from '../../kinds/rollout.ts'
import type { RemovalFacts } from '../../plan/removal.ts'
import type { BundleStanding, GateAnswer } from '../../plan/rollout-gates.ts'
import type { PairHold } from '../../plan/pair-hold.ts'
import type { ReleaseBundle, RingAsk, RolloutCluster } from '../../plan/rollout.ts'
import type { ApprovalFact } from '../../plan/rollout-approvals.ts'
import type { Pace } from '../../engine/pace.ts'

/** What rollout-advance needs from the world. */
export interface RolloutAdvancePorts {
  releaseOf(rollout: Rollout): Release | undefined
  /** Clusters a Placement beside the Rollout selects; undefined while its pages are not complete. */
  selectedBy(rollout: Rollout, placement: string): readonly string[] | undefined
  /** What templates know of a cluster. */
  inputsOf(name: string): ClusterInputs | undefined
  /** Decision groups a cluster is in by a Placement beside the Rollout. */
  groupsOf(rollout: Rollout, placement: string, cluster: string): readonly string[]
  clusterOf(name: string): RolloutCluster | undefined
  /** What holds bundles of the Rollout on clusters at a moment. */
  holdsAt(rollout: Rollout, now: number): (target: ReleaseBundle, cluster: string) => PairHold | undefined
  /** Other Rollouts of a Bundle beside this one, each with the generation it carries. */
  rolloutsOf(rollout: Rollout, bundle: string): readonly { readonly rollout: Rollout; readonly generation: number }[]
  hasBundle(rollout: Rollout, bundle: string): boolean
  /** What a Rollout that removes has to know besides its own words. */
  removalOf(rollout: Rollout): RemovalFacts | undefined
  /** Clusters whose documents name the Bundle. */
  holdersOf(rollout: Rollout, bundle: string): readonly string[]
  /** What people said about the rings of a Rollout. */
  approvalsOf(rollout: Rollout): readonly ApprovalFact[]
  /** What a gate of one of its rings answered last. */
  gateAnswerOf(rollout: Rollout, ring: string, gate: string): GateAnswer | undefined
  /** Begins to ask, without waiting; what is not asked about any more is forgotten. */
  askGates(rollout: Rollout, asks: readonly RingAsk[]): void
  /** How a Bundle beside the Rollout stands. */
  standingOf(rollout: Rollout, bundle: string): BundleStanding | undefined
  /** Spaces out writes that only change counts. */
  readonly pace: Pace
  /** Spaces out looks at large Rollouts. */
  readonly looks: Pace
}
